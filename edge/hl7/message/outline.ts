/**
 * What a message is about, before anything is looked up: its patients, and what it states of each. Finds missing and
 * misplaced segments and fields; maps nothing.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { Message, Segment } from '../../../shared/hl7/message.ts';
import { locate, repetitions } from '../../../shared/hl7/value.ts';
import type { LookupKeys } from '../../store/hl7-snapshot.ts';
import type { PatientSegments } from '../patients/patient.ts';
import { valuesOfField, type ReadIdentifier } from '../patients/sent-identifiers.ts';
import { isTooLong } from '../mapping/datatypes/hd.ts';
import { fieldText, textOf } from '../mapping/datatypes/text.ts';
import { MAX_KEY_LENGTH } from '../mapping/key.ts';
import { lookupKeyOf } from '../results/result-key.ts';
import { isOfPatient, mustFollowPid } from '../mapping/segments/registry.ts';
import { timed } from '../precedence/clock.ts';
import { documents } from './documents.ts';
import { hasPatientResults, type EventRule, type PatientAction } from '../mapping/tables/events.ts';
import { admission, results } from './results.ts';
import { groupsOf } from './segment-groups.ts';
import { singleSegments } from './single-segments.ts';
import { excessOf, resourceExcess } from './cost.ts';
import type { Statement } from '../mapping/statement.ts';
import { misplaced, missing, reportUnmapped, type Report } from './structure-findings.ts';

export interface PatientOutline extends PatientSegments {
  readonly statements: readonly Statement[];
}

/** What is done with each MRG; where an event has no use for one it is not looked at. */
const BY_MRG: ReadonlySet<PatientAction> = new Set(['merge', 'renumber', 'not-moved']);

/** EVN-2, when the event was recorded (HL7 v2.5.1 §3.4.1.2). */
const recordedIn = (message: Message): string | undefined =>
  message.segments.filter(({ id }) => id === 'EVN').map((evn) => fieldText(evn, 2))[0];

export interface Outline {
  readonly patients: readonly PatientOutline[];
  readonly findings: readonly AckError[];
}

/** Which kind of message it is. */
export interface MessageKind {
  readonly messageType: string;
  /** MSH-12.1. */
  readonly versionId: string;
  readonly rule: EventRule;
  /** MSH-3 and MSH-4: whose the numbers of documents, diagnoses and their like are that name no authority. */
  readonly sender: string;
}

type StatementsOf = (
  members: readonly Segment[],
  kind: MessageKind,
  recorded: string | undefined,
  report: Report,
) => readonly Statement[];

