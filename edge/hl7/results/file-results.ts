/**
 * Finds the resource of each result in a message: a stored one, or a new one beside the others (edge/docs/behaviour.md, HL7 v2,
 * Which result). An uncertain result gets a warning, an uncertain correction also an issue to review.
 */
import { ERROR_REASONS, type ErrorReason } from '../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { note, quietly, type MapContext } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import type { Statement } from '../mapping/statement.ts';
import { isAfter, messageIdOf, type Precedence } from '../precedence/precedence.ts';
import { later } from '../precedence/registers.ts';
import type { Recorded } from '../precedence/stated-value.ts';
import { findAlike } from './alike-results.ts';
import { withoutOld, type Asked, type FilingRequest, type Keyed } from './asked-results.ts';
import { choose, type Choice } from './choose.ts';
import type { FiledResult } from './filed-results.ts';
import { completeOrders, joinOrders, type JoinedResults } from './join-orders.ts';
import { closenessOf, closestOf, isUnidentified, resultKeyOf } from './result-key.ts';
import { finalPrecedence } from './result-state.ts';

/** `hl7_matches` finds at most one more. */
const MAX_EQUAL_RESULTS = 5000;

/** A result of the message, with its resource. */
export interface FiledStatement extends Keyed {
  readonly draft: Draft;
  readonly precedence: Precedence;
  readonly status: Choice<unknown>['status'];
  /** The value that the message states, and the stored one before it (`''` for a new result), as `valueText` prints them. */
  readonly value: string;
  readonly before: string;
  /** The record before the message. */
  readonly was: Recorded;
  /** A newer final message had not had it (`isMissing`). */
  readonly wasMissing: boolean;
}

/** The results of one key in a message. */
export interface FiledGroup {
  /** OBR with equal keys are one report. */
  readonly members: readonly FiledStatement[];
  /** The stored results of this key before the message. */
  readonly stored: readonly FiledResult[];
  /** The newest final statement about one of them. */
  readonly membership: Precedence;
  /** Several messages stated the results that it may mean, and it is not the newest: the order of arrival may decide. */
  readonly isBetween: boolean;
}

export interface Filing {
  readonly groups: readonly FiledGroup[];
  /** The resources of results, by the segment at which they begin. */
  readonly drafts: ReadonlyMap<Segment, Draft>;
  readonly joined: readonly JoinedResults[];
}

export function fileResults(statements: readonly Statement[], patient: Draft, request: FilingRequest): Filing {
  const keyed = statements.flatMap((statement): Keyed[] => {
    const { result } = statement;
    return result === undefined ? [] : [{ statement, result, key: resultKeyOf(result.sent, request.keyContext) }];
  });
  const nameOf = ({ statement: { type }, key: { second: _second, ...key } }: Keyed): string =>
    JSON.stringify([type, key]);
  const asked = [...Map.groupBy(completeOrders(keyed, patient, request.results), nameOf).values()].flatMap(
    ([first, ...more]) => (first === undefined ? [] : [askedOf([first, ...more], patient, request)]),
  );
  const joined = joinOrders(asked, patient, request);
  // A stored result with an unknown time belongs to a group that finds no result with its time.
  const used = new Set<Draft>();
  const groups: FiledGroup[] = [];
  const rest: Asked[] = [];
  for (const each of [...asked.filter(({ isExact }) => isExact), ...asked.filter(({ isExact }) => !isExact)]) {
    const free = each.candidates.filter(({ draft }) => !used.has(draft));
    if (free.length === 0) rest.push(each);
    else groups.push(fileEquals(each, free, used, patient, request));
  }
  const alike = findAlike(rest, used, patient, request);
  for (const each of rest) {
    const one = alike.get(each);
    groups.push(fileEquals(each, one === undefined ? [] : [one], used, patient, request));
  }
  const members = groups.flatMap((group) => group.members);
  return {
    groups,
    drafts: new Map(members.map(({ statement, draft }) => [statement.segment, draft])),
    joined,
  };
}

function askedOf(group: readonly [Keyed, ...Keyed[]], patient: Draft, { results, clock }: FilingRequest): Asked {
  const [{ statement, key }] = group;
  const all = results.of(statement.type, patient.id, key).filter((known) => closenessOf(known.key, key) !== undefined);
  const place = all.reduce((last, known) => Math.max(last, known.place), 0);
  const closest = closestOf(all, key);
  const [known] = closest;
  const isExact = known !== undefined && known.at === key.at;
  return { group, candidates: withoutOld(closest, group[0], clock), isExact, place };
}

