/**
 * What of a resource is searched, taken out when it is written. Pure: it trusts that the resource was validated, and
 * skips what has another shape.
 */
import type { JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { rowsOf } from './kinds.ts';
import { INDEXED_PARAMETERS } from './parameters.ts';
import type { PatientSearch, SearchRows } from './rows.ts';

const NOTHING: PatientSearch = { names: '', nameSort: '', birthDate: '', gender: null };

/** @param resource validated, its references to our own base already relative */
export function searchRows(type: ResourceType, resource: JsonObject): SearchRows {
  const parameters = INDEXED_PARAMETERS.get(type) ?? [];
  const found = parameters.map(([name, parameter]) => rowsOf(resource, name, parameter));
  const search = found.flatMap((rows) => rows.search ?? []);
  return {
    patient: found.find(({ patient }) => patient !== undefined)?.patient ?? null,
    identifiers: found.flatMap(({ identifiers = [] }) => identifiers),
    tokens: found.flatMap(({ tokens = [] }) => tokens),
    search: search.length === 0 ? null : Object.assign({}, NOTHING, ...search),
    report: found.find(({ report }) => report !== undefined)?.report ?? null,
  };
}