/** By message type, what is read of the segments that follow a PID. */
const STATEMENTS: ReadonlyMap<string, StatementsOf> = new Map<string, StatementsOf>([
  [
    'ADT',
    (members, { sender }, recorded, report) => [
      ...admission(members, recorded, report),
      ...singleSegments(members, recorded, sender, report),
    ],
  ],
  [
    'ORU',
    (members, { versionId, sender }, recorded, report) => [
      ...results(members, hasPatientResults(versionId), recorded, report),
      ...singleSegments(members, recorded, sender, report),
    ],
  ],
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
  const ofPatients = groups.filter(({ head }) => head !== undefined);
  if (ofPatients.length === 0 && rule.mayLackPatient !== true)
    report(missing('PID^1', 'the message has no PID segment'));
  if (rule.beyond !== undefined) report(BEYOND[rule.beyond]);
  reportUnmapped(message, report);

  const before = groups.find(({ head }) => head === undefined)?.members ?? [];
  for (const segment of before) if (mustFollowPid(segment.id)) report(misplaced(segment, 'PID'));
  // A02 and most others are about one patient; A17 swaps two, a merge may list several, and so may an ORU.
  const second = ofPatients[1]?.head;
  if (messageType === 'MDM' && second !== undefined) report(misplaced(second, 'a single PID'));

  const patients = ofPatients.flatMap(({ head: pid, members }): PatientOutline[] => {
    if (pid === undefined) return [];
    const isExternal = rule.isExternal === true;
    requireIdentifier(pid, isExternal ? [3, 2] : [3], report);
    const [mrg, ...mrgs] = members.filter(({ id }) => id === 'MRG');
    if (rule.patient === 'merge' || rule.patient === 'renumber') {
      if (mrg === undefined) report(missing('MRG^1', 'a merge needs an MRG segment after each PID'));
      for (const each of [mrg ?? [], mrgs].flat()) requireIdentifier(each, isExternal ? [1, 4] : [1], report);
    }
    const more = members.filter(({ id }) => isOfPatient(id));
    const timing = timed(recorded);
    const statements = STATEMENTS.get(messageType)?.(members, kind, recorded, report) ?? [];
    // Several MRG behind one PID (A45; some do so in A40) are as many merges into its patient.
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

/** A message that is refused for its size is about nobody: nothing of it is looked up. */
const tooLarge = (excess: readonly AckError[]): Outline => ({ patients: [], findings: excess });

const BEYOND: Readonly<Record<NonNullable<EventRule['beyond']>, AckError>> = {
  'no-effect': {
    code: '201',
    severity: 'I',
    at: 'MSH^1^9^1^2',
    message: 'nothing is kept that this event changes: what the message says of the patient was taken',
    reason: 'no-effect',
  },
};

/** Types of which two patients may have one thing. Of an empty key is whatever meets in a merge (`hl7_matches`). */
const MEETING = [
  'AllergyIntolerance',
  'Condition',
  'Procedure',
  'DocumentReference',
  'Observation',
  'DiagnosticReport',
] as const;

/** What must be looked up to map a message. @param offset of MSH-7: `+01:00` */
export function lookupOf(outline: Outline, rule: EventRule, offset: string | undefined): LookupKeys {
  const alternates = outline.patients.flatMap(({ pid }) => [2, 4].map((field) => ({ segment: pid, field })));
  const fields = [...identifierFields(outline, rule), ...alternates];
  const values = fields.flatMap(({ segment, field }) => valuesOfField(segment, field));
  const keys = outline.patients.flatMap(({ statements }) =>
    statements.flatMap(({ type, key, result, refersTo = [] }) => {
      const own = result === undefined ? key : lookupKeyOf(result.sent, offset);
      return [own, ...refersTo].map((each) => ({ type, key: each }));
    }),
  );
  const merges =
    outline.patients.some(({ mrg }) => mrg !== undefined) && (rule.patient === 'merge' || rule.patient === 'renumber');
  const met = merges ? MEETING.map((type) => ({ type, key: '' })) : [];
  const each = new Map([...keys, ...met].map((asked) => [`${asked.type} ${asked.key}`, asked]));
  return { identifierValues: [...new Set(values)], keys: [...each.values()] };
}

/**
 * The same without the numbers that stand for no patient by themselves: of such a one a site may have any number. Of each
 * value those patients are looked for first that have it in its own domain.
 *
 * @param numbers that identify
 */
export function narrowed(lookup: LookupKeys, numbers: readonly ReadIdentifier[]): LookupKeys {
  const domains = new Map<string, string[]>();
  for (const { value, domain } of numbers) domains.set(value, [...(domains.get(value) ?? []), ...domain.ids]);
  const own = [...domains].map(([value, ids]) => ({ type: 'Patient', key: JSON.stringify([value, ...ids]) }));
  return { identifierValues: [...domains.keys()], keys: [...lookup.keys, ...own] };
}

/** The fields that say which patients are meant. */
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
  const valued = parts.filter((part) => textOf(part, 1) !== undefined);
  // One that is too long is left out where there is another.
  const [usable] = valued.filter((part) => !isTooLong(textOf(part, 1) ?? '', part, { report: () => undefined }));
  if (usable !== undefined) return;
  for (const part of valued) isTooLong(textOf(part, 1) ?? '', part, { report }, 'E');
  if (valued.length > 0) return;
  report(missing(`${locate(segment, field)}^1^1`, `${segment.id}-${field}.1 (patient identifier) is required`));
}

/** What is said in passing is left out where its key is too long to be looked up; else the message cannot be taken. */
function withUsableKeys(statements: readonly Statement[], report: Report): Statement[] {
  return statements.filter(({ key, segment, scope }) => {
    if (key.length <= MAX_KEY_LENGTH) return true;
    const message = `the identifiers of this segment are longer than ${MAX_KEY_LENGTH} characters`;
    const severity = scope === undefined ? 'E' : 'W';
    report({ code: '102', severity, at: locate(segment), message, reason: 'identifier-too-long' });
    return scope === undefined;
  });
}
