/**
 * Settles older results that a message leaves, after its statements are applied (edge/docs/behaviour.md, HL7 v2, Which result).
 * If a newer final message no longer has a result, it is withdrawn below final, and listed if final. So retracted text does not
 * stay in a final report, and each remaining result has an issue to review.
 */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { objectsOf, type Json } from '../../../shared/json.ts';
import { note, type MapContext } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import { referencesIn } from '../mapping/references.ts';
import { IN_ERROR } from '../precedence/contribution.ts';
import { belowFinal, isLater, messageIdOf, timeMsOf, type Precedence } from '../precedence/precedence.ts';
import { later } from '../precedence/registers.ts';
import { WITHDRAWN } from '../precedence/stated-value.ts';
import { codeNames } from './alike-results.ts';
import type { FilingRequest } from './asked-results.ts';
import type { FiledGroup, FiledStatement, Filing } from './file-results.ts';
import type { FiledResult } from './filed-results.ts';
import { formerResults, rememberValues, rememberWithdrawal } from './parent-results.ts';
import { hasNumber, isEqualCode, observedBy, type Observed } from './result-key.ts';
import {
  finalPrecedence,
  isBelowFinal,
  isFinal,
  isMissing,
  isText,
  isWaiting,
  isWithdrawn,
  statusPrecedence,
} from './result-state.ts';

/** The part of a filing that a merge needs too. */
export interface MergedFiling extends Pick<FilingRequest, 'drafts' | 'results'> {
  readonly context: Pick<MapContext, 'report' | 'attend'>;
}

/** The results of one record, for a message or a merge. */
interface SettlingRecord extends MergedFiling {
  readonly patientId: string;
  /** Results that are stated, withdrawn or moved, with the segment that is the cause. */
  readonly causes: Map<Draft, Segment>;
}

interface Settling extends SettlingRecord {
  /** Reports of the message, by OBR. */
  readonly reports: ReadonlyMap<Segment, FiledStatement>;
  /** Results that the message states. */
  readonly stated: ReadonlySet<Draft>;
}

export function settleLeft(filing: Filing, patient: Draft, request: FilingRequest): void {
  const members = filing.groups.flatMap((group) => group.members);
  const ofType = (wanted: string) => members.filter(({ statement: { type } }) => type === wanted);
  const reports = new Map<Segment, FiledStatement>();
  for (const each of ofType('DiagnosticReport')) if (each.result.obr !== undefined) reports.set(each.result.obr, each);
  const observations = ofType('Observation');
  const settling: Settling = {
    ...request,
    patientId: patient.id,
    reports,
    stated: new Set(observations.map(({ draft }) => draft)),
    causes: new Map(),
  };
  for (const group of filing.groups) {
    settleGroup(group, settling);
    noteBetween(group, settling);
  }
  for (const report of reports.values()) settleCancelled(report, settling);
  for (const each of observations) settleLate(each, settling);
  rememberValues(observations, request.drafts);
  for (const { draft, statement } of observations) settling.causes.set(draft, statement.segment);
  settleParents(settling, new Set(observations.filter(isRepeated).map(({ draft }) => draft)));
  const reportOf = ({ obr }: FiledStatement['result']): Draft | undefined => (obr && reports.get(obr))?.draft;
  const stating = observations.map(({ key, draft, status, statement: { segment }, result }) => {
    return { key, draft, isKnown: status === 'known', segment, report: reportOf(result) };
  });
  notePreliminary(stating, settling.stated, settling);
  removeFromReports(settling);
}

/** The message states the stored value again. */
const isRepeated = ({ status, value, before, statement }: FiledStatement): boolean =>
  status === 'known' && value === before && !statement.timing.standing.isWithdrawal;

/** The members of a group of equal results: what a newer final message no longer has, and what an older one still has. */
function settleGroup({ members, stored, membership }: FiledGroup, settling: Settling): void {
  const [first] = members;
  if (first === undefined || first.statement.type !== 'Observation') return;
  const finals = members.filter(({ statement: { timing }, result }) => {
    const { standing } = timing;
    return standing.isFinal && !standing.isWithdrawal && !result.isCorrection;
  });
  const newest = finals.reduce<Precedence>((last, { precedence }) => later(last, precedence), '');
  if (newest !== '' && isComplete(first, settling)) {
    for (const { draft } of stored) {
      if (settling.stated.has(draft) || isWithdrawn(draft) || !isLater(newest, statusPrecedence(draft))) continue;
      leave(draft, newest, first.statement.segment, settling);
    }
  }
  // A correction of results that a final message no longer had may have meant those that it had.
  const restored = members.find(({ result, wasMissing }) => result.isCorrection && wasMissing);
  if (restored !== undefined) {
    for (const { draft } of stored) {
      if (settling.stated.has(draft) || !isFinal(draft)) continue;
      leave(draft, restored.precedence, restored.statement.segment, settling);
    }
  }
  if (membership === '') return;
  const isByWithdrawal = stored.some(({ draft }) => isWithdrawn(draft) && finalPrecedence(draft) === membership);
  for (const member of members) {
    const { obr } = member.result;
    const isMore = (member.status === 'unclear' || member.wasMissing) && isLater(membership, member.precedence);
    const report = (obr && settling.reports.get(obr))?.draft;
    if (!isMore || isWithdrawn(member.draft) || !wasComplete(report, membership)) continue;
    leave(member.draft, membership, member.statement.segment, settling, isByWithdrawal);
  }
}

