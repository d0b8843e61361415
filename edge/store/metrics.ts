/** What /metrics tells, in one round trip: sums that the database keeps, whichever process counted them. */
import type { Query } from '../deps.ts';
import { read } from './sql.ts';

export interface MetricsRow {
  /** JSON, each as migrations/functions/metrics_read.sql says. */
  readonly usage: string;
  readonly answers: string;
  readonly feeds: string;
  readonly failed: string;
  readonly sidecars: string;
  readonly jobs: string;
  readonly counted: string;
}

/** @param limit of each list */
export function readMetrics(limit: number): Query<MetricsRow> {
  return read<MetricsRow>`select usage, answers, feeds, failed, sidecars, jobs, counted
    from metrics_read(${limit}::integer)`;
}
