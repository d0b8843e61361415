/**
 * The results of a parent (OBR-26): susceptibilities of an organism. When the parent becomes another organism, or is withdrawn, its
 * older results do not stay (HL7 v2.5.1 §4.5.3.26). They do not return with the first organism, since the sender has not stated
 * them for this isolate again. The outcome depends on all statements about the parent, so each order of arrival ends alike.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import { indexBy } from '../../../shared/index-by.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { join } from '../mapping/key.ts';
import { valueText } from '../precedence/value-text.ts';
import { fixed, IN_ERROR } from '../precedence/contribution.ts';
import {
  heldHistory,
  historyOf,
  precedenceIn,
  saidWith,
  saidWithdrawn,
  valueIn,
  type Said,
} from '../precedence/history.ts';
import { belowFinal, isBelowFinalTier, isLater, timeMsOf, type Precedence } from '../precedence/precedence.ts';
import { FORMER, waitingName, WITHDRAWN } from '../precedence/stated-value.ts';
import type { FiledStatement } from './file-results.ts';
import type { FiledResult } from './filed-results.ts';
import { isAssumed, isSameNumber } from './order-number.ts';
import { observedBy, type ResultKey } from './result-key.ts';
import { isFinal, isMissing, statusPrecedence } from './result-state.ts';

/** A newer statement about the parent of a result, with another value than that of the result. */
interface Change {
  readonly precedence: Precedence;
  /** The parent may have the value of the result again. */
  readonly isAgain: boolean;
}

/** A result whose parent has changed since. */
export interface FormerResult extends Change {
  readonly draft: Draft;
  /** Before the sender's withdrawal of its parent. */
  readonly wasFinal: boolean;
  readonly by: Segment;
}

const EMPTY = valueText({});

/** Remembers the values of results that have had several. */
export function rememberValues(observations: readonly FiledStatement[], drafts: Drafts): void {
  for (const { draft, was, value, before, status, statement, precedence } of observations) {
    if (status !== 'known') continue;
    const { isWithdrawal } = statement.timing.standing;
    if (value === before && !isWithdrawal && !was.remembered.registers.has(FORMER)) continue;
    const said = isWithdrawal ? [saidWithdrawn(precedence)] : value === EMPTY ? [] : [saidWith(precedence, value)];
    remember(draft, historyOf([was, draft], ...said), drafts);
  }
}

/** Remembers that a result was withdrawn together with another one. */
export const rememberWithdrawal = (draft: Draft, precedence: Precedence, drafts: Drafts): void =>
  remember(draft, historyOf([draft], saidWithdrawn(belowFinal(precedence))), drafts);

function remember(draft: Draft, history: readonly Said[], drafts: Drafts): void {
  const held = heldHistory(history);
  const known = draft.remembered.registers.get(FORMER)?.held;
  if (held !== undefined && JSON.stringify(held) !== JSON.stringify(known)) drafts.remember(draft, FORMER, '', held);
}

/**
 * The results whose parent has changed since, the parents first.
 *
 * @param all the patient's observations
 * @param by the segment of the message that states, withdraws or moves a result. Grows.
 * @param repeated results that the message states with their stored value
 */
export function formerResults(
  all: readonly FiledResult[],
  by: Map<Draft, Segment>,
  repeated: ReadonlySet<Draft>,
  drafts: Drafts,
): readonly FormerResult[] {
  const open = new Set(all.filter(({ key }) => observedBy(key).parent !== ''));
  const former: FormerResult[] = [];
  if (open.size === 0) return former;
  const named = indexBy(all, ({ key }) => parentNames(key));
  // An organism has many susceptibilities.
  const histories = new Map<Draft, readonly Said[]>();
  const historyOfParent = ({ draft }: FiledResult): readonly Said[] => {
    const history = histories.get(draft) ?? whileBelowFinal(historyOf([draft]));
    histories.set(draft, history);
    return history;
  };
  const settle = (each: FiledResult): void => {
    if (!open.delete(each)) return;
    const { draft, key } = each;
    const found = named.get(observedBy(key).parent) ?? [];
    const parents = found.filter((parent) => parent !== each && isOfOrder(key, parent.key));
    parents.forEach(settle);
    const [cause] = [each, ...parents].flatMap((one) => by.get(one.draft) ?? []);
    if (cause === undefined) return;
    const value = key.parent?.value ?? '';
    const histories = parents.map(historyOfParent);
    const fitting = value === '' ? [] : histories.filter((history) => history.some((said) => saysValue(said, value)));
    const own = ownPrecedence(draft);
    const change = changeSince(own, value, { histories, fitting });
    const wasFinal = isFinal(draft);
    withdrawWith(fitting.length > 0 ? fitting : histories, draft, drafts);
    const isKnown = historyOf([draft]).some((said) => valueIn(said) === '~' && instantOf(said) > instantOf(own));
    // A late statement may show that the result was not former. Only the sender can state it again.
    const isAgain = change?.isAgain ?? (isKnown && isMissing(draft));
    if (change === undefined && !isAgain) return;
    // It was listed when its parent first changed, or had the first value again.
    const isNoNews = isFinal(draft) || parents.every((parent) => !by.has(parent.draft) || repeated.has(parent.draft));
    if (isKnown && isNoNews && !by.has(draft)) return;
    if (change !== undefined && !isKnown) rememberWithdrawal(draft, change.precedence, drafts);
    by.set(draft, cause);
    former.push({ precedence: change?.precedence ?? own, isAgain, draft, wasFinal, by: cause });
  };
  [...open].forEach(settle);
  return former;
}