/** The message states all results of the group: its report is final, or has no status. */
function isComplete({ result: { obr } }: FiledStatement, { reports }: Settling): boolean {
  const standing = (obr && reports.get(obr))?.statement.timing.standing;
  return standing === undefined || standing.rank === 0 || (standing.isFinal && !standing.isWithdrawal);
}

/** The same of an earlier message, by the precedence of its final results and of the stored report. */
function wasComplete(draft: Draft | undefined, membership: Precedence): boolean {
  if (draft === undefined || statusPrecedence(draft) === '') return true;
  const final = finalPrecedence(draft);
  return final !== '' && timeMsOf(final) >= timeMsOf(membership);
}

/**
 * A stored result that a newer final message no longer has: below final it is withdrawn, a final one is listed.
 *
 * @param isByWithdrawal the message withdraws another result, and does not show whether this one is still valid: it is listed
 */
function leave(
  draft: Draft,
  precedence: Precedence,
  segment: Segment,
  settling: SettlingRecord,
  isByWithdrawal = false,
): void {
  // A text that stays beside another one is listed with it.
  if (isFinal(draft) && isText(draft)) return;
  noteMissing(segment, settling);
  if (isFinal(draft) || isByWithdrawal) attendLeft(draft, segment, settling);
  else withdraw(draft, precedence, segment, settling);
}

/** Below final, so that a final result that arrives late stays in any order of arrival. */
function withdraw(draft: Draft, precedence: Precedence, by: Segment, { drafts, causes }: SettlingRecord): void {
  causes.set(draft, by);
  drafts.apply(draft, IN_ERROR, belowFinal(precedence), false, 'OBX');
  rememberWithdrawal(draft, precedence, drafts);
}

function noteMissing(segment: Segment, { context }: SettlingRecord, ...field: readonly number[]): void {
  note(context, 'W', '205', locate(segment, ...field), ERROR_REASONS['result-missing'], 'result-missing');
}

function attendLeft(
  { type, id }: Draft,
  segment: Segment,
  { context, patientId }: SettlingRecord,
  reason?: string,
): void {
  const detail = { type, id, at: locate(segment), ...(reason !== undefined && { reason }) };
  context.attend({ kind: 'result-missing', patients: [patientId], about: `${type}/${id}`, detail });
}

/** Lists a group of which results below final are left: which ones may depend on the order of arrival. */
function noteBetween({ members, stored, isBetween }: FiledGroup, { context, patientId }: Settling): void {
  const [first] = members;
  if (!isBetween || first === undefined || members.length + stored.length < 3) return;
  const open = [...members, ...stored].find(({ draft }) => isBelowFinal(draft) || isWaiting(draft));
  if (open === undefined || open.draft.type !== 'Observation') return;
  const about = `Observation/${open.draft.id}`;
  const detail = { at: locate(first.statement.segment) };
  context.attend({ kind: 'result-unclear', patients: [patientId], about, detail });
}

/** OBR-25 X: results of the report that are below final are withdrawn with it, final ones stay and are listed. */
function settleCancelled({ statement, draft, precedence }: FiledStatement, settling: Settling): void {
  if (statement.timing.standing.isWithdrawal) cancel(draft, precedence, statement.segment, settling, settling.stated);
}

function cancel(
  report: Draft,
  precedence: Precedence,
  by: Segment,
  settling: SettlingRecord,
  stated: ReadonlySet<Draft> = new Set(),
): void {
  const left = resultsOf(report, settling).filter((each) => !stated.has(each) && isOlder(each, precedence));
  for (const each of left) if (isBelowFinal(each)) withdraw(each, precedence, by, settling);
  if (!left.some(isFinal)) return;
  noteMissing(by, settling, ...(by.id === 'OBR' ? [25] : []));
  attendLeft(report, by, settling);
}

