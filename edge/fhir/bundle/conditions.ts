/** The conditions of a transaction, in the order in which they are resolved (FHIR R4 http, 3.1.0.11.2). */
import type { Budget } from '../../limits.ts';
import { comparisonsOf, matchesWrite } from '../../store/search/kinds.ts';
import type { Condition } from '../../store/transaction.ts';
import type { PlannedWrite } from '../plan-write.ts';
import type { ReferenceCondition } from './settle.ts';

/** A condition and the entry it belongs to. */
export interface PlacedCondition {
  readonly condition: Condition;
  readonly at: string;
}

export interface PlacedWrite {
  readonly at: string;
  readonly planned: PlannedWrite;
}

/** The ids, or placeholders, of the entries that the condition will find once they are written. */
export function localMatches(condition: Condition, among: readonly PlannedWrite[], budget: Budget): string[] {
  return among
    .filter(({ type, write }) => {
      if (type !== condition.type) return false;
      budget.spend('bundle-comparisons', comparisonsOf(write, condition.criteria));
      return matchesWrite(write, condition.criteria);
    })
    .map(({ write }) => write.id);
}

function ownConditions(
  writes: readonly PlacedWrite[],
  before: readonly PlacedWrite[],
  budget: Budget,
): PlacedCondition[] {
  const earlier = before.map(({ planned }) => planned);
  return writes.flatMap(({ at, planned }) => {
    const { condition } = planned;
    const local = condition === null ? [] : localMatches(condition, earlier, budget);
    earlier.push(planned);
    return condition === null ? [] : [{ at, condition: { ...condition, local } }];
  });
}

/**
 * Creates, then updates, then references. A create also finds the creates before it, an update all creates and the
 * updates before it, a reference everything.
 */
export function placeConditions(
  creates: readonly PlacedWrite[],
  updates: readonly PlacedWrite[],
  references: readonly ReferenceCondition[],
  budget: Budget,
): PlacedCondition[] {
  const all = [...creates, ...updates].map(({ planned }) => planned);
  return [
    ...ownConditions(creates, [], budget),
    ...ownConditions(updates, creates, budget),
    ...references.map(({ at, ...condition }) => ({
      at,
      condition: { ...condition, local: localMatches(condition, all, budget) },
    })),
  ];
}