/** A final result is not withdrawn together with another one. */
const whileBelowFinal = (history: readonly Said[]): readonly Said[] =>
  history.filter(
    (said, at) =>
      valueIn(said) !== '~' ||
      !isBelowFinalTier(said) ||
      history.slice(0, at).every((each) => isBelowFinalTier(each) || valueIn(each) === '~'),
  );

const saysValue = (said: Said, value: string): boolean => valueIn(said).includes(JSON.stringify(value).slice(0, -1));

/**
 * The sender's withdrawal of an organism withdraws its results. A number may lead to a reflex test that is valid without it, so its
 * withdrawal does not.
 */
function withdrawWith(histories: readonly (readonly Said[])[], draft: Draft, drafts: Drafts): void {
  const withdrawals = histories.map((history) =>
    history.some((said) => valueIn(said).length > 1)
      ? history.findLast((said) => valueIn(said) === '~' && !isBelowFinalTier(said))
      : undefined,
  );
  const [said] = withdrawals.includes(undefined)
    ? []
    : withdrawals.flatMap((each) => each ?? []).toSorted((a, b) => (a < b ? -1 : 1));
  const known = draft.remembered.registers.get(WITHDRAWN)?.precedence ?? '';
  if (said === undefined || precedenceIn(said) <= known) return;
  remember(draft, historyOf([draft], said), drafts);
  const code = fixed('code', draft.content['code'] ?? null);
  drafts.apply(draft, [...IN_ERROR, code], precedenceIn(said), true, 'OBX');
}

/** The newest statement by the sender: a withdrawal together with another result changes only the status. */
function ownPrecedence(draft: Draft): Precedence {
  const [code, waiting] = ['code', waitingName('code')].map((name) => draft.remembered.registers.get(name)?.precedence);
  return waiting ?? code ?? statusPrecedence(draft);
}

/** Time and MSH-7. The rank of a status compares only statements about one result. */
function instantOf(said: Said): string {
  const [, time = '', , sent = ''] = said.split('|');
  return time + sent;
}

/**
 * @param own the precedence of the result
 * @param value OBR-26.3; `''` for none. Without it, the parent has the value that it had at the time of the result.
 * @param parents the histories of the results that may be the parent, and of those that have had the value
 */
function changeSince(
  own: Precedence,
  value: string,
  { histories, fitting }: Readonly<Record<'histories' | 'fitting', readonly (readonly Said[])[]>>,
): Change | undefined {
  const says = (said: Said): boolean => saysValue(said, value);
  // A sender may name the organism by another text than OBX-5: then the value does not distinguish.
  const isNamed = fitting.length > 0;
  const changes = (isNamed ? fitting : histories).map((history): Change | undefined => {
    const last = history.at(-1) ?? '';
    const at = history.findLastIndex((said) => (isNamed ? !says(said) : valueIn(said) !== valueIn(last)));
    const [other, said] = [history[at], history[isNamed ? at : at + 1]];
    if (other === undefined || said === undefined) return undefined;
    // Without a value, the organism and its susceptibilities of one minute may be in two messages.
    const isOlder = isNamed ? instantOf(own) < instantOf(said) : timeMsOf(own) < timeMsOf(said);
    if (!isOlder) return undefined;
    return {
      precedence: isLater(said, own) ? precedenceIn(said) : own,
      isAgain: isNamed ? says(last) : histories.length > 1 || timeMsOf(other) > timeMsOf(own),
    };
  });
  // With a value, one parent that has it is enough; without a value, each of them may be the parent.
  if (isNamed && changes.includes(undefined)) return undefined;
  return changes
    .flatMap((change) => change ?? [])
    .toSorted((a, b) => (isLater(a.precedence, b.precedence) ? 1 : -1))[0];
}

/** The names by which OBR-26 refers to a result: each of its codes with OBX-4. */
function parentNames(key: ResultKey): string[] {
  const { codes, sub } = observedBy(key);
  return [...new Set(codes.values())].map((code) => join(code, sub));
}

/** Without OBR-29 the child has its parent's order number. Numbers without an authority are of one sender. */
function isOfOrder(child: ResultKey, parent: ResultKey): boolean {
  const isNamed = (number: 'filler' | 'placer'): boolean | undefined => {
    const [value, own] = [child.parent?.[number] ?? '', parent[number]];
    if (value === '' || own === null) return undefined;
    return isSameNumber({ value, authority: isAssumed(own, parent.own) ? child.own : own.authority }, own);
  };
  const isSame = (number: 'filler' | 'placer'): boolean => {
    const [own, other] = [child[number], parent[number]];
    return own !== null && other !== null && isSameNumber(own, other);
  };
  return isNamed('filler') ?? isNamed('placer') ?? (isSame('filler') || isSame('placer'));
}