/** A message may state one organism as final and another one as preliminary: it leaves neither. */
const isLaterMessage = (a: Precedence, b: Precedence): boolean => isLater(a, b) && messageIdOf(a) !== messageIdOf(b);

/** The result was stated before, by its time alone: statements of one time may be one message. */
const isOlder = (draft: Draft, precedence: Precedence): boolean => {
  const stated = statusPrecedence(draft);
  return stated !== '' && timeMsOf(stated) < timeMsOf(precedence);
};

const resultsOf = (report: Draft, { drafts }: SettlingRecord): Draft[] =>
  referencesIn(report.content['result']).flatMap((reference) => {
    const draft = drafts.byId('Observation', reference.slice(reference.indexOf('/') + 1));
    return draft === undefined ? [] : [draft];
  });

/** A result that is older than the cancellation of its report, and arrives later. */
function settleLate({ statement, result: { obr }, draft, was, precedence }: FiledStatement, settling: Settling): void {
  const report = obr && settling.reports.get(obr);
  const cancelled = report?.draft.remembered.registers.get(WITHDRAWN);
  if (report === undefined || cancelled === undefined || timeMsOf(precedence) >= timeMsOf(cancelled.precedence)) return;
  const by = report.statement.segment;
  if (isBelowFinal(draft) && isOlder(draft, cancelled.precedence)) withdraw(draft, cancelled.precedence, by, settling);
  else if (isFinal(draft) && !isFinal(was)) {
    noteMissing(statement.segment, settling);
    attendLeft(report.draft, by, settling);
  }
}

/**
 * Withdraws an older result of a former parent if it is below final. A final result is listed, and a result that may be valid
 * again.
 */
function settleParents(settling: SettlingRecord, repeated: ReadonlySet<Draft> = new Set()): void {
  const { drafts, patientId, causes, results } = settling;
  for (const former of formerResults(results.ofPatient('Observation', patientId), causes, repeated, drafts)) {
    const { draft, precedence, wasFinal, isAgain, by } = former;
    if (isBelowFinal(draft)) withdraw(draft, precedence, by, settling);
    else if (!wasFinal && !(isAgain && isMissing(draft))) continue;
    noteMissing(by, settling);
    if (wasFinal || isAgain) attendLeft(draft, by, settling, 'parent-changed');
  }
}

/**
 * Settles results that a newer final message in the other record does not have, cancels, or whose parent it changes.
 *
 * @param changed the observations that the merge moves, and resources that become one with another one
 */
export function settleMerged(patientId: string, changed: ReadonlySet<Draft>, by: Segment, filing: MergedFiling): void {
  const all = filing.results.ofPatient('Observation', patientId);
  const settling: SettlingRecord = {
    ...filing,
    patientId,
    causes: new Map(all.map(({ draft }) => [draft, by])),
  };
  const reportOf = new Map(
    filing.results
      .ofPatient('DiagnosticReport', patientId)
      .flatMap(({ draft }) => resultsOf(draft, settling).map((each) => [each, draft] as const)),
  );
  for (const report of changed) {
    const cancelled = report.remembered.registers.get(WITHDRAWN);
    if (report.type === 'DiagnosticReport' && cancelled !== undefined)
      cancel(report, cancelled.precedence, by, settling);
  }
  const groups = Map.groupBy(all, ({ key }) => JSON.stringify(key));
  for (const group of groups.values()) {
    const drafts = group.map(({ draft }) => draft);
    if (drafts.some((draft) => changed.has(draft))) settleMergedGroup(drafts, reportOf, by, settling);
  }
  settleParents(settling);
  const stating = all
    .filter(({ draft }) => isFinal(draft))
    .map(({ key, draft }) => ({ key, draft, isKnown: true, segment: by, report: reportOf.get(draft) }));
  notePreliminary(stating, new Set(), settling);
  removeFromReports(settling);
}

function settleMergedGroup(
  group: readonly Draft[],
  reportOf: ReadonlyMap<Draft, Draft>,
  by: Segment,
  settling: SettlingRecord,
): void {
  const membership = group.map(finalPrecedence).reduce<Precedence>(later, '');
  const newest = group.find((draft) => membership !== '' && finalPrecedence(draft) === membership);
  if (newest === undefined || !wasComplete(reportOf.get(newest), membership)) return;
  for (const draft of group) {
    if (isWithdrawn(draft) || !isLaterMessage(membership, statusPrecedence(draft))) continue;
    // A correction may be about one of several final results.
    if (isBelowFinal(draft) || newest.content['status'] === 'final')
      leave(draft, membership, by, settling, isWithdrawn(newest));
  }
}

