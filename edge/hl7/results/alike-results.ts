/**
 * Finds stored results that a message probably means although their keys differ (`isAlike`). A match counts only if each of the
 * two is the only one for the other.
 */
import { indexBy } from '../../../shared/index-by.ts';
import type { Draft } from '../mapping/drafts.ts';
import { isNear, type Asked, type FilingRequest } from './asked-results.ts';
import type { FiledResult, FiledResults } from './filed-results.ts';
import { isAlike, observedBy, type Compared, type Observed, type ResultKey } from './result-key.ts';

/** More results of one code in an order are never the only one. This bounds the comparisons of a message. */
const MAX_COMPARED = 50;

interface Stored extends Compared {
  readonly known: FiledResult;
}

/** @param used stored results that the message states already */
export function findAlike(
  asked: readonly Asked[],
  used: ReadonlySet<Draft>,
  patient: Draft,
  { results, clock }: Pick<FilingRequest, 'results' | 'clock'>,
): ReadonlyMap<Asked, FiledResult> {
  const queries = asked.map((each): AlikeQuery<Asked> => {
    const [first] = each.group;
    const { statement, key } = first;
    // OBR with equal keys are one report.
    const size = statement.type === 'DiagnosticReport' ? 1 : each.group.length;
    return { each, type: statement.type, key, size, isNear: (known) => isNear(known, first, clock) };
  });
  return pairAlike(queries, leftInOrders(asked, used, patient, results));
}

/** A result that may be equal to a stored one. */
export interface AlikeQuery<Each> {
  readonly each: Each;
  readonly type: string;
  readonly key: ResultKey;
  /** The number of results with this key. */
  readonly size: number;
  readonly isNear: (known: FiledResult) => boolean;
}

/** @returns the pairs of which each is the only one for the other */
export function pairAlike<Each>(
  queries: readonly AlikeQuery<Each>[],
  left: readonly FiledResult[],
): ReadonlyMap<Each, FiledResult> {
  const stored = indexBy(
    left.map((known): Stored => ({ known, key: known.key, observed: observedBy(known.key) })),
    ({ known: { draft }, observed }) => codeNames(observed).map((name) => `${draft.type} ${name}`),
  );
  const found = new Map<Each, FiledResult>();
  const suitors = new Map<FiledResult, number>();
  for (const { each, type, key, size, isNear: isNearTo } of stored.size === 0 ? [] : queries) {
    const compared = { key, observed: observedBy(key) };
    const candidates = new Set(codeNames(compared.observed).flatMap((name) => stored.get(`${type} ${name}`) ?? []));
    if (candidates.size > MAX_COMPARED) continue;
    const alike = [...candidates]
      .filter((candidate) => isAlike(candidate, compared) && isNearTo(candidate.known))
      .map(({ known }) => known);
    for (const known of alike) suitors.set(known, (suitors.get(known) ?? 0) + size);
    const [only] = alike;
    if (alike.length === 1 && only !== undefined) found.set(each, only);
  }
  for (const [each, known] of found) if (suitors.get(known) !== 1) found.delete(each);
  return found;
}

/** The results that are left in the orders of the message. */
function leftInOrders(
  asked: readonly Asked[],
  used: ReadonlySet<Draft>,
  patient: Draft,
  results: FiledResults,
): FiledResult[] {
  const orders = new Map(
    asked.map(({ group: [{ statement, key }] }) => [
      JSON.stringify([statement.type, key.filler?.value, key.placer?.value]),
      { type: statement.type, key },
    ]),
  );
  const left = [...orders.values()].flatMap(({ type, key }) => results.ofOrder(type, patient.id, key));
  return [...new Set(left)].filter(({ draft }) => !used.has(draft));
}

/** The names under which results of equal codes are indexed. */
export const codeNames = ({ codes, text }: Observed): string[] =>
  codes.size === 0 ? [JSON.stringify([text])] : [...codes].map((coding) => JSON.stringify(coding));
