/** SQL as values: a tagged template makes a `Query`, interpolations become parameters, never text. */
import type { Param, Query } from '../deps.ts';

/** `` sql<{ id: string }>`select id from site where name = ${name}` `` */
export function sql<Row extends object = object>(strings: TemplateStringsArray, ...params: Param[]): Query<Row> {
  let text = strings[0] ?? '';
  for (let i = 0; i < params.length; i += 1) text += `$${i + 1}${strings[i + 1] ?? ''}`;
  return { text, params };
}
