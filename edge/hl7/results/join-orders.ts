/**
 * A message with both order numbers shows that results under the placer's number and results under the filler's number are of one
 * order. Equal ones are joined. The others get the placer's number, so that a later correction or withdrawal that has only this
 * number finds them. They do not get a filler's number, because a placer's order may have several.
 */
import { sortedJson, type JsonObject } from '../../../shared/json.ts';
import type { Draft } from '../mapping/drafts.ts';
import { referringTo } from '../mapping/references.ts';
import { union } from '../precedence/apply.ts';
import type { Asked, FilingRequest, Keyed } from './asked-results.ts';
import type { FiledResult, FiledResults } from './filed-results.ts';
import { isSameNumber, type OrderNumber } from './order-number.ts';
import type { ResultKey } from './result-key.ts';

/** Two stored results that are one. */
export interface JoinedResults {
  readonly kept: FiledResult;
  readonly gone: FiledResult;
}

/** Gives results that have only the filler's number the placer's number of stored results of their order and time. */
export function completeOrders(keyed: readonly Keyed[], patient: Draft, results: FiledResults): readonly Keyed[] {
  const fillers = new Map(
    keyed.flatMap(({ key: { filler, placer } }) =>
      filler !== null && placer === null ? [[JSON.stringify(filler), filler] as const] : [],
    ),
  );
  if (fillers.size === 0) return keyed;
  const stored = [...fillers.values()].flatMap((filler) =>
    TYPES.flatMap((type) => results.ofOrder(type, patient.id, { filler, placer: null })),
  );
  const completed = completionBy([...new Set(stored)].map(({ key }) => key));
  return keyed.map((each) => ({ ...each, key: completed(each.key) }));
}

/**
 * A function that gives a key with only the filler's number the placer's number.
 *
 * @param keys those that have both numbers show it, if they have equal times and name only one placer's number
 */
export function completionBy(keys: readonly ResultKey[]): (key: ResultKey) => ResultKey {
  const orders = Map.groupBy(
    keys.filter(({ filler, placer }) => filler !== null && placer !== null),
    ({ filler, at }) => `${filler?.value} ${at}`,
  );
  return (key) => {
    const { filler, placer, at } = key;
    if (filler === null || placer !== null) return key;
    const same = (orders.get(`${filler.value} ${at}`) ?? []).filter((other) => isEqual(other.filler, filler));
    const [first, ...others] = same.flatMap((other) => other.placer ?? []);
    return first === undefined || others.some((other) => !isEqual(other, first)) ? key : { ...key, placer: first };
  };
}

/** Joins the records of each pair. The patient's other results then refer to the kept record. */
export function joinOrders(asked: Asked[], patient: Draft, { drafts, results }: FilingRequest): JoinedResults[] {
  const left = leftOf(asked, patient, results);
  const repeated = asked.flatMap((each, at) => {
    const pairs = pairsOf(each);
    const gone = new Set(pairs.map((pair) => pair.gone));
    if (gone.size > 0) asked[at] = { ...each, candidates: each.candidates.filter((known) => !gone.has(known)) };
    return pairs;
  });
  const joined = [...repeated, ...left.pairs];
  if (joined.length > 0) joinRecords(joined, patient, { drafts, results });
  // Each change of a key makes the next look-up read all results, so all look-ups are before.
  for (const { known, placer } of left.completed) results.refile(known, { ...known.key, placer });
  return joined;
}

function joinRecords(
  joined: readonly JoinedResults[],
  patient: Draft,
  { drafts, results }: Pick<FilingRequest, 'drafts' | 'results'>,
): void {
  const stays = new Map(joined.map(({ kept, gone }) => [nameOf(gone.draft), nameOf(kept.draft)]));
  for (const { kept, gone } of joined) {
    drafts.absorb(kept.draft, { ...gone.draft, content: referringTo(gone.draft.content, stays) });
    const { _status: _, ...content } = gone.draft.content;
    drafts.rewrite(gone.draft, { ...content, status: 'entered-in-error' });
    results.remove(gone.draft);
  }
  const others = TYPES.flatMap((type) => results.ofPatient(type, patient.id));
  for (const { draft } of others) {
    const renamed = referringTo(draft.content, stays);
    if (sortedJson(renamed) !== sortedJson(draft.content)) drafts.rewrite(draft, withEachResultOnce(renamed));
  }
}

