/**
 * `npm run reindex`: extracts the search index of stored resources again, site by site. The work is jobs (edge/jobs), so the
 * gateway's runners help, and this program works until they have ended. After an interruption, running it again
 * continues the jobs.
 */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import process from 'node:process';

import { REINDEX, reindexJob } from '../../fhir/search/reindex.ts';
import { addJob, stopJob } from '../../store/job.ts';
import { countResources, sitesBehind } from '../../store/search/reindex.ts';
import type { SiteRow } from '../../store/site.ts';
import { type CommandDatabase, withDatabase } from './database.ts';
import { parseOptions, postgresUrl, runProgram } from './program.ts';
import { chooseSites, commandJobDeps, reportJobs, workUntilDone } from './site-jobs.ts';

const USAGE = `usage: npm run reindex -- [--site ID] [--restart]     with DATABASE_URL in the environment

Without --site it does all sites. --restart starts unfinished jobs from the beginning.
`;

const BEHIND = 'not complete: an older release of the gateway wrote during the run; stop it, then run this again';

/** @returns the job's id */
async function ask(database: CommandDatabase, { site_id: site }: SiteRow, restart: boolean): Promise<string> {
  const [counted] = await database.run(countResources(site));
  const askedBy = `npm run reindex, ${userInfo().username}`;
  const job = reindexJob(randomUUID(), site, counted?.total ?? 0, askedBy);
  const [open] = await database.run(addJob(job));
  if (open === undefined) throw new RangeError('job_add must return an id');
  if (!restart || open.id === job.id) return open.id;
  const [, [added]] = await database.batch([stopJob(open.id), addJob(job)] as const);
  return added?.id ?? job.id;
}

async function main(): Promise<void> {
  const { values } = parseOptions({ options: { site: { type: 'string' }, restart: { type: 'boolean' } } });
  await withDatabase(postgresUrl('DATABASE_URL'), async (database) => {
    const sites = await chooseSites(database, values.site);
    const ids: string[] = [];
    for (const site of sites) ids.push(await ask(database, site, values.restart === true));
    const jobs = await workUntilDone(commandJobDeps(database), REINDEX, ids);
    const done = reportJobs(
      sites,
      jobs,
      ({ progress_done, progress_total }) => `${progress_done} of ${progress_total ?? progress_done} resources`,
    );
    process.stdout.write(done);
    const behind = await database.run(sitesBehind(sites.map(({ site_id }) => site_id)));
    for (const { site_id } of behind) process.stdout.write(`${site_id}: ${BEHIND}\n`);
    if (behind.length > 0 || jobs.some(({ state }) => state !== 'done')) process.exitCode = 1;
  });
}

await runProgram(USAGE, main);
