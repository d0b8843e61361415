/**
 * What commands that do background work by hand do alike: they choose sites, ask for a job of each, and work until those
 * have ended. The gateway's own runners help. Interrupted, a command ends after the step that it is at.
 */
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

import { logLine } from '../../../shared/log.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { JobDeps, JobKind } from '../../jobs/kind.ts';
import { tick } from '../../jobs/tick.ts';
import { findJobs, type JobRow } from '../../store/job.ts';
import { listSites, type SiteRow } from '../../store/site.ts';
import type { CommandDatabase } from './database.ts';
import { UsageError } from './program.ts';
import { progressLine } from './progress-line.ts';

/** How long it waits when others are at all that is left, or a step is to be tried again later. */
const PAUSE_MS = 500;

/** All sites, or the one that is named. @throws UsageError */
export async function chooseSites(database: CommandDatabase, id: string | undefined): Promise<readonly SiteRow[]> {
  if (id !== undefined && !isUuid(id)) throw new UsageError(`--site ${id} is not the id of a site`);
  const sites = await database.run(listSites());
  const chosen = id === undefined ? sites : sites.filter(({ site_id }) => site_id === id);
  if (id !== undefined && chosen.length === 0) throw new UsageError(`there is no site ${id}`);
  return chosen;
}

/** What steps of a command use; what went wrong stands on standard error. */
export function commandJobDeps(database: CommandDatabase): JobDeps & { readonly database: CommandDatabase } {
  const log: JobDeps['log'] = (entry) => {
    if (entry.level !== 'info') process.stderr.write(`\n${logLine(new Date(), entry)}\n`);
  };
  return { database, now: () => Date.now(), log };
}

const sum = (jobs: readonly JobRow[], count: (job: JobRow) => number): number =>
  jobs.reduce((total, job) => total + count(job), 0);

/** Until all have ended, or it was interrupted. */
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
    // One step: then it looks at Ctrl-C and shows how far it is.
    const { advanced } = await tick(deps, [kind], 0);
    if (advanced === 0) await pause(PAUSE_MS);
  }
}

const OUTCOMES: Readonly<Record<JobRow['state'], string>> = {
  done: 'done',
  open: 'interrupted: run it again to go on',
  failed: 'failed',
  stopped: 'stopped by somebody else',
};

/** A line for each job: its site, what it did, how it ended. @param what it did, in words */
export function reportJobs(sites: readonly SiteRow[], jobs: readonly JobRow[], what: (job: JobRow) => string): string {
  return jobs
    .map((job) => {
      const name = sites.find((site) => site.site_id === job.site_id)?.name ?? '';
      const error = job.last_error === null ? '' : ` (${job.last_error})`;
      return `${job.site_id} ${name}: ${what(job)}, ${OUTCOMES[job.state]}${error}\n`;
    })
    .join('');
}
