/** SQL as values: a tagged template makes a `Query`, interpolations become parameters, never text. */
import type { Param, Query } from '../deps.ts';

/** SQL that is part of a query unchanged: constants of the gateway, never external input. */
export interface Raw {
  readonly raw: string;
}

export const raw = (text: string): Raw => ({ raw: text });

const isRaw = (part: Param | Raw): part is Raw => typeof part === 'object' && part !== null && 'raw' in part;

/** `` sql<{ id: string }>`select id from site where name = ${name}` `` */
export function sql<Row extends object = object>(strings: TemplateStringsArray, ...parts: (Param | Raw)[]): Query<Row> {
  const { params, bind } = binder();
  const text = parts.map((part, i) => `${isRaw(part) ? part.raw : bind(part)}${strings[i + 1] ?? ''}`);
  return { text: `${strings[0] ?? ''}${text.join('')}`, params };
}

/** `sql` of a statement that changes nothing: it is asked again after a fault that passes. */
export const read = <Row extends object = object>(
  strings: TemplateStringsArray,
  ...parts: (Param | Raw)[]
): Query<Row> => ({ ...sql<Row>(strings, ...parts), reads: true });

/** Adds a parameter and returns its placeholder. */
export type Bind = (value: Param) => string;

/** Collects parameters in the order in which they are bound. */
export function binder(): { readonly params: Param[]; readonly bind: Bind } {
  const params: Param[] = [];
  return { params, bind: (value) => `$${params.push(value)}` };
}

/**
 * SQL: a site, as a subselect, so that PostgreSQL does not know it when it plans. It plans as if each table had only this site
 * (migrations/0001_site.sql). By the value, it would expect one row of a new site that its statistics do not contain. Then all
 * indexes that begin with the site would cost the same, and a look-up of one row could read all rows of the site.
 */
export const siteOf = (bind: Bind, site: string): string => `(select ${bind(site)}::uuid)`;

const FRACTION = { second: '', millisecond: '.MS', microsecond: '.US' } as const;

/**
 * SQL: a timestamptz column as a FHIR instant in UTC, independent of the session's time zone.
 *
 * @param precision `microsecond` if the instant is used again to find its row
 */
export function instantOf(column: string, precision: keyof typeof FRACTION = 'millisecond'): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS${FRACTION[precision]}"Z"')`;
}

/** SQL: columns as `instantOf` writes them, each under its own name. */
export const instantsOf = (columns: readonly string[]): string =>
  columns.map((column) => `${instantOf(column)} as ${column.slice(column.indexOf('.') + 1)}`).join(', ');
