/**
 * Maps the outline of a message to its effects, with the stored resources that it is about. Pure, so that a dry run is the same
 * code. Values that cannot be mapped are reported to the context.
 */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { isJsonObject, type JsonObject } from '../../../shared/json.ts';
import type { NewAttention } from '../../store/attention.ts';
import type { UnmappedName } from '../../store/unmapped-name.ts';
import type { NewAlias } from '../../store/hl7.ts';
import { authoritiesOf, noteContestedNamespace } from '../patients/authorities.ts';
import { patientContext } from '../patients/patient-context.ts';
import { linkPatients, unlinkPatients } from '../patients/link.ts';
import type { Merge } from '../patients/merge.ts';
import { mapPatient, type MappedPatient } from '../patients/patient.ts';
import type { MovedIdentifier } from '../patients/resolve.ts';
import { patientRecord, type PatientRecord } from '../mapping/patient-record.ts';
import { note, type MapContext } from '../mapping/context.ts';
import { createDrafts, type Draft, type DraftResult, type Found, type FoundPatient } from '../mapping/drafts.ts';
import { fixed, type Contribution } from '../precedence/contribution.ts';
import { concludeReports } from '../results/conclusion.ts';
import type { FilingRequest } from '../results/asked-results.ts';
import { fileResults } from '../results/file-results.ts';
import { filedResults } from '../results/filed-results.ts';
import { settleLeft } from '../results/left-results.ts';
import { resultKeyOf } from '../results/result-key.ts';
import { attendTie } from '../results/tied-result.ts';
import type { Authority } from '../results/order-number.ts';
import type { ResultRow } from '../../store/hl7-result.ts';
import type { EventRule } from '../mapping/tables/events.ts';
import { timed, type MessageClock } from '../precedence/clock.ts';
import type { Precedence } from '../precedence/precedence.ts';
import { ARRIVED } from '../precedence/stated-value.ts';
import { mergeRecords, type Met } from './merge-records.ts';
import { attendStaleCorrection, noteStale } from '../mapping/stale.ts';
import { identifierFields, type Outline, type PatientOutline } from '../message/outline.ts';
import { settleAllergies } from '../mapping/no-known-allergy.ts';
import { visitOf } from '../mapping/segments/pv1.ts';
import type { SenderSettings } from './sender/settings.ts';
import type { Statement } from '../mapping/statement.ts';

export interface MapRequest {
  readonly header: Header;
  readonly outline: Outline;
  readonly rule: EventRule;
  readonly found: readonly Found[];
  readonly patients: readonly FoundPatient[];
  /** A minor statement is mapped only if Allowed scopes permit writing its type. */
  readonly settings: SenderSettings;
  readonly context: Omit<MapContext, 'attend' | 'assigningAuthorities' | 'unmapped'>;
  readonly clock: MessageClock;
  /** The authority of order numbers without one. */
  readonly ownNumbers: Authority;
  readonly newId: () => string;
  /** `meta.source` of the written resources. */
  readonly source: string;
}

export interface Effects extends DraftResult {
  readonly results: readonly ResultRow[];
  readonly merges: readonly Merge[];
  readonly met: readonly Met[];
  readonly moved: readonly MovedIdentifier[];
  readonly aliases: readonly NewAlias[];
  readonly attention: readonly NewAttention[];
  readonly unmapped: readonly UnmappedName[];
}

const LINKS: ReadonlyMap<EventRule['patient'], typeof linkPatients> = new Map([
  ['link', linkPatients],
  ['unlink', unlinkPatients],
]);

/** The limit of an HD (HL7 v2.5.1 §2.A.36). */
const MAX_NAME_LENGTH = 227;
/** A real message has a handful. */
const MAX_UNMAPPED = 100;

/** Events whose changes come from MRG, as far as no other field makes them. */
const MOVES: ReadonlySet<EventRule['patient']> = new Set(['merge', 'renumber']);

export function effectsOf(request: MapRequest): Effects {
  const { header, outline, rule, settings, clock, newId, source } = request;
  const { authorities, aliases, contested } = authoritiesOf(settings, header.segment, identifierFields(outline, rule));
  const attention: NewAttention[] = [];
  const unmapped = new Map<string, UnmappedName>();
  const context: MapContext = {
    ...request.context,
    assigningAuthorities: authorities,
    attend: (item) => void attention.push(item),
    unmapped: (item) => {
      if (item.name.length <= MAX_NAME_LENGTH && unmapped.size < MAX_UNMAPPED)
        unmapped.set(`${item.kind} ${item.name}`, item);
    },
  };
  for (const { namespace, at } of contested) noteContestedNamespace(namespace, at, context);
  const names = new Map([...authorities.taught, ...authorities.named]);
  const drafts = createDrafts(request.found, request.patients, names);
  const results = filedResults(request.found, drafts);
  const { zone, authorities: named } = context;
  const keyContext = { zone, named, own: request.ownNumbers };
  const { hl7_identity_check: check, allowedScopes } = settings;
  const identity = patientContext({ authorities, rules: settings, check, drafts, context, clock, newId });
  const filing: FilingRequest = { drafts, results, context, keyContext, newId, clock };
  const joined: Met[] = [];
  const merges = new Map<Merge, Segment>();
  const mapped = outline.patients.flatMap((segments): MappedPatient[] => {
    const found = mapPatient(segments, rule, identity);
    if (found === undefined) return [];
    for (const merge of found.merges) merges.set(merge, segments.mrg ?? segments.pid);
    joined.push(...fileStatements(segments, found.patient, allowedScopes, filing));
    return [found];
  });
  const [first, ...others] = mapped.map(({ patient }) => patient);
  const [head] = outline.patients;
  for (const other of others) {
    if (first === undefined) break;
    const change = LINKS.get(rule.patient)?.(first, other, clock.precedenceOf(head?.timing ?? timed()), drafts);
    if (change === 'not-linked') noteNotLinked(context);
    if (change === 'stale' && head !== undefined) {
      noteStale(head.pid, context);
      context.attend({ kind: 'stale-merge', patients: [first.id, other.id], detail: { at: locate(head.pid) } });
    }
  }
  const met = mergeRecords(merges, filing);
  return {
    ...drafts.result(source, MOVES.has(rule.patient) ? 'MRG-1' : 'MSH-9', context.messageId),
    results: results.rows(),
    merges: [...merges.keys()],
    met: [...joined, ...met],
    moved: mapped.flatMap(({ moved }) => moved),
    aliases: [...aliases, ...mapped.flatMap((each) => each.aliases)],
    attention,
    unmapped: [...unmapped.values()],
  };
}

