/** Locks on what identifies a resource before it has an id, so that of two writers who both find nothing one creates. */
import type { Query } from '../deps.ts';
import { sql } from './sql.ts';
import type { ResourceType } from '../../shared/resource-type.ts';

/**
 * The key to lock for an identifier's value, for all systems: `v` and `s|v` must exclude each other. So must a
 * conditional create and an HL7 message (migrations/functions/hl7_store.sql locks the same).
 */
export function identifierKey(type: ResourceType, value: string): string {
  return `${type}|${value}`;
}

/** The locks of a write: keys, and the identifiers of patients. */
export interface Locks {
  readonly keys: readonly string[];
  readonly patients: readonly string[];
}

/** The caller has locked what has to be. */
export const NO_LOCKS: Locks = { keys: [], patients: [] };

/**
 * Delays the batch's transaction until no other transaction has these keys. It is a separate statement before the
 * search for the resource, because a statement sees the data that was committed when it began.
 *
 * @param patients ids of patients that are changed: the identifiers of these patients are locked as well
 */
export function lockKeys(site: string, keys: readonly string[], patients: readonly string[] = []): Query {
  return patients.length === 0
    ? sql`select lock_keys(${site}::uuid, ${keys}::text[])`
    : sql`select lock_patients(${site}::uuid, ${keys}::text[], ${patients}::uuid[])`;
}