interface Left {
  readonly pairs: readonly JoinedResults[];
  readonly completed: readonly { readonly known: FiledResult; readonly placer: OrderNumber }[];
}

/** The stored results of the message's orders, at its times, that it does not repeat. */
function leftOf(asked: readonly Asked[], patient: Draft, results: FiledResults): Left {
  const pairs: JoinedResults[] = [];
  const completed: { known: FiledResult; placer: OrderNumber }[] = [];
  const repeated = new Set(asked.map(({ group: [{ statement, key }] }) => nameIn(statement.type, key)));
  const both = asked.flatMap(({ group: [{ key }] }) => {
    const { filler, placer } = key;
    return filler === null || placer === null ? [] : [{ filler, placer, at: key.at }];
  });
  for (const orders of Map.groupBy(both, ({ filler, placer }) => JSON.stringify([filler, placer])).values()) {
    const [order] = orders;
    if (order === undefined) continue;
    const { filler, placer } = order;
    const times = new Set(orders.map(({ at }) => at));
    for (const type of TYPES) {
      const left = results
        .ofOrder(type, patient.id, order)
        .filter(({ key }) => times.has(key.at) && !repeated.has(nameIn(type, key)));
      for (const equal of Map.groupBy(left, ({ key }) => nameIn(type, key)).values()) {
        const ofFiller = equal.filter(({ key }) => key.placer === null && isEqual(key.filler, filler));
        const others = equal.filter(({ key }) => key.placer !== null);
        const [kept, gone] = [ofFiller[0], others[0]];
        const isPair = ofFiller.length === 1 && others.length === 1 && gone?.key.filler === null;
        if (isPair && kept !== undefined && isEqual(gone.key.placer, placer)) pairs.push({ kept, gone });
        else if (others.length > 0) continue;
        completed.push(...ofFiller.map((known) => ({ known, placer })));
      }
    }
  }
  return { pairs, completed };
}

const isEqual = (known: OrderNumber | null, number: OrderNumber): boolean =>
  known !== null && isSameNumber(known, number);
const nameIn = (type: string, { what, at, parent }: ResultKey): string => JSON.stringify([type, what, at, parent]);

const TYPES = ['Observation', 'DiagnosticReport'] as const;
const nameOf = ({ type, id }: Draft): string => `${type}/${id}`;

function pairsOf({ group, candidates }: Asked): JoinedResults[] {
  const [{ key, statement }] = group;
  return pairsUnder(key, statement.type === 'DiagnosticReport' ? 1 : group.length, candidates);
}

/**
 * Pairs the stored results under either number of a key with both, in order, if there are as many under each number.
 *
 * @param size the number of results with the key
 */
export function pairsUnder(key: ResultKey, size: number, candidates: readonly FiledResult[]): JoinedResults[] {
  if (key.filler === null || key.placer === null) return [];
  const inOrder = (isOf: (key: ResultKey) => boolean): FiledResult[] =>
    candidates.filter((known) => isOf(known.key)).toSorted((a, b) => a.place - b.place);
  const ofFiller = inOrder(({ filler, placer }) => filler !== null && placer === null);
  const ofPlacer = inOrder(({ filler, placer }) => filler === null && placer !== null);
  if (ofFiller.length !== size || ofPlacer.length !== size) return [];
  return ofFiller.flatMap((kept, at): JoinedResults[] => {
    const gone = ofPlacer[at];
    return gone === undefined ? [] : [{ kept, gone }];
  });
}

function withEachResultOnce(content: JsonObject): JsonObject {
  const list = content['result'];
  return Array.isArray(list) ? { ...content, result: union([], list) } : content;
}
