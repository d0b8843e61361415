/**
 * The activity of an API key: counts by surface in the steps of a graph, and the public keys with which it has signed.
 */
import type { Query } from '../deps.ts';
import { instantOf, raw, read } from './sql.ts';
import type { UsageSurface } from './usage.ts';

export interface KeyActivityRow {
  readonly surface: UsageSurface;
  /** Seconds of a step: 3600 for the last day, 86400 for the last thirty. */
  readonly step_seconds: number;
  /** When the step begins, in seconds since the epoch. */
  readonly begins: number;
  readonly accepted: number;
  /** Refused and failed. */
  readonly refused: number;
}

/** The last 24 hours by the hour and the last thirty days by the day (UTC); steps without anything have no row. */
export function keyActivity(site: string, clientId: string): Query<KeyActivityRow> {
  return read<KeyActivityRow>`select u.surface, s.step_seconds,
      (floor(extract(epoch from u.bucket) / s.step_seconds) * s.step_seconds)::int as begins,
      sum(u.accepted)::int as accepted, sum(u.refused + u.rejected)::int as refused
    from (values (3600, interval '24 hours'), (86400, interval '30 days')) s(step_seconds, span)
    join key_usage u on u.site_id = ${site}::uuid and u.client_id = ${clientId} and u.bucket > now() - s.span
    where u.bucket > now() - interval '30 days'
    group by 1, 2, 3 order by 2, 3, 1`;
}

export interface KeyKidRow {
  /** Empty for a key without one. */
  readonly kid: string;
  readonly first_at: string;
  /** To the minute. */
  readonly last_at: string;
}

/** The public keys that the client has signed with, the last used first. */
export function kidsOf(site: string, clientId: string): Query<KeyKidRow> {
  return read<KeyKidRow>`select kid, ${raw(instantOf('first_at'))} as first_at, ${raw(instantOf('last_at'))} as last_at
    from key_kid k where k.site_id = ${site}::uuid and k.client_id = ${clientId} order by k.last_at desc, kid`;
}
