/**
 * What of a resource is searched, taken out when it is written. Pure: it trusts that the resource was validated, and
 * skips what has another shape.
 */
import type { JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { rowsOf } from './kinds.ts';
import { INDEXED_PARAMETERS } from './parameters.ts';
import { mergeRows, type SearchRows } from './rows.ts';

/** @param resource validated, its references to our own base already relative */
export function searchRows(type: ResourceType, resource: JsonObject): SearchRows {
  const parameters = INDEXED_PARAMETERS.get(type) ?? [];
  return mergeRows(parameters.map(([name, parameter]) => rowsOf(resource, name, parameter)));
}
