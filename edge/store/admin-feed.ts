/**
 * The activity of each key of a site, and its activity at the same hour before (migrations/functions/feeds_now.sql).
 */
import type { Query } from '../deps.ts';
import { instantOf, raw, read } from './sql.ts';
import type { UsageSurface } from './usage.ts';

/** Counts by age, as a PostgreSQL array literal: the nearest first, NULL from before the sender's first activity. */
type CountsBefore = string;

export interface FeedRow {
  readonly client_id: string;
  readonly name: string;
  readonly status: 'active' | 'disabled';
  readonly protocols: readonly string[];
  /** A separate rule raises an alert when it is silent. */
  readonly watched: boolean;
  /** Null without any activity, as all following members up to `refusals`. */
  readonly surface: Exclude<UsageSurface, 'token'> | null;
  /** MSH-3 and MSH-4; both empty for FHIR, for messages without them, and for the further senders of a key with too many. */
  readonly application: string | null;
  readonly facility: string | null;
  readonly first_at: string | null;
  /** The start of a quarter of an hour for FHIR. */
  readonly last_at: string | null;
  /** Today, AA or below 400; AE or 4xx; AR or 5xx. */
  readonly accepted: number;
  readonly refused: number;
  readonly rejected: number;
  /** In the last four complete quarters of an hour. */
  readonly hour: number;
  /** Refused and rejected in about the last hour. */
  readonly late_refused: number;
  /** Null for FHIR. */
  readonly weeks_hour: CountsBefore | null;
  readonly days_hour: CountsBefore | null;
  readonly weeks_gap: CountsBefore | null;
  readonly days_gap: CountsBefore | null;
  /** Requests of the key that were refused or failed in 24 hours, on any surface. */
  readonly refusals: number;
  readonly fault_reason: string | null;
  readonly fault_code: string | null;
  readonly fault_surface: UsageSurface | null;
  readonly fault_at: string | null;
}

/** The shown keys, by name. Rows of one more key show that there are others. */
export const MAX_KEYS = 300;

export function feedsNow(site: string, nowMs: number): Query<FeedRow> {
  return read<FeedRow>`select client_id, name, status, protocols, watched, surface, application, facility,
      ${raw(instantOf('first_at'))} as first_at, ${raw(instantOf('last_at'))} as last_at, accepted::int as accepted, refused::int as refused, rejected::int as rejected,
      hour::int as hour, late_refused::int as late_refused, weeks_hour::text as weeks_hour, days_hour::text as days_hour,
      weeks_gap::text as weeks_gap, days_gap::text as days_gap, least(refusals, 2147483647)::int as refusals,
      fault_reason, fault_code, fault_surface, ${raw(instantOf('fault_at'))} as fault_at
    from feeds_now(${site}::uuid, to_timestamp(${nowMs}::float8 / 1000), ${MAX_KEYS + 1}::integer)`;
}
