/**
 * Segments in the order they came, cut into groups: an OBR with the OBX and NTE that follow it. No message structure
 * is enforced; what stands before the first head is the group without one.
 */
import type { Segment } from '../../../shared/hl7/message.ts';

export interface SegmentGroup {
  readonly head: Segment | undefined;
  /** What follows the head, up to the next one. */
  readonly members: readonly Segment[];
}

/**
 * Cuts a list before every segment that begins a group.
 *
 * @param heads names of the segments that begin one: `['OBR']`; for a patient of an ORU, `['PID']`
 * @returns the group without a head only when something stands before the first head
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
