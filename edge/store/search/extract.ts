/**
 * Extracts the search rows of a resource when it is written. Pure: it expects a validated resource, and skips values of another
 * shape.
 */
import type { JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { rowsOf } from './kinds.ts';
import { INDEXED_PARAMETERS, MISSING_NAMES } from './parameters.ts';
import { hasValue, mergeRows, MISSING, type SearchRows, type TokenRow } from './rows.ts';

/** @param resource validated, with relative references to resources of this server */
export function searchRows(type: ResourceType, resource: JsonObject): SearchRows {
  const parameters = INDEXED_PARAMETERS.get(type) ?? [];
  const found = parameters.map(([name, parameter]) => [name, rowsOf(resource, name, parameter)] as const);
  const having = new Set(found.flatMap(([name, rows]) => (hasValue(rows) ? [name] : [])));
  const missing = [...(MISSING_NAMES.get(type) ?? [])].filter((name) => !having.has(name));
  const tokens = missing.map((name): TokenRow => [MISSING, '', name]);
  return mergeRows([...found.map(([, rows]) => rows), { tokens }]);
}
