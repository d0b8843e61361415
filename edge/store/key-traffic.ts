/**
 * The activity of each key of a site in a period, from counts by quarters of an hour
 * (migrations/functions/usage_noted.sql).
 */
import type { Query } from '../deps.ts';
import { read } from './sql.ts';

export interface KeyTrafficRow {
  readonly client_id: string;
  readonly name: string;
  readonly answered: number;
  /** Errors of the caller or of the gateway: 4xx, 5xx, AE, AR. */
  readonly refused: number;
}

/**
 * Keys by how much they sent, the busiest first; those that did nothing have no row.
 *
 * @param from seconds since the epoch, to the quarter of an hour
 */
export function trafficOfKeys(site: string, from: number, end: number, limit: number): Query<KeyTrafficRow> {
  return read<KeyTrafficRow>`select u.client_id, k.name, sum(u.accepted)::int as answered,
      sum(u.refused + u.rejected)::int as refused
    from key_usage u join api_key k on k.site_id = u.site_id and k.client_id = u.client_id
    where u.site_id = ${site}::uuid and u.bucket >= to_timestamp(${from}::float8) and u.bucket < to_timestamp(${end}::float8)
    group by u.client_id, k.name order by sum(u.accepted + u.refused + u.rejected) desc, u.client_id limit ${limit}::int`;
}
