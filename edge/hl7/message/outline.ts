/**
 * The outline of a message, before anything is looked up: its patients, and the statements about each. It finds missing and
 * misplaced segments and fields, and maps nothing.
 */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Message, Segment } from '../../../shared/hl7/message.ts';
import { locate, repetitions } from '../../../shared/hl7/value.ts';
import type { LookupKeys } from '../../store/hl7-snapshot.ts';
import type { PatientSegments } from '../patients/patient-context.ts';
import { valuesOfField, type ReadIdentifier } from '../patients/sent-identifiers.ts';
import { isTooLong } from '../mapping/datatypes/hd.ts';
import { fieldText, plainTextOf } from '../mapping/datatypes/text.ts';
import { MAX_KEY_LENGTH } from '../mapping/key.ts';
import { EXCLUSION_KEYS } from '../mapping/no-known-allergy.ts';
import { lookupKeyOf, orderLookupKeyOf, parentLookupKeyOf } from '../results/result-key.ts';
import { isOfPatient, mustFollowPid } from '../mapping/segments/registry.ts';
import { timed } from '../precedence/clock.ts';
import { documents } from './documents.ts';
import { isQualityControl, orderFirst } from './laboratory-automation.ts';
import { hasPatientResults, type EventRule, type PatientAction } from '../mapping/tables/events.ts';
import { admission, results } from './results.ts';
import { groupsOf } from './segment-groups.ts';
import { singleSegments } from './single-segments.ts';
import { excessOf, resourceExcess } from './cost.ts';
import type { MessageKind } from './message-kind.ts';
import type { SentKey, Statement } from '../mapping/statement.ts';
import {
  misplaced,
  missing,
  reportControls,
  reportLeftOut,
  reportOtherNotes,
  reportUnmapped,
  type Report,
} from './structure-findings.ts';

export interface PatientOutline extends PatientSegments {
  readonly statements: readonly Statement[];
}

/** Actions that use each MRG; other events ignore them. */
const BY_MRG: ReadonlySet<PatientAction> = new Set(['merge', 'renumber', 'not-moved']);

/** EVN-2, when the event was recorded (HL7 v2.5.1 §3.4.1.2). */
const recordedIn = (message: Message): string | undefined =>
  message.segments.filter(({ id }) => id === 'EVN').map((evn) => fieldText(evn, 2))[0];

export interface Outline {
  readonly patients: readonly PatientOutline[];
  readonly findings: readonly AckError[];
}

type StatementsOf = (
  members: readonly Segment[],
  kind: MessageKind,
  recorded: string | undefined,
  report: Report,
) => readonly Statement[];

/** Segments of an order message that are facts about its patient. Its procedures are not done yet, its results are prior ones. */
const OF_ORDERS: ReadonlySet<string> = new Set(['AL1', 'IAM', 'DG1']);

/** By message type: the statements in the segments that follow a PID. */
const STATEMENTS: ReadonlyMap<string, StatementsOf> = new Map<string, StatementsOf>([
  [
    'ADT',
    (members, kind, recorded, report) => [
      ...admission(members, recorded, report),
      ...singleSegments(members, recorded, kind, report),
    ],
  ],
  [
    'ORU',
    (members, kind, recorded, report) => [
      ...results(members, hasPatientResults(kind.versionId), recorded, report),
      ...singleSegments(members, recorded, kind, report),
    ],
  ],
  [
    'OUL',
    (members, kind, recorded, report) => [
      ...results(orderFirst(members, report), false, recorded, report),
      ...singleSegments(members, recorded, kind, report),
    ],
  ],
  [
    'PPR',
    (members, kind, recorded, report) => {
      reportOtherNotes(members, [], report);
      if (!members.some(({ id }) => id === 'PRB')) report(missing('PRB^1', 'A problem message needs a PRB segment.'));
      reportLeftOut(members, ['OBX', 'ORC', 'OBR'], report);
      return singleSegments(members, recorded, kind, report);
    },
  ],
  ...['ORM', 'OML'].map((type): [string, StatementsOf] => [
    type,
    (members, kind, recorded, report) =>
      singleSegments(
        members.filter(({ id }) => OF_ORDERS.has(id)),
        recorded,
        kind,
        report,
      ),
  ]),
  ['MDM', (members, { rule, sender }, recorded, report) => documents(members, rule, recorded, sender, report)],
]);

