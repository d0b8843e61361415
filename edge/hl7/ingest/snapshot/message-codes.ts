/**
 * The codes of a message that code tables are most often about, found without mapping it: they are looked up with the snapshot. The
 * decision finds all others, and costs a round trip if one is not in the cache.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { keyOfCode, sentCode, type SentCode } from '../../../store/code-table.ts';
import { code, fieldText, first, plainTextOf, textOf } from '../../mapping/datatypes/text.ts';
import type { Reading } from '../reading.ts';

/** Fields of CWE by segment. */
const FIELDS: ReadonlyMap<string, readonly number[]> = new Map([
  ['OBR', [4]],
  ['OBX', [3, 17, 20]],
  ['SPM', [4, 7, 8]],
  ['DG1', [3]],
  ['AL1', [3]],
  ['IAM', [3]],
  ['PR1', [3]],
  ['PRB', [3]],
  ['TXA', [2]],
]);
/** OBX-2 of a coded OBX-5. */
const CODED: ReadonlySet<string> = new Set(['CE', 'CWE', 'CNE', 'CF', 'IS']);
/** The position of a code, its coding system follows two components later. */
const CODES = [1, 4, 10];

export function codesIn({ message, outline }: Reading): SentCode[] {
  if (message === undefined || outline === undefined) return [];
  const found = new Map<string, SentCode>();
  for (const segment of message.segments) {
    for (const field of fieldsOf(segment)) {
      const part = first(segment, field);
      for (const at of CODES) {
        const value = code(plainTextOf(part, at));
        if (value === undefined) continue;
        const sent = sentCode(textOf(part, at + 2), value);
        found.set(keyOfCode(sent), sent);
      }
    }
  }
  return [...found.values()];
}

function fieldsOf(segment: Segment): readonly number[] {
  const fields = FIELDS.get(segment.id) ?? [];
  return segment.id === 'OBX' && CODED.has(fieldText(segment, 2) ?? '') ? [...fields, 5] : fields;
}
