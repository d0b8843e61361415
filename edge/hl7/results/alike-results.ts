/**
 * Finds stored results that a message probably means although their keys differ (`isAlike`). A match counts only if each of the
 * two is the only one for the other.
 */
import { indexBy } from '../../../shared/index-by.ts';
import type { Draft } from '../mapping/drafts.ts';
import { isNear, type Asked, type FilingRequest } from './asked-results.ts';
import type { FiledResult, FiledResults } from './filed-results.ts';
import { isAlike, observedBy, type Compared, type Observed } from './result-key.ts';

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
  const stored = storedByCode(asked, used, patient, results);
  const found = new Map<Asked, FiledResult>();
  if (stored.size === 0) return found;
  const suitors = new Map<FiledResult, number>();
  for (const each of asked) {
    const [first] = each.group;
    const { statement, key } = first;
    const compared = { key, observed: observedBy(key) };
    const candidates = new Set(
      codeNames(compared.observed).flatMap((name) => stored.get(`${statement.type} ${name}`) ?? []),
    );
    if (candidates.size > MAX_COMPARED) continue;
    const alike = [...candidates]
      .filter((candidate) => isAlike(candidate, compared) && isNear(candidate.known, first, clock))
      .map(({ known }) => known);
    // OBR with equal keys are one report.
    const size = statement.type === 'DiagnosticReport' ? 1 : each.group.length;
    for (const known of alike) suitors.set(known, (suitors.get(known) ?? 0) + size);
    const [only] = alike;
    if (alike.length === 1 && only !== undefined) found.set(each, only);
  }
  for (const [each, known] of found) if (suitors.get(known) !== 1) found.delete(each);
  return found;
}

/** The results that are left in the orders of the message, by type and code. */
function storedByCode(
  asked: readonly Asked[],
  used: ReadonlySet<Draft>,
  patient: Draft,
  results: FiledResults,
): ReadonlyMap<string, Stored[]> {
  const orders = new Map(
    asked.map(({ group: [{ statement, key }] }) => [
      JSON.stringify([statement.type, key.filler?.value, key.placer?.value]),
      { type: statement.type, key },
    ]),
  );
  const left = new Set(
    [...orders.values()]
      .flatMap(({ type, key }) => results.ofOrder(type, patient.id, key))
      .filter(({ draft }) => !used.has(draft)),
  );
  const compared = [...left].map((known): Stored => ({ known, key: known.key, observed: observedBy(known.key) }));
  return indexBy(compared, ({ known: { draft }, observed }) =>
    codeNames(observed).map((name) => `${draft.type} ${name}`),
  );
}

/** The names under which results of equal codes are indexed. */
export const codeNames = ({ codes, text }: Observed): string[] =>
  codes.size === 0 ? [JSON.stringify([text])] : [...codes].map((coding) => JSON.stringify(coding));
