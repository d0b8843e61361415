/**
 * The results of a parent (OBR-26): susceptibilities of an organism. When the parent becomes another organism, or is withdrawn, its
 * older results do not stay (HL7 v2.5.1 §4.5.3.26). They do not return with the first organism, since the sender has not stated
 * them for this isolate again. The outcome depends on all statements about the parent, so each order of arrival ends alike.
 */
import { indexBy } from '../../../shared/index-by.ts';
import { quietly, type MapContext } from '../mapping/context.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { join } from '../mapping/key.ts';
import { valueText } from '../precedence/value-text.ts';
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
import { FORMER } from '../precedence/stated-value.ts';
import type { FiledStatement } from './file-results.ts';
import type { FiledResult } from './filed-results.ts';
import { isAssumed, isSameNumber } from './order-number.ts';
import { observedBy, type ResultKey } from './result-key.ts';
import { isMissing, isWithdrawn, statusPrecedence } from './result-state.ts';

/** A newer statement about the parent of a result, with another value than that of the result. */
interface Change {
  readonly precedence: Precedence;
  /** The parent may have the value of the result again. */
  readonly isAgain: boolean;
  /** The sender withdrew the organism. A reflex test may outlive the number that led to it, so a number does not count. */
  readonly isOfNone: boolean;
}

/** A result whose parent has changed since. */
export interface FormerResult extends Change {
  readonly draft: Draft;
  /** The change was not known before, or the parent has the value again only now. */
  readonly isNew: boolean;
  readonly by: FiledStatement;
}

const EMPTY = valueText({});

/** Remembers the values of results that have had several. */
export function rememberValues(observations: readonly FiledStatement[], drafts: Drafts, context: MapContext): void {
  for (const { draft, was, before, status, result, statement, precedence } of observations) {
    if (status !== 'known') continue;
    const value = result.value(quietly(context));
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
 * @param by the statement of the message that states or withdraws a result. Grows.
 */
export function formerResults(
  all: readonly FiledResult[],
  by: Map<Draft, FiledStatement>,
  drafts: Drafts,
): readonly FormerResult[] {
  const open = new Set(all.filter(({ key }) => observedBy(key).parent !== ''));
  const former: FormerResult[] = [];
  if (open.size === 0) return former;
  const named = indexBy(all, ({ key }) => parentNames(key));
  // An organism has many susceptibilities.
  const histories = new Map<Draft, readonly Said[]>();
  const historyOfParent = ({ draft }: FiledResult): readonly Said[] => {
    const history = histories.get(draft) ?? historyOf([draft]);
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
    const own = ownPrecedence(draft);
    const change = changeSince(own, key.parent?.value ?? '', parents.map(historyOfParent));
    if (change === undefined) return;
    const isKnown = historyOf([draft]).some((said) => valueIn(said) === '~' && instantOf(said) > instantOf(own));
    const isAgainNow = change.isAgain && parents.some((parent) => hasChanged(by.get(parent.draft)));
    if (!isKnown) rememberWithdrawal(draft, change.precedence, drafts);
    by.set(draft, cause);
    former.push({ ...change, draft, isNew: !isKnown || isAgainNow, by: cause });
  };
  [...open].forEach(settle);
  return former;
}

/** The precedence of what the sender stated: a withdrawal together with another result changes only the status. */
const ownPrecedence = (draft: Draft): Precedence =>
  (isMissing(draft) ? draft.remembered.registers.get('code')?.precedence : undefined) ?? statusPrecedence(draft);

/** Time and MSH-7. The rank of a status compares only statements about one result. */
const instantOf = (said: Said): string =>
  said
    .split('|')
    .filter((_, at) => at % 2 === 1)
    .join('|');

const hasChanged = (by: FiledStatement | undefined): boolean =>
  by !== undefined && (by.before !== valueText(by.draft.content) || isWithdrawn(by.was) !== isWithdrawn(by.draft));

/**
 * @param own the precedence of the result
 * @param value OBR-26.3; `''` for none. Without it, the parent has the value that it had at the time of the result.
 * @param parents the histories of the results that may be the parent
 */
function changeSince(own: Precedence, value: string, parents: readonly (readonly Said[])[]): Change | undefined {
  const start = JSON.stringify(value).slice(0, -1);
  const says = (said: Said): boolean => valueIn(said).includes(start);
  const fitting = value === '' ? [] : parents.filter((history) => history.some(says));
  // A sender may name the organism by another text than OBX-5: then the value does not distinguish.
  const isNamed = fitting.length > 0;
  const changes = (isNamed ? fitting : parents).map((history): Change | undefined => {
    const last = history.at(-1) ?? '';
    const at = history.findLastIndex((said) => (isNamed ? !says(said) : valueIn(said) !== valueIn(last)));
    const [other, said] = [history[at], history[isNamed ? at : at + 1]];
    if (other === undefined || said === undefined) return undefined;
    // Without a value, the organism and its susceptibilities of one minute may be in two messages.
    const isOlder = isNamed ? instantOf(own) < instantOf(said) : timeMsOf(own) < timeMsOf(said);
    if (!isOlder) return undefined;
    const isOrganism = history.some((each) => valueIn(each).length > 1);
    return {
      precedence: isLater(said, own) ? precedenceIn(said) : own,
      isAgain: isNamed ? says(last) : parents.length > 1 || timeMsOf(other) > timeMsOf(own),
      isOfNone: valueIn(said) === '~' && !isBelowFinalTier(said) && isOrganism,
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