/** Reads a message whose header was accepted. */
export function outlineOf(message: Message, kind: MessageKind): Outline {
  const { messageType, rule } = kind;
  const tooMuch = excessOf(message.segments);
  if (tooMuch.length > 0) return tooLarge(tooMuch);
  const findings: AckError[] = [];
  const report: Report = (finding) => void findings.push(finding);
  const recorded = recordedIn(message);
  const groups = groupsOf(message.segments, ['PID']);
  const pids = groups.filter(({ head }) => head !== undefined);
  // Further PIDs of an order message are of prior results.
  const ofPatients = rule.beyond === 'no-resource' ? pids.slice(0, 1) : pids;
  if (messageType === 'OUL' && isQualityControl(message.segments)) return { patients: [], findings: [QUALITY_CONTROL] };
  if (ofPatients.length === 0 && rule.mayLackPatient !== true)
    report(missing('PID^1', 'The message has no PID segment.'));
  if (rule.beyond !== undefined) report(BEYOND[rule.beyond]);
  reportControls(message, report);
  reportUnmapped(message, report);

  const before = groups.find(({ head }) => head === undefined)?.members ?? [];
  for (const segment of before) if (mustFollowPid(segment.id)) report(misplaced(segment, 'PID'));
  // A02 and most others are about one patient. A17 swaps two, and a merge or an ORU may list several.
  const second = ofPatients[1]?.head;
  if (messageType === 'MDM' && second !== undefined) report(misplaced(second, 'a single PID'));

  const patients = ofPatients.flatMap(({ head: pid, members }): PatientOutline[] => {
    if (pid === undefined) return [];
    const isExternal = rule.isExternal === true;
    requireIdentifier(pid, isExternal ? [3, 2] : [3], report);
    const [mrg, ...mrgs] = members.filter(({ id }) => id === 'MRG');
    if (rule.patient === 'merge' || rule.patient === 'renumber') {
      if (mrg === undefined) report(missing('MRG^1', 'A merge needs an MRG segment after each PID.'));
      for (const each of [mrg ?? [], mrgs].flat()) requireIdentifier(each, isExternal ? [1, 4] : [1], report);
    }
    const more = members.filter(({ id }) => isOfPatient(id));
    const timing = timed(recorded);
    const statements = STATEMENTS.get(messageType)?.(members, kind, recorded, report) ?? [];
    // Several MRG after one PID (A45, and A40 of some senders) are as many merges into its patient.
    const further = BY_MRG.has(rule.patient) ? mrgs : [];
    return [
      { pid, more, mrg, timing, statements },
      ...further.map((each): PatientOutline => ({ pid, more, mrg: each, timing, statements: [] })),
    ];
  });
  const usable = patients.map((patient) => ({ ...patient, statements: withUsableKeys(patient.statements, report) }));
  const excess = resourceExcess(usable.reduce((sum, { statements }) => sum + statements.length + 1, 0));
  return excess.length > 0 ? tooLarge(excess) : { patients: usable, findings };
}

/** A message that is rejected for its size has no patients: nothing of it is looked up. */
const tooLarge = (excess: readonly AckError[]): Outline => ({ patients: [], findings: excess });

const BEYOND: Readonly<Record<NonNullable<EventRule['beyond']>, AckError>> = {
  'no-effect': {
    code: '201',
    severity: 'I',
    at: 'MSH^1^9^1^2',
    message: ERROR_REASONS['no-effect'],
    reason: 'no-effect',
  },
  'no-resource': {
    code: '201',
    severity: 'I',
    at: 'MSH^1^9^1^2',
    message: ERROR_REASONS['no-resource'],
    reason: 'no-resource',
  },
};

const QUALITY_CONTROL: AckError = {
  code: '0',
  severity: 'I',
  at: 'MSH^1^9',
  message: ERROR_REASONS['no-patient'],
  reason: 'no-patient',
};

/**
 * Types of which two patients may have resources with one key. An empty key looks all of them up for a merge (`hl7_matches`).
 */
const MEETING = [
  'AllergyIntolerance',
  'Condition',
  'Procedure',
  'DocumentReference',
  'Observation',
  'DiagnosticReport',
] as const;

/** The results and reports of the order of an OBR at any time, and the results whose parent is of the order. */
function orderLookupKeysOf(sent: SentKey): LookupKeys['keys'][number][] {
  return RESULT_TYPES.flatMap((type) => {
    const key = orderLookupKeyOf(sent, type === 'Observation');
    return key === undefined ? [] : [{ type, key }];
  });
}
const RESULT_TYPES = ['Observation', 'DiagnosticReport'] as const;
/** A longer key is not stored, so no lookup finds it. Escape sequences make a text at most 14 times as long (`\.sk99\`). */
const MAX_LOOKUP_LENGTH = 16 * MAX_KEY_LENGTH;

/** The results of the order of a result's parent at any time. */
function parentLookupKeysOf(sent: SentKey): LookupKeys['keys'][number][] {
  const key = parentLookupKeyOf(sent);
  return key === undefined ? [] : [{ type: 'Observation', key }];
}

