/**
 * What of a resource is searched, taken out when it is written. Pure: it trusts that the resource was validated, and
 * skips what has another shape.
 */
import type { JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { rowsOf } from './kinds.ts';
import { INDEXED_PARAMETERS, TOLD_MISSING } from './parameters.ts';
import { hasValue, mergeRows, MISSING, type SearchRows, type TokenRow } from './rows.ts';

/** @param resource validated, its references to our own base already relative */
export function searchRows(type: ResourceType, resource: JsonObject): SearchRows {
  const parameters = INDEXED_PARAMETERS.get(type) ?? [];
  const found = parameters.map(([name, parameter]) => [name, rowsOf(resource, name, parameter)] as const);
  const having = new Set(found.flatMap(([name, rows]) => (hasValue(rows) ? [name] : [])));
  const missing = [...(TOLD_MISSING.get(type) ?? [])].filter((name) => !having.has(name));
  const tokens = missing.map((name): TokenRow => [MISSING, '', name]);
  return mergeRows([...found.map(([, rows]) => rows), { tokens }]);
}
