/**
 * An interaction, prepared: what to ask the database and what to answer with the rows. Preparing sends it nothing, so that a
 * request, or all entries of a bundle, are one round trip; both send the same statements.
 */
import type { Fault } from '../../shared/fault.ts';
import type { ProfileSet, SearchSet } from '../config.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Query } from '../deps.ts';
import type { Budget } from '../limits.ts';
import type { Caller } from '../oauth/bearer.ts';
import type { AuditedRequest } from '../store/audit.ts';
import type { RequiredResource } from '../store/resource.ts';
import type { Prefer } from './prefer.ts';
import type { CursorSealer } from './controls/cursor.ts';

/** The facts of a request that the preparation of its interactions needs. */
export interface RequestContext {
  readonly caller: Caller;
  /** `{base}/fhir`, without a trailing slash. */
  readonly root: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly prefer: Prefer;
  readonly cursors: CursorSealer;
  /** FHIR_MAX_BODY_BYTES. */
  readonly maxBodyBytes: number;
  /** The set of search parameters of the deployment. */
  readonly searches: SearchSet;
  /** The profiles that writes are checked against. */
  readonly profiles: ProfileSet;
  /** The resource types of the deployment. */
  readonly types: readonly ResourceType[];
  /** The work of this attempt to prepare the request: a patch is prepared again if its resource has changed. */
  readonly budget: Budget;
}

export interface Answer {
  readonly status: 200 | 201 | 202 | 304;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; null: no body. */
  readonly body: string | null;
  /** The body is an OperationOutcome about the interaction, not a resource. */
  readonly isOutcome?: boolean;
  /** A body that is produced while the client reads it, instead of `body`. */
  readonly stream?: ReadableStream<Uint8Array>;
  /** The URL of the resource in the body, for an entry of a bundle. */
  readonly fullUrl?: string;
  /** `meta.lastUpdated` of the resource, for an entry of a bundle; HTTP's own date has no milliseconds. */
  readonly lastUpdated?: string;
}

/**
 * How the audit records an interaction (edge/docs/behaviour.md, Audit). `none`: it reaches no data of a site, so it has no row.
 */
export type Audited = AuditedRequest | 'none';

/** The statements note the action and the resources: `read`, `history`, `create`, `update`, `patch`. */
export const NOTED: Audited = { action: null, searched: null };

/** The rows that each query of a round trip returned. */
export type RowsOf = <Row extends object>(query: Query<Row>) => readonly Row[];

/** @param results the rows of each query, in the order of the queries */
export function rowsOf(queries: readonly Query[], results: readonly (readonly object[])[]): RowsOf {
  const rows = new Map(queries.map((query, n) => [query, results[n]]));
  return <Row extends object>(query: Query<Row>) => {
    const found = rows.get(query);
    if (found === undefined) throw new RangeError('the query was not sent');
    // The query declares the type of its rows.
    return found as readonly Row[];
  };
}

export interface Interaction {
  readonly audited: Audited;
  readonly queries: readonly Query[];
  /** @throws Fault such as `not-found`, according to the rows */
  readonly answer: (rowsOf: RowsOf) => Promise<Answer> | Answer;
  /** Translates a Fault of the database to one of this request. */
  readonly explain?: (fault: Fault) => Fault;
  /** The resource that a read needs, so that a transaction can fail before it commits. Its id may have any form. */
  readonly target?: RequiredResource;
}

/**
 * The resources that an interaction depends on, read in a round trip before it. The interaction must write only where these
 * resources are unchanged. Otherwise it fails with Fault `conflict`, and the lookup is repeated.
 */
export interface Lookup {
  /** The audit records the lookup even where the interaction then fails. */
  readonly audited: Audited;
  readonly queries: readonly Query[];
  /** @throws Fault where the rows make the interaction impossible */
  readonly prepare: (rowsOf: RowsOf) => Interaction | Promise<Interaction>;
}

/** The names of the search parameters of an interaction; null: it does not search. */
export const searchedBy = ({ audited }: Interaction): readonly string[] | null =>
  audited === 'none' ? null : audited.searched;

/**
 * How the audit records a request of several parts.
 *
 * @param action the bundle's type; null: the action that the statements of the parts note
 * @param searches for each part the names of its search parameters; null: the part does not search
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
