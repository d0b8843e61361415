/**
 * An interaction, prepared: what to ask the database and what to answer with the rows. Preparing does no I/O, so that a
 * request, or all entries of a bundle, are one round trip; both send the same statements.
 */
import type { Fault } from '../../shared/fault.ts';
import type { SearchSet } from '../config.ts';
import type { Query } from '../deps.ts';
import type { Caller } from '../oauth/bearer.ts';
import type { AuditedRequest } from '../store/audit.ts';
import type { RequiredResource } from '../store/resource.ts';
import type { Prefer } from './prefer.ts';
import type { CursorSealer } from './controls/cursor.ts';

/** What preparing needs to know of the request it is for. */
export interface RequestContext {
  readonly caller: Caller;
  /** Our own `{base}/fhir`, without a trailing slash. */
  readonly root: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly prefer: Prefer;
  readonly cursors: CursorSealer;
  /** FHIR_MAX_BODY_BYTES. */
  readonly maxBodyBytes: number;
  /** Which search parameters are recognized. */
  readonly searches: SearchSet;
}

export interface Answer {
  readonly status: 200 | 201 | 202 | 304;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; null: no body. */
  readonly body: string | null;
  /** Instead of a body: one that is made while it is read. */
  readonly stream?: ReadableStream<Uint8Array>;
  /** The URL of the resource in the body, for an entry of a bundle. */
  readonly fullUrl?: string;
  /** `meta.lastUpdated` of the resource, for an entry of a bundle; HTTP's own date has no milliseconds. */
  readonly lastUpdated?: string;
}

/**
 * What an interaction is to the audit (edge/docs/behaviour.md, Audit). Each says it, since whoever runs it writes the row; `none`
 * is for what reaches no data of anybody.
 */
export type Audited = AuditedRequest | 'none';

/** Its statements note what they read or write, and how: `read`, `history`, `create`, `update`, `patch`. */
export const NOTED: Audited = { action: null, searched: null };

/** The rows that each query of a round trip returned. */
export type RowsOf = <Row extends object>(query: Query<Row>) => readonly Row[];

/** @param results the rows of each query, in the order of the queries */
export function rowsOf(queries: readonly Query[], results: readonly (readonly object[])[]): RowsOf {
  const rows = new Map(queries.map((query, n) => [query, results[n]]));
  return <Row extends object>(query: Query<Row>) => {
    const found = rows.get(query);
    if (found === undefined) throw new RangeError('the query was not sent');
    // They are what the author of the query declared.
    return found as readonly Row[];
  };
}

export interface Interaction {
  readonly audited: Audited;
  readonly queries: readonly Query[];
  /** @throws Fault `not-found` and the like, from what the rows say */
  readonly answer: (rowsOf: RowsOf) => Promise<Answer> | Answer;
  /** What a Fault of the database means for this request. */
  readonly explain?: (fault: Fault) => Fault;
  /** What a read needs to exist, so that a transaction can fail before it commits; its id is perhaps no UUID. */
  readonly target?: RequiredResource;
}

/**
 * What has to be known before an interaction can be prepared: asked in a round trip of its own, which only reads. What it
 * then writes must be written only where that is still so, and is else a Fault `conflict`, after which all is asked anew.
 */
export interface Look {
  /** What was read owes its row, whatever becomes of the request. */
  readonly audited: Audited;
  readonly queries: readonly Query[];
  /** @throws Fault for what cannot be done, from what the rows say */
  readonly prepare: (rowsOf: RowsOf) => Interaction | Promise<Interaction>;
}

/** The names of the parameters that an interaction searches by; null: it does not search. */
export const searchedBy = ({ audited }: Interaction): readonly string[] | null =>
  audited === 'none' ? null : audited.searched;

/**
 * What a request of several parts is to the audit.
 *
 * @param action a bundle, of the kinds that its entries were; null: what the parts note, which is then of one kind
 * @param searches of each part: the names of the parameters that it searches by; null: it does not search
 */
export function auditedTogether(
  action: 'batch' | 'transaction' | null,
  searches: readonly (readonly string[] | null)[],
): Audited {
  const names = searches.filter((one) => one !== null);
  return { action, searched: names.length === 0 ? null : [...new Set(names.flat())] };
}

export const readScope = (type: string): string => `system/${type}.read`;
export const writeScope = (type: string): string => `system/${type}.write`;
