/** The documents of a document message, and the resources that a single segment makes. */
import { groupsOf } from './segment-groups.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { misplaced, missing, type Report } from './findings.ts';
import { hasConcept } from '../mapping/datatypes/cwe.ts';
import type { DocumentAction } from './events.ts';
import { allergyKey, conditionKey, documentKey, procedureKey } from '../mapping/key.ts';
import type { Unit } from './unit.ts';

/** One DocumentReference for each TXA, with the OBX and NTE that follow it. */
export function documents(members: readonly Segment[], action: DocumentAction, report: Report): Unit[] {
  const groups = groupsOf(members, ['TXA']).filter(({ head }) => head !== undefined);
  if (groups.length === 0) report(missing('TXA^1', 'a document message needs a TXA segment'));
  for (const segment of groupsOf(members, ['TXA']).find(({ head }) => head === undefined)?.members ?? []) {
    if (segment.id === 'OBX') report(misplaced(segment, 'a TXA'));
  }
  return groups.flatMap(({ head: txa, members: following }): Unit[] => {
    if (txa === undefined) return [];
    const key = documentKey(txa, 12);
    if (key === undefined) {
      report(missing(`${locate(txa, 12)}^1^1`, 'TXA-12 (unique document number) is required'));
      return [];
    }
    const source = {
      txa,
      obx: following.filter(({ id }) => id === 'OBX'),
      notes: following.filter(({ id }) => id === 'NTE'),
    };
    const parentKey = action === 'append' || action === 'replace' ? documentKey(txa, 13) : undefined;
    return [{ type: 'DocumentReference', key, source, action, parentKey }];
  });
}

const BY_SEGMENT: ReadonlyMap<
  string,
  {
    readonly type: 'Condition' | 'Procedure' | 'AllergyIntolerance';
    readonly key: (segment: Segment) => string;
    /** One of these must be valued. */
    readonly required: readonly number[];
  }
> = new Map([
  ['AL1', { type: 'AllergyIntolerance', key: allergyKey, required: [3] }],
  ['IAM', { type: 'AllergyIntolerance', key: allergyKey, required: [3, 7] }],
  ['DG1', { type: 'Condition', key: conditionKey, required: [3, 4, 20] }],
  ['PR1', { type: 'Procedure', key: procedureKey, required: [3, 4, 19] }],
]);

/** AL1, IAM, DG1 and PR1. */
export function bySegment(members: readonly Segment[], report: Report): Unit[] {
  return members.flatMap((segment): Unit[] => {
    const rule = BY_SEGMENT.get(segment.id);
    if (rule === undefined) return [];
    if (!rule.required.some((field) => hasConcept(segment, field))) {
      const [field = 3] = rule.required;
      const message = `${segment.id}-${field} is empty: the segment says nothing and was not mapped`;
      report({ code: '101', severity: 'W', at: locate(segment, field), message, reason: 'required-field-missing' });
      return [];
    }
    return [{ type: rule.type, key: rule.key(segment), segment }];
  });
}
