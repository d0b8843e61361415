/**
 * `npm run reindex`: what of stored resources is searched is taken out anew, site by site. The work is jobs like any
 * other (edge/jobs), so the gateway's own runners help; this program works until they have ended. Interrupted, it ends
 * after the step that it is at, and run again it goes on from there.
 */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { logLine } from '../../../shared/log.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { REINDEX, reindexJob } from '../../fhir/search/reindex.ts';
import type { JobDeps } from '../../jobs/kind.ts';
import { tick } from '../../jobs/tick.ts';
import { addJob, findJobs, type JobRow, stopJob } from '../../store/job.ts';
import { countResources } from '../../store/search/reindex.ts';
import { listSites, type SiteRow } from '../../store/site.ts';
import { type CommandDatabase, connectDatabase } from './database.ts';
import { runProgram, UsageError } from './program.ts';
import { progressLine } from './progress-line.ts';

const USAGE = `usage: npm run reindex -- [--site ID] [--restart]     with DATABASE_URL in the environment

Without --site all sites are done. --restart begins anew what an earlier run has left half done.
`;

/** How long it waits when others are at all that is left, or a step is to be tried again later. */
const PAUSE_MS = 500;

async function chooseSites(database: CommandDatabase, id: string | undefined): Promise<readonly SiteRow[]> {
  if (id !== undefined && !isUuid(id)) throw new UsageError(`--site ${id} is not the id of a site`);
  const sites = await database.run(listSites());
  const chosen = id === undefined ? sites : sites.filter(({ site_id }) => site_id === id);
  if (id !== undefined && chosen.length === 0) throw new UsageError(`there is no site ${id}`);
  return chosen;
}

/** @returns the job's id */
async function ask(database: CommandDatabase, { site_id: site }: SiteRow, restart: boolean): Promise<string> {
  const [counted] = await database.run(countResources(site));
  const askedBy = `npm run reindex, ${userInfo().username}`;
  const job = reindexJob(randomUUID(), site, counted?.total ?? 0, askedBy);
  const [open] = await database.run(addJob(job));
  if (open === undefined) throw new RangeError('job_add answers with an id');
  if (!restart || open.id === job.id) return open.id;
  const [, [added]] = await database.batch([stopJob(open.id), addJob(job)] as const);
  return added?.id ?? job.id;
}

const sum = (jobs: readonly JobRow[], count: (job: JobRow) => number): number =>
  jobs.reduce((total, job) => total + count(job), 0);

/** Until all have ended, or it was interrupted. */
async function work(deps: JobDeps & { database: CommandDatabase }, ids: readonly string[]): Promise<JobRow[]> {
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
    const { advanced } = await tick(deps, [REINDEX], 0);
    if (advanced === 0) await pause(PAUSE_MS);
  }
}

const OUTCOMES: Readonly<Record<JobRow['state'], string>> = {
  done: 'done',
  open: 'interrupted: run it again to go on',
  failed: 'failed',
  stopped: 'stopped by somebody else',
};

function report(sites: readonly SiteRow[], jobs: readonly JobRow[]): string {
  return jobs
    .map(({ site_id, state, progress_done, progress_total, last_error }) => {
      const name = sites.find((site) => site.site_id === site_id)?.name ?? '';
      const count = `${progress_done} of ${progress_total ?? progress_done} resources`;
      return `${site_id} ${name}: ${count}, ${OUTCOMES[state]}${last_error === null ? '' : ` (${last_error})`}\n`;
    })
    .join('');
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { site: { type: 'string' }, restart: { type: 'boolean' } } });
  const url = process.env['DATABASE_URL'];
  if (url === undefined || url === '') throw new UsageError('DATABASE_URL is not set');
  const database = await connectDatabase(url);
  try {
    const sites = await chooseSites(database, values.site);
    const ids: string[] = [];
    for (const site of sites) ids.push(await ask(database, site, values.restart === true));
    const log: JobDeps['log'] = (entry) => {
      if (entry.level !== 'info') process.stderr.write(`\n${logLine(new Date(), entry)}\n`);
    };
    const jobs = await work({ database, now: () => Date.now(), log }, ids);
    process.stdout.write(report(sites, jobs));
    if (jobs.some(({ state }) => state !== 'done')) process.exitCode = 1;
  } finally {
    await database.close();
  }
}

await runProgram(USAGE, main);
