/**
 * `npm run retention`: deletes what is older than the sites' settings allow, as the gateway does once a day
 * (edge/jobs/retention.ts), or only counts it.
 */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import process from 'node:process';

import { RETENTION, retentionCursor } from '../../jobs/retention.ts';
import { addJob } from '../../store/job.ts';
import { findForgotten, type Forgotten, KEPT_KINDS, retentionDue, retentionJob, sumOf } from '../../store/retention.ts';
import { type CommandDatabase, withDatabase } from './database.ts';
import { parseOptions, postgresUrl, runProgram } from './program.ts';
import { chooseSites, commandJobDeps, reportJobs, workUntilDone } from './site-jobs.ts';

const USAGE = `usage: npm run retention -- [--site ID] [--dry-run]     with DATABASE_URL, the owner's, in the environment

Deletes data that is older than the settings of its site allow. Without --site it does all sites. --dry-run only counts
what would be deleted. Clinical resources and their versions are never deleted.
`;

const describe = (counts: Forgotten): string => KEPT_KINDS.map((kind) => `${counts[kind]} ${kind}`).join(', ');

async function ask(database: CommandDatabase, site: string, total: number): Promise<string> {
  const [job] = await database.run(
    addJob(retentionJob(randomUUID(), site, total, `npm run retention, ${userInfo().username}`)),
  );
  if (job === undefined) throw new RangeError('job_add must return an id');
  return job.id;
}

async function main(): Promise<void> {
  const { values } = parseOptions({ options: { site: { type: 'string' }, 'dry-run': { type: 'boolean' } } });
  await withDatabase(postgresUrl('DATABASE_URL'), async (database) => {
    const sites = await chooseSites(database, values.site);
    const ids: string[] = [];
    for (const site of sites) {
      const [counts] = await database.run(retentionDue(site.site_id, Date.now()));
      const said = counts === undefined ? 'legal hold, nothing is deleted' : `${describe(counts)} would be deleted`;
      if (counts === undefined || values['dry-run'] === true)
        process.stdout.write(`${site.site_id} ${site.name}: ${said}\n`);
      else ids.push(await ask(database, site.site_id, sumOf(counts)));
    }
    const jobs = await workUntilDone(commandJobDeps(database), RETENTION, ids);
    const cursors = await database.run(findForgotten(ids));
    const forgotten = new Map(
      cursors.map(({ job_id, cursor }) => [job_id, retentionCursor.parse(JSON.parse(cursor))] as const),
    );
    const none = retentionCursor.parse({});
    process.stdout.write(reportJobs(sites, jobs, ({ job_id }) => `${describe(forgotten.get(job_id) ?? none)} deleted`));
    if (jobs.some(({ state }) => state !== 'done')) process.exitCode = 1;
  });
}

await runProgram(USAGE, main);
