/**
 * Maps the outline of a message to its effects, with the stored resources that it is about. Pure, so that a dry run is the same
 * code. Values that cannot be mapped are reported to the context.
 */
import type { Header } from '../../../shared/hl7/header.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { isJsonObject, type JsonObject } from '../../../shared/json.ts';
import type { NewAttention } from '../../store/attention.ts';
import type { UnnamedName } from '../../store/unnamed-name.ts';
import type { NewAlias } from '../../store/hl7.ts';
import { authoritiesOf } from '../patients/authorities.ts';
import { patientContext } from '../patients/patient-context.ts';
import { linkPatients, unlinkPatients } from '../patients/link.ts';
import type { Merge } from '../patients/merge.ts';
import { mapPatient, type MappedPatient } from '../patients/patient.ts';
import type { MovedIdentifier } from '../patients/resolve.ts';
import { patientRecord, type PatientRecord } from '../mapping/patient-record.ts';
import { note, type MapContext } from '../mapping/context.ts';
import { createDrafts, type Draft, type DraftResult, type Found, type FoundPatient } from '../mapping/drafts.ts';
import { fixed, type Contribution } from '../precedence/contribution.ts';
import { fileResults } from '../results/file-results.ts';
import { filedResults } from '../results/filed-results.ts';
import type { Authority } from '../results/order-number.ts';
import type { ResultRow } from '../../store/hl7-result.ts';
import type { EventRule } from '../mapping/tables/events.ts';
import type { MessageClock } from '../precedence/clock.ts';
import { mergeRecords, type Met } from './merge-records.ts';
import { attendStaleCorrection, attendTie, noteStale } from '../mapping/stale.ts';
import { identifierFields, type Outline } from '../message/outline.ts';
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
  readonly context: Omit<MapContext, 'attend' | 'domains' | 'unnamed'>;
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
  readonly unnamed: readonly UnnamedName[];
}

/** The limit of an HD (HL7 v2.5.1 §2.A.36). */
const MAX_NAME_LENGTH = 227;
/** A real message has a handful. */
const MAX_UNNAMED = 100;

export function effectsOf(request: MapRequest): Effects {
  const { header, outline, rule, settings, clock, newId, source } = request;
  const { authorities, aliases } = authoritiesOf(settings, header.segment, identifierFields(outline, rule));
  const attention: NewAttention[] = [];
  const unnamed = new Map<string, UnnamedName>();
  const context: MapContext = {
    ...request.context,
    domains: authorities,
    attend: (item) => void attention.push(item),
    unnamed: (item) => {
      if (item.name.length <= MAX_NAME_LENGTH && unnamed.size < MAX_UNNAMED)
        unnamed.set(`${item.kind} ${item.name}`, item);
    },
  };
  const names = new Map([...authorities.taught, ...authorities.named]);
  const drafts = createDrafts(request.found, request.patients, names);
  const results = filedResults(request.found, drafts);
  const { zone, authorities: named } = context;
  const keyContext = { zone, named, own: request.ownNumbers };
  const identity = patientContext({
    authorities,
    rules: settings,
    check: settings.hl7_identity_check,
    drafts,
    context,
    clock,
    newId,
  });
  const mapped = outline.patients.flatMap(({ statements, ...segments }): MappedPatient[] => {
    const found = mapPatient(segments, rule, identity);
    if (found === undefined) return [];
    const filed = fileResults(statements, found.patient, { drafts, results, context, keyContext, newId });
    const visit = visitOf(
      segments.pid,
      segments.more.find(({ id }) => id === 'PV1'),
      context,
    );
    const record = patientRecord(found.patient, drafts, newId, filed);
    applyStatements(statements, record, visit, settings.allowedScopes, { context, clock });
    return [found];
  });
  const [first, ...others] = mapped.map(({ patient }) => patient);
  for (const other of others) {
    if (first === undefined) break;
    if (rule.patient === 'link') linkPatients(first, other, drafts);
    if (rule.patient === 'unlink' && !unlinkPatients(first, other, drafts)) noteNotLinked(context);
  }
  const merges = mapped.flatMap((each) => each.merges);
  const met = mergeRecords(merges, drafts, results, context.attend);
  return {
    ...drafts.result(source),
    results: results.rows(),
    merges,
    met,
    moved: mapped.flatMap(({ moved }) => moved),
    aliases: [...aliases, ...mapped.flatMap((each) => each.aliases)],
    attention,
    unnamed: [...unnamed.values()],
  };
}

function applyStatements(
  statements: readonly Statement[],
  record: PatientRecord,
  visit: JsonObject | undefined,
  allowedScopes: ReadonlySet<string>,
  { context, clock }: { readonly context: MapContext; readonly clock: MessageClock },
): void {
  const skipped = new Set<string>();
  for (const statement of statements) {
    const { type, key, segment, scope, subject, unlessKnown } = statement;
    if (scope !== undefined && !allowedScopes.has(scope)) {
      if (!skipped.has(scope)) noteSkipped(statement, scope, context);
      skipped.add(scope);
      continue;
    }
    const known = statement.result === undefined ? record.find(type, key) : record.resultOf(statement.segment);
    if (known === undefined && unlessKnown !== undefined) context.report(unlessKnown);
    const draft = known ?? record.create(type, key);
    const precedence = clock.precedenceOf(statement.timing);
    const said = statement.contributions(record, context, draft, precedence);
    const whose = fixed(subject, { reference: `Patient/${record.patient.id}` });
    const { isCorrection, isWithdrawal } = statement.timing.standing;
    const contributions = [whose, ...ofVisit(draft, visit), ...said];
    const { isStale, isTied } = record.apply(draft, contributions, precedence, isWithdrawal);
    if (isTied) attendTie(draft, record.patient.id, precedence, context.attend);
    if (!isStale) continue;
    noteStale(segment, context);
    if (isCorrection) attendStaleCorrection(statement, draft, record.patient, precedence, context);
  }
}

/** The visit of resources that have one. An allergy has none: every visit states it again. */
function ofVisit({ type, content }: Draft, visit: JsonObject | undefined): Contribution[] {
  if (visit === undefined || type === 'AllergyIntolerance') return [];
  if (type !== 'DocumentReference') return [fixed('encounter', visit, 'PV1-19')];
  const stored = isJsonObject(content['context']) ? content['context'] : {};
  return [fixed('context', { ...stored, encounter: [visit] }, 'PV1-19')];
}

function noteNotLinked(context: MapContext): void {
  const message = 'The patients are not linked. Nothing was changed; a merge cannot be undone.';
  note(context, 'W', '204', 'PID^2', message, 'not-linked');
}

function noteSkipped({ segment }: Statement, scope: string, context: MapContext): void {
  const message = `${segment.id} was not mapped. The key's Allowed scopes do not include ${scope}.`;
  note(context, 'W', '207', locate(segment), message, 'scope-missing');
}
