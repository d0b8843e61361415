/**
 * Splits segments into groups: an OBR with the OBX and NTE that follow it. It enforces no message structure. Segments before
 * the first head are a group without a head.
 */
import type { Segment } from '../../../shared/hl7/message.ts';

export interface SegmentGroup {
  readonly head: Segment | undefined;
  /** The segments between this head and the next one. */
  readonly members: readonly Segment[];
}

/**
 * Splits a list before every segment that begins a group.
 *
 * @param heads names of the segments that begin one: `['OBR']`; for a patient of an ORU, `['PID']`
 * @returns the group without a head only if segments precede the first head
 */
export function groupsOf(segments: readonly Segment[], heads: readonly string[]): SegmentGroup[] {
  const groups: { head: Segment | undefined; members: Segment[] }[] = [];
  for (const segment of segments) {
    const group = groups.at(-1);
    if (heads.includes(segment.id)) groups.push({ head: segment, members: [] });
    else if (group === undefined) groups.push({ head: undefined, members: [segment] });
    else group.members.push(segment);
  }
  return groups;
}