const MEETING_KEYS = MEETING.map((type) => ({ type, key: '' }));

/** A known allergy of one patient contradicts "no known allergies" of the other. */
const OF_MERGE = [...MEETING_KEYS, ...EXCLUSION_KEYS];

/** The same for a merge; undefined if the lookup is one already. */
export function ofMerge({ identifierValues, keys }: LookupKeys): LookupKeys | undefined {
  if (keys.some(({ key }) => key === '')) return undefined;
  return { identifierValues, keys: eachOnce([...keys, ...OF_MERGE]) };
}

const eachOnce = (keys: readonly LookupKeys['keys'][number][]): LookupKeys['keys'][number][] => [
  ...new Map(keys.map((asked) => [`${asked.type} ${asked.key}`, asked])).values(),
];

/** @param offset MSH-7's: `+01:00` */
export function lookupOf(outline: Outline, rule: EventRule, offset: string | undefined): LookupKeys {
  const alternates = outline.patients.flatMap(({ pid }) => [2, 4].map((field) => ({ segment: pid, field })));
  const fields = [...identifierFields(outline, rule), ...alternates];
  const values = fields.flatMap(({ segment, field }) => valuesOfField(segment, field));
  const keys = outline.patients.flatMap(({ statements }) =>
    statements.flatMap(({ type, key, result, refersTo = [] }) => {
      const own = result === undefined ? key : lookupKeyOf(result.sent, offset);
      const orders = type === 'DiagnosticReport' ? orderLookupKeysOf : parentLookupKeysOf;
      const more = result === undefined ? [] : orders(result.sent);
      return [...[own, ...refersTo].map((each) => ({ type, key: each })), ...more].filter(
        (asked) => asked.key.length <= MAX_LOOKUP_LENGTH,
      );
    }),
  );
  const merges =
    outline.patients.some(({ mrg }) => mrg !== undefined) && (rule.patient === 'merge' || rule.patient === 'renumber');
  return { identifierValues: [...new Set(values)], keys: eachOnce([...keys, ...(merges ? OF_MERGE : [])]) };
}

/**
 * The same without identifiers that do not identify: any number of patients may share one. Patients
 * that have a value with one of its authorities are found first.
 *
 * @param identifiers that identify
 */
export function narrowed(lookup: LookupKeys, identifiers: readonly ReadIdentifier[]): LookupKeys {
  const authorities = new Map<string, string[]>();
  for (const { value, authority } of identifiers)
    authorities.set(value, [...(authorities.get(value) ?? []), ...authority.ids]);
  const own = [...authorities].map(([value, ids]) => ({ type: 'Patient', key: JSON.stringify([value, ...ids]) }));
  return { identifierValues: [...authorities.keys()], keys: [...lookup.keys, ...own] };
}

/** The fields of patient identifiers. */
export function identifierFields(
  { patients }: Outline,
  { isExternal }: EventRule,
): { readonly segment: Segment; readonly field: number }[] {
  return patients.flatMap(({ pid, mrg }) => [
    ...(isExternal === true ? [3, 2] : [3]).map((field) => ({ segment: pid, field })),
    ...(mrg === undefined ? [] : (isExternal === true ? [1, 4] : [1]).map((field) => ({ segment: mrg, field }))),
  ]);
}

function requireIdentifier(segment: Segment, fields: readonly number[], report: Report): void {
  const [field = 1] = fields;
  const parts = fields.flatMap((each) => repetitions(segment, each));
  const valued = parts.filter((part) => plainTextOf(part, 1) !== undefined);
  // An identifier that is too long is skipped if there is another.
  const [usable] = valued.filter((part) => !isTooLong(plainTextOf(part, 1) ?? '', part, { report: () => undefined }));
  if (usable !== undefined) return;
  for (const part of valued) isTooLong(plainTextOf(part, 1) ?? '', part, { report }, 'E');
  if (valued.length > 0) return;
  report(missing(`${locate(segment, field)}^1^1`, `${segment.id}-${field}.1 (patient identifier) is required.`));
}

/** If the key of a minor segment is too long, the segment is skipped; else the message is rejected. */
function withUsableKeys(statements: readonly Statement[], report: Report): Statement[] {
  return statements.filter(({ key, segment, scope }) => {
    if (key.length <= MAX_KEY_LENGTH) return true;
    const message = `The identifiers of this segment are longer than ${MAX_KEY_LENGTH} characters.`;
    const severity = scope === undefined ? 'E' : 'W';
    report({ code: '102', severity, at: locate(segment), message, reason: 'identifier-too-long' });
    return scope === undefined;
  });
}
