/**
 * What a message is about, before anything is looked up: its patients, and for each the resources its segments stand
 * for, with their keys. Finds missing and misplaced segments and fields; maps nothing.
 */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import { groupsOf } from './segment-groups.ts';
import type { Message, Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { misplaced, missing, reportUnmapped, type Report } from './findings.ts';
import { isTooLong } from '../mapping/datatypes/cx.ts';
import { textOf } from '../mapping/datatypes/text.ts';
import type { EventRule } from './events.ts';
import { MAX_KEY_LENGTH } from '../mapping/key.ts';
import { bySegment, documents } from './documents.ts';
import { admission, results } from './results.ts';
import { identifyingPart } from '../segments/pid-values.ts';
import { firstSegmentOf, type Unit } from './unit.ts';

export interface PatientContent {
  readonly pid: Segment;
  readonly pd1: Segment | undefined;
  /** Of a merge. */
  readonly mrg: Segment | undefined;
  readonly units: readonly Unit[];
}

export interface Content {
  readonly patients: readonly PatientContent[];
  readonly findings: readonly AckError[];
}

/** What must be looked up to map a message. */
export interface Lookup {
  /** Values of the identifiers that identify patients. */
  readonly identifierValues: readonly string[];
  readonly keys: readonly { readonly type: ResourceType; readonly key: string }[];
}

/** Reads a message whose header was accepted. */
export function contentOf(message: Message, messageType: string, rule: EventRule): Content {
  const findings: AckError[] = [];
  const report: Report = (finding) => void findings.push(finding);
  const groups = groupsOf(message.segments, ['PID']).filter(({ head }) => head !== undefined);
  if (groups.length === 0) report(missing('PID^1', 'the message has no PID segment'));
  reportUnmapped(message, report);

  const before = groupsOf(message.segments, ['PID']).find(({ head }) => head === undefined)?.members ?? [];
  for (const segment of before) {
    if (['OBR', 'OBX', 'TXA', 'AL1', 'IAM', 'DG1', 'PR1', 'MRG'].includes(segment.id))
      report(misplaced(segment, 'PID'));
  }
  // A02 and most others are about one patient; A17 swaps two, a merge may list several, and so may an ORU.
  if (messageType === 'MDM' && groups[1]?.head !== undefined) report(misplaced(groups[1].head, 'a single PID'));

  const patients = groups.flatMap(({ head, members }) => {
    if (head === undefined) return [];
    requireIdentifier(head, 3, report);
    const mrg = members.find(({ id }) => id === 'MRG');
    if (rule.patient === 'merge') {
      if (mrg === undefined) report(missing('MRG^1', 'a merge needs an MRG segment after each PID'));
      else requireIdentifier(mrg, 1, report);
    }
    const units = [
      ...(messageType === 'ORU' ? results(members, report) : []),
      ...(messageType === 'MDM' ? documents(members, rule.document ?? 'store', report) : []),
      ...(messageType === 'ADT' ? admission(members, report) : []),
      ...(messageType === 'MDM' ? [] : bySegment(members, report)),
    ];
    return [{ pid: head, pd1: members.find(({ id }) => id === 'PD1'), mrg, units }];
  });
  return { patients, findings: [...findings, ...tooMany(patients), ...tooLongKeys(patients)] };
}

/** What `hl7_match` is asked for. */
export function lookupOf(content: Content): Lookup {
  const identifierValues = content.patients.flatMap(({ pid, mrg }) => [
    textOf(identifyingPart(pid, 3), 1),
    mrg === undefined ? undefined : textOf(identifyingPart(mrg, 1), 1),
  ]);
  const keys = content.patients.flatMap(({ units }) =>
    units.flatMap((unit): { type: ResourceType; key: string }[] => [
      { type: unit.type, key: unit.key },
      ...(unit.type === 'DocumentReference' && unit.parentKey !== undefined
        ? [{ type: unit.type, key: unit.parentKey }]
        : []),
    ]),
  );
  return { identifierValues: identifierValues.filter((value) => value !== undefined), keys };
}

function requireIdentifier(segment: Segment, field: 1 | 3, report: Report): void {
  const part = identifyingPart(segment, field);
  const value = textOf(part, 1);
  if (part === undefined || value === undefined) {
    report(missing(`${locate(segment, field)}^1^1`, `${segment.id}-${field}.1 (patient identifier) is required`));
    return;
  }
  isTooLong(value, part, { zone: {}, authorities: new Map(), report });
}

/** Far above any real message, and what the database stores in some seconds. */
const MAX_UNITS = 5000;

function tooMany(patients: readonly PatientContent[]): AckError[] {
  const count = patients.reduce((sum, { units }) => sum + units.length + 1, 0);
  if (count <= MAX_UNITS) return [];
  const message = `the message stands for more than ${MAX_UNITS} resources`;
  return [{ code: '207', severity: 'E', at: 'MSH^1', message, reason: 'too-many-resources' }];
}

function tooLongKeys(patients: readonly PatientContent[]): AckError[] {
  return patients.flatMap(({ pid, units }) =>
    units
      .filter((unit) => unit.key.length > MAX_KEY_LENGTH)
      .map((unit): AckError => {
        const segment = firstSegmentOf(unit) ?? pid;
        const message = `the identifiers of this segment are longer than ${MAX_KEY_LENGTH} characters`;
        return { code: '102', severity: 'E', at: locate(segment), message, reason: 'identifier-too-long' };
      }),
  );
}