/**
 * Files the results of one key. OBR with equal keys are one report.
 *
 * @param free stored results that may match and that the message has not stated already
 * @param used stored results that the message has stated already. Grows.
 */
function fileEquals(
  { group, candidates, isExact, place: last }: Asked,
  free: readonly FiledResult[],
  used: Set<Draft>,
  patient: Draft,
  request: FilingRequest,
): FiledGroup {
  const [first] = group;
  const { key, statement } = first;
  const { type } = statement;
  const { drafts, results, context, clock } = request;
  const isReport = type === 'DiagnosticReport';
  const stating = isReport ? [first] : group;
  const stored = isExact ? candidates : [];
  if (stored.length > MAX_EQUAL_RESULTS) {
    const message = `More than ${MAX_EQUAL_RESULTS} stored results have the order number, code and time of this one.`;
    note(context, 'E', '207', locate(statement.segment), message, 'too-many-resources');
  }
  const quiet = quietly(context);
  const sent = stating.map(({ result, statement: { timing } }) => ({
    ...result,
    value: result.value(quiet),
    isFinal: timing.standing.isFinal,
    precedence: clock.precedenceOf(timing),
  }));
  const membership = stored.reduce<Precedence>((newest, { draft }) => later(newest, finalPrecedence(draft)), '');
  const isLater = (known: FiledResult): boolean =>
    sent.some(({ precedence }) => !isAfter(precedence, known.precedence));
  const isBetween = free.some(isLater) && isOfSeveral(free);
  const choices = choose(sent, free, isUnidentified(key));

  let place = last;
  const members = choices.flatMap((choice, at): FiledStatement[] => {
    const own = stating[at] ?? first;
    const before = choice.status === 'known' ? choice.known.value : '';
    const wasMissing = choice.status === 'known' && choice.known.isMissing;
    const draft = choice.status === 'known' ? choice.known.draft : drafts.create(type, request.newId());
    if (choice.status === 'known') results.refile(choice.known, own.key);
    else results.file(draft, patient.id, own.key, (place += 1));
    const was = { content: draft.content, remembered: draft.remembered };
    used.add(draft);
    noteUncertain(choice, own.statement, draft, patient.id, context);
    return (isReport ? group : [own]).map((each) => ({
      ...each,
      draft,
      status: choice.status,
      precedence: clock.precedenceOf(each.statement.timing),
      value: sent[at]?.value ?? '',
      before,
      was,
      wasMissing,
    }));
  });
  return { members, stored, membership, isBetween };
}

/** Checks for results of several messages. Two messages end alike in both orders. */
const isOfSeveral = (results: readonly FiledResult[]): boolean =>
  new Set(results.map(({ precedence }) => messageIdOf(precedence))).size > 1 ||
  results.some(({ draft: { stored } }) => stored !== undefined && stored.version > 1);

/** @param choice for a result of the message, or of a merged record */
export function noteUncertain(
  choice: Choice<unknown>,
  { segment }: Pick<Statement, 'segment'>,
  { type, id }: Draft,
  patientId: string,
  context: Pick<MapContext, 'report' | 'attend'>,
): void {
  const { status } = choice;
  const isDoubtful = choice.status === 'known' && choice.isDoubtful === true;
  const report = (message: string, reason: ErrorReason): void =>
    note(context, 'W', '205', locate(segment), message, reason);
  if (status === 'unclear') report(ERROR_REASONS['result-unclear'], 'result-unclear');
  if (status === 'beside' || isDoubtful) {
    const message = `This text or the stored text has less than half of the lines of the other. ${isDoubtful ? 'The newer one was' : 'Both were'} kept.`;
    report(message, 'result-unclear');
  }
  if (status === 'unmatched') report(ERROR_REASONS['correction-unmatched'], 'correction-unmatched');
  if (status !== 'unmatched' && status !== 'beside' && !isDoubtful) return;
  const kind = status === 'unmatched' ? 'correction-unmatched' : 'result-unclear';
  context.attend({ kind, patients: [patientId], about: `${type}/${id}`, detail: { at: locate(segment) } });
}
