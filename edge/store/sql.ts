/** SQL as values: a tagged template makes a `Query`, interpolations become parameters, never text. */
import type { Param, Query } from '../deps.ts';

/** `` sql<{ id: string }>`select id from site where name = ${name}` `` */
export function sql<Row extends object = object>(strings: TemplateStringsArray, ...params: Param[]): Query<Row> {
  let text = strings[0] ?? '';
  for (let i = 0; i < params.length; i += 1) text += `$${i + 1}${strings[i + 1] ?? ''}`;
  return { text, params };
}

/** Adds a parameter and returns its placeholder. */
export type Bind = (value: Param) => string;

/** Collects parameters in the order in which they are bound. */
export function binder(): { readonly params: Param[]; readonly bind: Bind } {
  const params: Param[] = [];
  return { params, bind: (value) => `$${params.push(value)}` };
}

/** SQL: a timestamptz column as a FHIR instant with milliseconds, in UTC whatever the session's time zone. */
export function instantOf(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