/** Files the results, and applies the other statements about a patient. @returns the results that became one */
function fileStatements(
  { statements, pid, more }: PatientOutline,
  patient: Draft,
  allowedScopes: ReadonlySet<string>,
  filing: FilingRequest,
): Met[] {
  const { drafts, context, clock, newId } = filing;
  const filed = fileResults(statements, patient, filing);
  const visit = visitOf(
    pid,
    more.find(({ id }) => id === 'PV1'),
    context,
  );
  const record = patientRecord(patient, drafts, newId, filed.drafts);
  const applied = applyStatements(statements, record, visit, allowedScopes, filing);
  const allergies = applied.filter(({ type }) => type === 'AllergyIntolerance');
  settleAllergies(
    allergies.map(({ segment, timing }) => ({ segment, precedence: clock.precedenceOf(timing) })),
    patient,
    (key) => record.find('AllergyIntolerance', key),
    drafts,
  );
  settleLeft(filed, patient, filing);
  concludeReports(statements, filed, patient, filing);
  return filed.joined.map(({ gone, kept }) => ({ gone: gone.draft.id, kept: kept.draft.id }));
}

/** @returns the statements that the key's scopes allow */
function applyStatements(
  statements: readonly Statement[],
  record: PatientRecord,
  visit: JsonObject | undefined,
  allowedScopes: ReadonlySet<string>,
  { context, clock, keyContext }: FilingRequest,
): Statement[] {
  const skipped = new Set<string>();
  const applied: Statement[] = [];
  for (const statement of statements) {
    const { type, key, segment, scope, subject } = statement;
    if (scope !== undefined && !allowedScopes.has(scope)) {
      if (!skipped.has(scope)) noteSkipped(statement, scope, context);
      skipped.add(scope);
      continue;
    }
    applied.push(statement);
    const precedence = clock.precedenceOf(statement.timing);
    const known =
      statement.result === undefined
        ? knownOf(statement, precedence, record, context)
        : record.resultOf(statement.segment);
    const draft = known ?? record.create(type, statement.keyIfNew ?? key);
    const said = statement.contributions(record, context, draft, precedence);
    const whose = fixed(subject, { reference: `Patient/${record.patient.id}` }, 'PID-3');
    const { isCorrection, isWithdrawal } = statement.timing.standing;
    const contributions = [whose, ...ofVisit(draft, visit), ...said];
    const { isStale, isTied } = record.apply(draft, contributions, precedence, isWithdrawal, segment.id);
    if (isTied && statement.result !== undefined)
      attendTie(draft, record.patient.id, resultKeyOf(statement.result.sent, keyContext), context.attend);
    if (!isStale) continue;
    noteStale(segment, context);
    if (isCorrection) attendStaleCorrection(statement, draft, record.patient, precedence, context);
  }
  return applied;
}

function knownOf(
  statement: Statement,
  precedence: Precedence,
  record: PatientRecord,
  context: MapContext,
): Draft | undefined {
  const { type, key, number, unlessKnown } = statement;
  const known = record.find(type, key);
  if (known !== undefined) return known;
  const [only, ...more] = number === undefined ? [] : record.documentsNumbered(number.value);
  if (more.length > 0 && number !== undefined) {
    context.report(number.ifSeveral);
    return undefined;
  }
  const found = only ?? standingFor(statement, precedence, record);
  if (found === undefined && unlessKnown !== undefined) context.report(unlessKnown);
  return found;
}

/** A resource that is the statement's from now on. */
function standingFor(
  { type, key, keyIfNew, standsFor }: Statement,
  precedence: Precedence,
  record: PatientRecord,
): Draft | undefined {
  const stored = standsFor && record.find(type, standsFor.key);
  if (stored === undefined || standsFor?.isOpen(stored) !== true) return undefined;
  if (keyIfNew === undefined) {
    record.addKey(stored, key);
    record.remember(stored, ARRIVED, precedence);
  }
  return stored;
}

/** The visit of resources that have one. An allergy has none: every visit states it again. */
function ofVisit({ type, content }: Draft, visit: JsonObject | undefined): Contribution[] {
  if (visit === undefined || type === 'AllergyIntolerance') return [];
  if (type !== 'DocumentReference') return [fixed('encounter', visit, 'PV1-19')];
  const stored = isJsonObject(content['context']) ? content['context'] : {};
  return [fixed('context', { ...stored, encounter: [visit] }, 'PV1-19')];
}

function noteNotLinked(context: MapContext): void {
  note(context, 'W', '204', 'PID^2', ERROR_REASONS['not-linked'], 'not-linked');
}

function noteSkipped({ segment }: Statement, scope: string, context: MapContext): void {
  const message = `${segment.id} was not mapped. The key's Allowed scopes do not include ${scope}.`;
  note(context, 'W', '207', locate(segment), message, 'scope-missing');
}
