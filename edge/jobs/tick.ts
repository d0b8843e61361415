/**
 * The runner of background jobs. Each platform calls `tick` once a minute. It claims due jobs and runs their steps until its
 * time is used up. Any number of runners may work concurrently.
 */
import { Fault } from '../../shared/fault.ts';
import type { LeveledEvent } from '../../shared/log-event.ts';
import { inSite } from '../store/in-site.ts';
import { advanceJob, claimJob, type ClaimedRow, failJob } from '../store/job.ts';
import type { JobDeps, JobKind } from './kind.ts';

/** A longer step loses its lease; the lease of a crashed runner ends after this time. */
const LEASE_SECONDS = 120;
/** With the pauses below, some two hours. */
const MAX_ATTEMPTS = 8;
const FIRST_RETRY_SECONDS = 60;
const MAX_RETRY_SECONDS = 3600;

export interface Ticked {
  /** The number of steps by result. */
  readonly advanced: number;
  readonly failed: number;
}

/** @param budgetMs no step starts after this time, but one step always runs */
export async function tick(deps: JobDeps, kinds: readonly JobKind[], budgetMs: number): Promise<Ticked> {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  const until = deps.now() + budgetMs;
  let advanced = 0;
  let failed = 0;
  do {
    const lease = crypto.randomUUID();
    const [claimed] = await deps.database.run(claimJob([...byName.keys()], lease, LEASE_SECONDS));
    const kind = byName.get(claimed?.kind ?? '');
    if (claimed === undefined || kind === undefined) break;
    if (await runStep(deps, kind, claimed, lease)) advanced += 1;
    else failed += 1;
  } while (deps.now() < until);
  return { advanced, failed };
}

/** @returns true if the step succeeded */
async function runStep(deps: JobDeps, kind: JobKind, row: ClaimedRow, lease: string): Promise<boolean> {
  try {
    // A crashed runner reports nothing, so claims are counted instead of failures.
    if (row.attempts > MAX_ATTEMPTS)
      throw new Fault('unavailable', 'the step ended without a result on every attempt', { code: 'abandoned' });
    const { cursor, progress, isDone, writes, pauseSeconds } = await kind.step(deps, {
      id: row.job_id,
      site: row.site_id,
      cursor: JSON.parse(row.cursor),
      progress: { done: row.progress_done, total: row.progress_total },
      attempts: row.attempts,
    });
    const advance = { cursor, progress, pauseSeconds: isDone ? null : (pauseSeconds ?? 0) };
    await inSite(deps.database, row.site_id).batch([advanceJob(row.job_id, lease, advance), ...writes]);
    if (isDone) deps.log({ level: 'info', event: 'job.done', ...described(row), count: progress.done });
    return true;
  } catch (error) {
    const fault = codeOf(error);
    const retrySeconds = row.attempts < MAX_ATTEMPTS ? retryAfter(row.attempts) : null;
    const [handedBack] = await inSite(deps.database, row.site_id).run(failJob(row.job_id, lease, fault, retrySeconds));
    deps.log({
      ...whatFailed(handedBack?.held === true, retrySeconds !== null),
      ...described(row),
      fault,
      count: row.attempts,
      error,
    });
    return false;
  }
}

function whatFailed(isHeld: boolean, isTriedAgain: boolean): LeveledEvent {
  if (!isHeld) return { level: 'warn', event: 'job.lost' };
  return isTriedAgain ? { level: 'warn', event: 'job.step-failed' } : { level: 'error', event: 'job.failed' };
}

const described = (row: ClaimedRow) => ({ job: row.kind, site: row.site_id ?? undefined });

/** Seconds before attempt `attempts + 1`. */
function retryAfter(attempts: number): number {
  return Math.min(FIRST_RETRY_SECONDS * 2 ** (attempts - 1), MAX_RETRY_SECONDS);
}

/** A Fault's code or kind, an SQLSTATE, or `bug`; never a message. */
function codeOf(error: unknown): string {
  if (error instanceof Fault) return error.code ?? error.kind;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return 'bug';
}
