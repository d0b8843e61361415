/**
 * The common parts of commands that run background jobs: they choose sites, create a job for each, and work until all have
 * ended. The gateway's runners help. After an interruption, a command ends with its current step.
 */
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

import { logLine } from '../../../shared/log.ts';
import type { JobDeps, JobKind } from '../../jobs/kind.ts';
import { tick } from '../../jobs/tick.ts';
import { findJobs, type JobRow } from '../../store/job.ts';
import { listSites, type SiteRow } from '../../store/site.ts';
import type { CommandDatabase } from './database.ts';
import { UsageError } from './program.ts';
import { progressLine } from './progress-line.ts';

/** The wait while other runners have all remaining jobs, or a step must be retried later. */
const PAUSE_MS = 500;

/** All sites, or the one with this id or name. @throws UsageError */
export async function chooseSites(database: CommandDatabase, given: string | undefined): Promise<readonly SiteRow[]> {
  const sites = await database.run(listSites());
  if (given === undefined) return sites;
  const byId = sites.filter(({ site_id: id }) => id === given.toLowerCase());
  // A site's administrators choose its name: it may be the id or the name of another site.
  const chosen = byId.length > 0 ? byId : sites.filter(({ name }) => name === given);
  if (chosen.length === 0)
    throw new UsageError(`the site ${given} does not exist: \`npm run -s admin -- site list\` lists the sites`);
  if (chosen.length === 1) return chosen;
  const ids = chosen.map(({ site_id: id }) => id).join(', ');
  throw new UsageError(`${chosen.length} sites have the name ${given}: pass one of the ids ${ids}`);
}

/** The dependencies of a command's steps; failures are logged to standard error. */
export function commandJobDeps(database: CommandDatabase): JobDeps & { readonly database: CommandDatabase } {
  const log: JobDeps['log'] = (entry) => {
    if (entry.level !== 'info') process.stderr.write(`\n${logLine(new Date(), entry)}\n`);
  };
  return { database, now: () => Date.now(), log };
}

const sum = (jobs: readonly JobRow[], count: (job: JobRow) => number): number =>
  jobs.reduce((total, job) => total + count(job), 0);

/** Returns when all jobs have ended, or after an interruption. */
export async function workUntilDone(
  deps: JobDeps & { readonly database: CommandDatabase },
  kind: JobKind,
  ids: readonly string[],
): Promise<JobRow[]> {
  let interrupted = false;
  const interrupt = (): void => {
    interrupted = true;
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const line = progressLine(process.stderr);
  for (;;) {
    const jobs = await deps.database.run(findJobs(ids));
    line.show(
      sum(jobs, ({ progress_done }) => progress_done),
      sum(jobs, ({ progress_total }) => progress_total ?? 0),
    );
    if (interrupted || jobs.every(({ state }) => state !== 'open')) {
      line.end();
      return jobs;
    }
    // One step, to check for Ctrl-C and to show the progress after it.
    const { advanced } = await tick(deps, [kind], 0);
    if (advanced === 0) await pause(PAUSE_MS);
  }
}

const OUTCOMES: Readonly<Record<JobRow['state'], string>> = {
  done: 'done',
  open: 'interrupted: run it again to continue',
  failed: 'failed',
  stopped: 'stopped by another operator',
};

/** Prints a line for each job: its site, its work, its result. @param what describes the work */
export function reportJobs(sites: readonly SiteRow[], jobs: readonly JobRow[], what: (job: JobRow) => string): string {
  return jobs
    .map((job) => {
      const name = sites.find((site) => site.site_id === job.site_id)?.name ?? '';
      const error = job.last_error === null ? '' : ` (${job.last_error})`;
      return `${job.site_id} ${name}: ${what(job)}, ${OUTCOMES[job.state]}${error}\n`;
    })
    .join('');
}
