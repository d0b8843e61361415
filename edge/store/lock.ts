/** Locks on identifiers and conditions, so that only one of two simultaneous writers creates a resource. */
import type { Query } from '../deps.ts';
import { sql } from './sql.ts';
import type { ResourceType } from '../../shared/resource-type.ts';

/**
 * The key to lock for an identifier's value, without its system, because `v` and `s|v` must exclude each other. A conditional
 * create and an HL7 message lock the same key (migrations/functions/hl7_store.sql).
 */
export function identifierKey(type: ResourceType, value: string): string {
  return `${type}|${value}`;
}

/** The locks of a write: keys, and the identifiers of patients. */
export interface Locks {
  readonly keys: readonly string[];
  readonly patients: readonly string[];
}

/** For a caller that has the locks. */
export const NO_LOCKS: Locks = { keys: [], patients: [] };

/**
 * Waits until no other transaction has these locks, and takes them. The search for the resource must be a later statement,
 * because a statement sees what was committed when it began.
 *
 * @param patients ids of patients that change: their identifiers are locked too
 */
export function lockKeys(site: string, keys: readonly string[], patients: readonly string[] = []): Query {
  return patients.length === 0
    ? sql`select lock_keys(${site}::uuid, ${keys}::text[])`
    : sql`select lock_patients(${site}::uuid, ${keys}::text[], ${patients}::uuid[])`;
}
