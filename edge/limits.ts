/**
 * The work that one request may cause, by the name that an error contains. `npm run generate` makes the table in
 * edge/docs/behaviour.md, Limits of one FHIR request, from it. A retry would be rejected too, so the answer is never a retryable one.
 */
import { Fault } from '../shared/fault.ts';

interface Limit {
  readonly most: number;
  /** Completes "may have 64 …". */
  readonly of: string;
  /** Completes "Instead, …"; without it the text has none. */
  readonly instead?: string;
}

const SEARCHES = 'send several searches';
const BUNDLES = 'send several Bundles';
const REQUESTS = 'send several requests';

export const LIMITS = {
  'search-parameters': { most: 64, of: 'parameters in a search or condition', instead: SEARCHES },
  'parameter-values': { most: 500, of: 'alternative values of a parameter', instead: SEARCHES },
  'search-values': { most: 1000, of: 'values of all parameters of a search or condition', instead: SEARCHES },
  // PostgreSQL scans an index for each name.
  'search-names': { most: 20, of: 'names that a search or condition looks for', instead: SEARCHES },
  // A _has that finds as many as `has-matches` takes PostgreSQL 40 ms, and 40 ms more to be counted.
  'related-parameters': {
    most: 30,
    of: 'chained parameters, _has, _revinclude and targets of Provenance in a request',
    instead: REQUESTS,
  },
  'chained-patients': {
    most: 100,
    of: 'patients that the chained parameters of a search find',
    instead: 'chain more parameters, or search Patient first',
  },
  'has-matches': {
    most: 10_000,
    of: 'resources that a _has finds',
    instead: 'search these resources, with _include of the patient',
  },
  // Each counts as at least an equal part of a page's bytes (store/search/related.ts).
  'reverse-included': {
    most: 1000,
    of: 'resources, or 8 MiB of them, that _revinclude adds to a patient',
    instead: 'search them with patient=[id]',
  },
  'bundle-entries': { most: 1000, of: 'entries in a Bundle', instead: BUNDLES },
  'bundle-reads': { most: 100, of: 'entries with GET in a Bundle', instead: BUNDLES },
  // The gateway reads each resource completely before it applies the patch.
  'bundle-patches': { most: 100, of: 'entries with PATCH in a Bundle', instead: BUNDLES },
  // PostgreSQL undoes each separately if it fails, which costs as much as the write.
  'batch-lookups': {
    most: 500,
    of: 'entries with PUT or ifNoneExist in a batch',
    instead: 'send a transaction, or several batches',
  },
  // Two for each entry.
  'bundle-values': {
    most: 2000,
    of: 'values in all searches and conditions of a Bundle, and as many in its conditional references',
    instead: BUNDLES,
  },
  'bundle-names': { most: 500, of: 'names in all searches and conditions of a Bundle', instead: BUNDLES },
  // No index serves them: PostgreSQL reads all names of the site for each.
  'bundle-short-names': {
    most: 20,
    of: 'names without three letters or digits in a row in all searches and conditions of a Bundle',
    instead: BUNDLES,
  },
  // Some 5 ns each.
  'bundle-comparisons': {
    most: 100_000_000,
    of: 'characters of names, and identifiers and codes, that the conditions of a Bundle compare with its entries',
    instead: BUNDLES,
  },
  // The gateway stores or searches them one by one; patients usually have a few.
  'list-items': { most: 1000, of: 'identifiers, names, telecoms or addresses of a resource' },
  // The statement that writes the Group locks each of them.
  'group-members': { most: 10_000, of: 'members of a Group', instead: 'write several Groups' },
  // Ten for each entry that a Bundle may have.
  'indexed-values': { most: 10_000, of: 'searchable identifiers and codes that a request writes', instead: REQUESTS },
  // PostgreSQL writes an index entry for each, in 3 to 6 µs. A patient with a Japanese name in three scripts has 171.
  'indexed-names': { most: 150_000, of: 'characters of searchable names that a request writes', instead: REQUESTS },
  // All connections of PostgreSQL share one table of locks.
  'locked-identifiers': {
    most: 5000,
    of: 'different identifiers in the patients and conditions of a request',
    instead: REQUESTS,
  },
  // As many as a Bundle may have entries.
  'patch-operations': { most: 1000, of: 'operations of a patch', instead: 'send several patches, or an update' },
  // Copies of copies grow without bound.
  'patch-carried': {
    most: 2 * 1024 * 1024,
    of: 'characters and values that the copy and move operations of a request carry',
    instead: REQUESTS,
  },
  // Each change copies its containers.
  'patch-copies': {
    most: 10_000_000,
    of: 'items of the lists and objects (a member counts 64) that the operations of a request change',
    instead: REQUESTS,
  },
} as const satisfies Readonly<Record<string, Limit>>;

export type LimitName = keyof typeof LIMITS;

/** The message for a request beyond the limit. */
export function limitMessage(name: LimitName): string {
  const { most, of, instead }: Limit = LIMITS[name];
  const advice = instead === undefined ? '' : ` Instead, ${instead}.`;
  return `More than ${most} ${of}: the limit ${name}.${advice}`;
}

/** Counts the work of one request, or of one search. */
export class Budget {
  readonly #spent = new Map<LimitName, number>();

  /**
   * @param at the place of the last part, for the error
   * @throws Fault `invalid` (`too-costly`) with the limit's name
   */
  spend(name: LimitName, amount = 1, at?: string): void {
    const spent = (this.#spent.get(name) ?? 0) + amount;
    this.#spent.set(name, spent);
    if (spent <= LIMITS[name].most) return;
    const message = limitMessage(name);
    const code = 'too-costly';
    throw new Fault('invalid', message, { code, issues: at === undefined ? [] : [{ code, message, at }] });
  }
}