/**
 * Lists a result below final beside a final one of an equal code in one order. The keys do not show whether they are one result.
 * They have one time, or one report in which the final result is new: the parts of a tolerance test arrive one by one.
 */
function notePreliminary(observations: readonly Stating[], stated: ReadonlySet<Draft>, settling: SettlingRecord): void {
  const { results, patientId, context } = settling;
  const inFinal = observations.filter(({ report }) => report !== undefined && isFinal(report));
  const orders = new Map(inFinal.map(({ key }) => [JSON.stringify([key.filler?.value, key.placer?.value]), key]));
  const known = new Set([...orders.values()].flatMap((key) => results.ofOrder('Observation', patientId, key)));
  for (const each of withoutNumber(inFinal, settling)) known.add(each);
  const unstated = [...known].filter(({ draft }) => !stated.has(draft) && !isWithdrawn(draft));
  if (unstated.length === 0) return;
  const names = new Map<string, Stating>();
  for (const each of inFinal) for (const name of namesOfStatement(each)) names.set(name, each);
  const reports = new Set(observations.flatMap(({ report }) => report ?? []));
  const reportOf = new Map(
    [...reports].flatMap((report) => resultsOf(report, settling).map((each) => [each, report.id] as const)),
  );
  const isNoted = new Set<Draft>();
  for (const other of unstated) {
    const observed = observedBy(other.key);
    const by = namesOfStored(other, observed, reportOf.get(other.draft))
      .map((name) => names.get(name))
      .find((each) => each !== undefined && isEqualCode(observedBy(each.key), observed));
    if (by === undefined) continue;
    const below = isBelowFinal(other.draft) ? other.draft : by.draft;
    const final = below === by.draft ? other.draft : by.draft;
    const isLeft =
      isBelowFinal(below) && isFinal(final) && isLaterMessage(finalPrecedence(final), statusPrecedence(below));
    if (!isLeft || isNoted.has(below) || (below === by.draft && by.isKnown)) continue;
    isNoted.add(below);
    const at = locate(by.segment);
    note(context, 'W', '205', at, ERROR_REASONS['preliminary-left'], 'preliminary-left');
    const about = `Observation/${below.id}`;
    context.attend({ kind: 'preliminary-left', patients: [patientId], about, detail: { at, final: final.id } });
  }
}

/** A result of a message or of merged records. */
interface Stating extends Pick<FiledStatement, 'key' | 'draft'> {
  readonly segment: Segment;
  readonly isKnown: boolean;
  readonly report: Draft | undefined;
}

/** Stored results of the reports without an order number. */
function withoutNumber(inFinal: readonly Stating[], settling: SettlingRecord): FiledResult[] {
  const reports = new Set(inFinal.flatMap(({ key, report }) => (hasNumber(key) ? [] : (report ?? []))));
  if (reports.size === 0) return [];
  const reported = new Set([...reports].flatMap((report) => resultsOf(report, settling)));
  return settling.results.ofPatient('Observation', settling.patientId).filter(({ draft }) => reported.has(draft));
}

/** The names under which a result of the message may be that of a stored one. */
function namesOfStatement({ key, isKnown, report }: Stating): string[] {
  const scopes = [`at ${key.at}`, ANY_TIME, ...(isKnown || report === undefined ? [] : [`in ${report.id}`])];
  return namesIn(scopes, observedBy(key));
}

function namesOfStored({ at }: FiledResult, observed: Observed, report: string | undefined): string[] {
  const times = at === '' ? [ANY_TIME] : [`at ${at}`, 'at '];
  return namesIn([...times, ...(report === undefined ? [] : [`in ${report}`])], observed);
}

const ANY_TIME = 'at any time';

const namesIn = (scopes: readonly string[], observed: Observed): string[] =>
  scopes.flatMap((scope) => codeNames(observed).map((name) => `${scope} ${observed.parent} ${name}`));

/** A result that is entered in error leaves its report, with its document, also when an older message states it again. */
function removeFromReports({ drafts, results, patientId }: SettlingRecord): void {
  const inError = results
    .ofPatient('Observation', patientId)
    .filter(({ draft }) => draft.content['status'] === 'entered-in-error');
  if (inError.length === 0) return;
  const gone = new Set<Json | undefined>(inError.map(({ draft }) => `Observation/${draft.id}`));
  for (const { draft } of results.ofPatient('DiagnosticReport', patientId)) {
    for (const element of ['result', 'presentedForm']) {
      const { [element]: list, ...content } = draft.content;
      const items = objectsOf(list);
      const kept = items.filter(({ reference, url }) => !gone.has(reference ?? url));
      if (kept.length < items.length)
        drafts.rewrite(draft, kept.length === 0 ? content : { ...content, [element]: kept });
    }
  }
}
