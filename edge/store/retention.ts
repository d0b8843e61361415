/** Deletes the data whose retention at a site has ended, in small steps (migrations/functions/retention_*.sql). */
import type { Query } from '../deps.ts';
import type { NewJob } from './job.ts';
import { read, sql } from './sql.ts';

/** The kind of the jobs; `retention_ask` asks for them by this name. */
export const RETENTION_KIND = 'retention';

/** Deleted rows by their kind; of a message its bytes and answers. */
export const KEPT_KINDS = ['messages', 'attempts', 'refusals', 'usage', 'audit'] as const;
export type Forgotten = Readonly<Record<(typeof KEPT_KINDS)[number], number>>;

export const sumOf = (counts: Forgotten): number => KEPT_KINDS.reduce((total, kind) => total + counts[kind], 0);

export interface RetentionStep extends Forgotten {
  /** Instant. */
  readonly attempts_after: string | null;
  readonly is_done: boolean;
}

/**
 * Deletes rows of a site whose retention has ended, `limit` of each kind at most.
 *
 * @param nowMs the runner's clock: the slower of it and the database's counts
 * @param after `attempts_after` of the step before
 */
export function retentionStep(site: string, nowMs: number, after: string | null, limit: number): Query<RetentionStep> {
  return sql<RetentionStep>`select messages, attempts, refusals, usage, audit, attempts_after::text as attempts_after, is_done
    from retention_step(${site}::uuid, to_timestamp(${nowMs}::float8 / 1000), ${after}::timestamptz, ${limit}::integer)`;
}

/** The number of rows that all steps together would delete; no row for a site under legal hold. */
export function retentionDue(site: string, nowMs: number): Query<Forgotten> {
  return read<Forgotten>`select messages, attempts, refusals, usage, audit
    from retention_due(${site}::uuid, to_timestamp(${nowMs}::float8 / 1000))`;
}

/** Asks for the day's retention of every site that has not had it. */
export const askForRetention = (): Query => sql`select retention_ask()`;

/** @param id a new UUID @param total rows that are due */
export function retentionJob(id: string, site: string, total: number | null, askedBy: string): NewJob {
  return { id, kind: RETENTION_KIND, site, exclusiveKey: 'site', cursor: {}, total, askedBy };
}

export interface RetentionRow {
  readonly job_id: string;
  /** JSON: the job's cursor, with the numbers of deleted rows. */
  readonly cursor: string;
}

/** The number of rows that jobs deleted, in no order. */
export function findForgotten(ids: readonly string[]): Query<RetentionRow> {
  return read<RetentionRow>`select job_id, cursor::text as cursor from job where job_id = any (${ids}::uuid[])`;
}
