/**
 * What a message is about, before anything is looked up: its patients, and for each the resources its segments stand
 * for, with their keys. Finds missing and misplaced segments and fields; maps nothing.
 */
import type { ResourceType } from '../../store/resource.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import { groupsOf } from '../../../shared/hl7/groups.ts';
import { isSegmentId, type Message, type Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { hasConcept } from './datatypes/cwe.ts';
import { isTooLong } from './datatypes/cx.ts';
import { textOf } from './datatypes/text.ts';
import {
  allergyKey,
  conditionKey,
  documentKey,
  MAX_KEY_LENGTH,
  observationKey,
  procedureKey,
  reportKey,
} from './keys.ts';
import type { ObservationSource } from './segments/obx.ts';
import { TEXT_TYPES, valueType } from './segments/obx-value.ts';
import { orderNumber, type ReportSource } from './segments/obr.ts';
import { identifyingPart } from './segments/pid.ts';
import type { DocumentSource } from './segments/txa.ts';
import type { DocumentAction, EventRule } from './events.ts';

export type Unit =
  | { readonly type: 'Observation'; readonly key: string; readonly source: ObservationSource }
  | {
      readonly type: 'DiagnosticReport';
      readonly key: string;
      readonly source: ReportSource;
      /** Keys of the Observations that are its results. */
      readonly results: readonly string[];
    }
  | {
      readonly type: 'DocumentReference';
      readonly key: string;
      readonly source: DocumentSource;
      readonly action: DocumentAction;
      readonly parentKey: string | undefined;
    }
  | {
      readonly type: 'Condition' | 'Procedure' | 'AllergyIntolerance';
      readonly key: string;
      readonly segment: Segment;
    };

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

type Report = (finding: AckError) => void;

/** Segments that say nothing of the seven types, or are read with others: no finding for them. */
const SILENT: ReadonlySet<string> = new Set(
  'MSH SFT UAC EVN DSC ARV PID PD1 MRG PV1 PV2 ORC OBR OBX NTE TXA SPM AL1 IAM DG1 PR1 TQ1 TQ2'.split(' '),
);

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

const missing = (at: string, message: string): AckError => ({
  code: '101',
  severity: 'E',
  at,
  message,
  reason: 'required-field-missing',
});

const misplaced = (segment: Segment, after: string): AckError => ({
  code: '100',
  severity: 'E',
  at: locate(segment),
  message: `${segment.id} stands where the message needs ${after} before it`,
  reason: 'segment-sequence',
});

function requireIdentifier(segment: Segment, field: 1 | 3, report: Report): void {
  const part = identifyingPart(segment, field);
  const value = textOf(part, 1);
  if (part === undefined || value === undefined) {
    report(missing(`${locate(segment, field)}^1^1`, `${segment.id}-${field}.1 (patient identifier) is required`));
    return;
  }
  isTooLong(value, part, { zone: {}, authorities: new Map(), report });
}

/** Segments after OBR belong to it, an ORC to the OBR after it; what stands before the first OBR must not be an OBX. */
function results(members: readonly Segment[], report: Report): Unit[] {
  const groups = groupsOf(members, ['OBR']);
  const units: Unit[] = [];
  const counts = new Map<string, number>();
  if (!groups.some(({ head }) => head !== undefined)) report(missing('OBR^1', 'a result message needs an OBR segment'));

  let orc: Segment | undefined;
  for (const { head: obr, members: following } of groups) {
    if (obr === undefined) {
      for (const segment of following) if (segment.id === 'OBX') report(misplaced(segment, 'an OBR'));
    } else {
      const number = orderNumber(obr, orc, 3) ?? orderNumber(obr, orc, 2);
      if (!hasConcept(obr, 4)) report(missing(locate(obr, 4), 'OBR-4 (universal service identifier) is required'));
      const observations = observationsOf(following, obr, number, counts, report);
      const firstObx = following.findIndex(({ id }) => id === 'OBX');
      const notes = following.filter(({ id }, at) => id === 'NTE' && (firstObx < 0 || at < firstObx));
      const specimens = following.filter(({ id }) => id === 'SPM');
      const obx = following.filter(({ id }) => id === 'OBX');
      const source = { obr, orc, notes, specimens, obx };
      const key = reportKey(obr, number);
      units.push(...observations, {
        type: 'DiagnosticReport',
        key,
        source,
        results: [...new Set(observations.map((unit) => unit.key))],
      });
    }
    // An ORC among what follows is the next OBR's.
    orc = following.findLast(({ id }) => id === 'ORC');
  }
  return units;
}

/** OBX of an admission: measured with the visit, without an order. */
function admission(members: readonly Segment[], report: Report): Unit[] {
  return observationsOf(members, undefined, undefined, new Map(), report);
}

type ObservationUnit = Extract<Unit, { type: 'Observation' }>;

/**
 * One Observation for each OBX; but lines of one text (TX, FT with the same OBX-3 and OBX-4, one after the other) are
 * one, and a repetition of another type is another: its key counts.
 */
function observationsOf(
  segments: readonly Segment[],
  obr: Segment | undefined,
  number: ReturnType<typeof orderNumber>,
  counts: Map<string, number>,
  report: Report,
): ObservationUnit[] {
  const units: (ObservationUnit & { source: { obx: Segment[]; notes: Segment[] } })[] = [];
  let base = '';
  const specimens = segments.filter(({ id }) => id === 'SPM');
  for (const segment of segments) {
    const last = units.at(-1);
    if (segment.id === 'NTE' && last !== undefined && last.source.obx.at(-1)!.index < segment.index) {
      last.source.notes.push(segment);
    }
    if (segment.id !== 'OBX') continue;
    if (!hasConcept(segment, 3)) report(missing(locate(segment, 3), 'OBX-3 (observation identifier) is required'));
    const key = observationKey(segment, obr, number);
    const isLine =
      last !== undefined &&
      key === base &&
      last.source.notes.length === 0 &&
      TEXT_TYPES.has(valueType(segment) ?? '') &&
      TEXT_TYPES.has(valueType(last.source.obx[0]!) ?? '');
    if (isLine) {
      last.source.obx.push(segment);
      continue;
    }
    base = key;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    const specimen = specimens.length === 1 ? specimens[0] : specimens.findLast((spm) => spm.index < segment.index);
    units.push({
      type: 'Observation',
      key: count === 1 ? key : `${key}#${count}`,
      source: { obx: [segment], obr, specimen, notes: [] },
    });
  }
  return units;
}

function documents(members: readonly Segment[], action: DocumentAction, report: Report): Unit[] {
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

function bySegment(members: readonly Segment[], report: Report): Unit[] {
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

/** One finding for each kind of segment that is stored with the message and mapped to nothing. */
function reportUnmapped(message: Message, report: Report): void {
  const seen = new Set<string>();
  for (const segment of message.segments) {
    const name = isSegmentId(segment.id) ? segment.id : '???';
    if (SILENT.has(name) || seen.has(name)) continue;
    seen.add(name);
    const sentence = `${name === '???' ? 'a line that is no segment' : `segment ${name}`} is kept with the message and not mapped`;
    report({ code: '0', severity: 'I', at: locate(segment), message: sentence, reason: 'segment-not-mapped' });
  }
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

function firstSegmentOf(unit: Unit): Segment | undefined {
  switch (unit.type) {
    case 'Observation':
      return unit.source.obx[0];
    case 'DiagnosticReport':
      return unit.source.obr;
    case 'DocumentReference':
      return unit.source.txa;
    default:
      return unit.segment;
  }
}
