/** Jobs in the database: work that is done in small steps off every request's path (migrations/functions/job_*.sql). */
import type { Query } from '../deps.ts';
import { instantOf, raw, sql } from './sql.ts';

type JobState = 'open' | 'done' | 'failed' | 'stopped';

/** In the unit of the job's kind; `total` is null if it is not known. */
export interface Progress {
  readonly done: number;
  readonly total: number | null;
}

export interface NewJob {
  /** A new UUID. */
  readonly id: string;
  readonly kind: string;
  /** Null: of the gateway. */
  readonly site: string | null;
  /** Only one job of a kind and a site with this key is open; null: no limit. */
  readonly exclusiveKey: string | null;
  /** The input of the first step. Never clinical data. */
  readonly cursor: object;
  readonly total: number | null;
  /** The requester: a person's name as in the history of a key, or the command. */
  readonly askedBy: string;
}

/** The `id` of the new job, or of the open job with the same exclusive key. */
export function addJob(job: NewJob): Query<{ readonly id: string }> {
  return sql<{ id: string }>`select job_add(${job.id}::uuid, ${job.kind}, ${job.site}::uuid, ${job.exclusiveKey},
      ${JSON.stringify(job.cursor)}::json, ${job.total}::bigint, ${job.askedBy}) as id`;
}

export interface ClaimedRow {
  readonly job_id: string;
  readonly kind: string;
  readonly site_id: string | null;
  /** JSON. */
  readonly cursor: string;
  readonly progress_done: number;
  readonly progress_total: number | null;
  /** The attempts of this step, including the current one. */
  readonly attempts: number;
}

/** Takes the job that has been due longest, if any, for one step of at most `seconds`. @param lease a new UUID */
export function claimJob(kinds: readonly string[], lease: string, seconds: number): Query<ClaimedRow> {
  return sql<ClaimedRow>`select * from job_claim(${kinds}::text[], ${lease}::uuid, ${seconds}::integer)`;
}

export interface JobAdvance {
  readonly cursor: object;
  readonly progress: Progress;
  /** Until the next step; null: the job is done. */
  readonly pauseSeconds: number | null;
}

/** The first statement of a step's batch: fails the whole batch when the job is no longer the lease's. */
export function advanceJob(id: string, lease: string, { cursor, progress, pauseSeconds }: JobAdvance): Query {
  return sql`select job_advance(${id}::uuid, ${lease}::uuid, ${JSON.stringify(cursor)}::json, ${progress.done}::bigint,
      ${progress.total}::bigint, ${pauseSeconds}::integer)`;
}

/** `held`: false when another had the job meanwhile. @param retrySeconds null: the job has failed */
export function failJob(
  id: string,
  lease: string,
  error: string,
  retrySeconds: number | null,
): Query<{ readonly held: boolean }> {
  return sql<{
    held: boolean;
  }>`select job_fail(${id}::uuid, ${lease}::uuid, ${error}, ${retrySeconds}::integer) as held`;
}

/** After it no step of the job writes any more. `changed`: false when it had ended. */
export function stopJob(id: string): Query<{ readonly changed: boolean }> {
  return sql<{ changed: boolean }>`select job_stop(${id}::uuid) as changed`;
}

/** Resumes a job that was stopped or has failed. `changed`: false when it is neither. */
export function resumeJob(id: string): Query<{ readonly changed: boolean }> {
  return sql<{ changed: boolean }>`select job_resume(${id}::uuid) as changed`;
}

/** A job as the people who asked for it see it. */
export interface AskedJob {
  readonly job_id: string;
  readonly state: JobState;
  /** JSON, of the job's kind. */
  readonly cursor: string;
  readonly progress_done: number;
  readonly progress_total: number | null;
  readonly last_error: string | null;
  readonly asked_by: string;
  readonly created_at: string;
  readonly ended_at: string | null;
}

/** The columns of `AskedJob`, of `job j`. */
export const ASKED_JOB = raw(
  `j.job_id, j.state, j.cursor::text as cursor, j.progress_done::integer as progress_done,
   j.progress_total::integer as progress_total, j.last_error, j.asked_by, ${instantOf('j.created_at')} as created_at,
   ${instantOf('j.ended_at')} as ended_at`,
);

export interface JobRow {
  readonly job_id: string;
  readonly kind: string;
  readonly site_id: string | null;
  readonly state: JobState;
  readonly progress_done: number;
  readonly progress_total: number | null;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly asked_by: string;
}

/** The progress of jobs, in no order. */
export function findJobs(ids: readonly string[]): Query<JobRow> {
  return {
    text: `select job_id, kind, site_id, state, progress_done, progress_total, attempts, last_error, asked_by
      from job where job_id = any ($1::uuid[])`,
    params: [ids],
  };
}
