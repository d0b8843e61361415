/** The data of /metrics, in one round trip: sums that the database keeps, over all processes. */
import type { Query } from '../deps.ts';
import { read } from './sql.ts';

export interface MetricsRow {
  /** JSON, each as migrations/functions/metrics_now.sql and metrics_sites.sql say. */
  readonly usage: string;
  readonly answers: string;
  readonly feeds: string;
  readonly failed: string;
  readonly sidecars: string;
  readonly jobs: string;
  readonly alerts: string;
  readonly signing_keys: string;
  readonly counted: string;
  readonly sites: string;
  /** As migrations/functions/metrics_subscriptions.sql says. */
  readonly subscriptions: string;
}

/** @param limit the maximum for each list @param kids of the keys that are published */
export function readMetrics(limit: number, kids: readonly string[]): Query<MetricsRow> {
  return read<MetricsRow>`select usage, answers, feeds, failed, sidecars, jobs, alerts, signing_keys, counted,
      metrics_sites(${limit}::integer) as sites, metrics_subscriptions(${limit}::integer) as subscriptions
    from metrics_now(${limit}::integer, ${kids}::text[])`;
}
