/**
 * `npm run retention`: what sites keep no longer is forgotten now, as the gateway does it by itself once a day
 * (edge/jobs/retention.ts), or it is only said how much that would be.
 */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';

import { RETENTION, retentionCursor } from '../../jobs/retention.ts';
import { addJob } from '../../store/job.ts';
import { findForgotten, type Forgotten, KEPT_KINDS, retentionDue, retentionJob, sumOf } from '../../store/retention.ts';
import { type CommandDatabase, connectDatabase } from './database.ts';
import { runProgram, UsageError } from './program.ts';
import { chooseSites, commandJobDeps, reportJobs, workUntilDone } from './site-jobs.ts';

const USAGE = `usage: npm run retention -- [--site ID] [--dry-run]     with DATABASE_URL, the owner's, in the environment

Forgets what is older than the settings of its site say. Without --site all sites are done. --dry-run only says how much
would be forgotten. Clinical resources and their versions are never deleted.
`;

const inWords = (counts: Forgotten): string => KEPT_KINDS.map((kind) => `${counts[kind]} ${kind}`).join(', ');

async function ask(database: CommandDatabase, site: string, total: number): Promise<string> {
  const [job] = await database.run(
    addJob(retentionJob(randomUUID(), site, total, `npm run retention, ${userInfo().username}`)),
  );
  if (job === undefined) throw new RangeError('job_add answers with an id');
  return job.id;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { site: { type: 'string' }, 'dry-run': { type: 'boolean' } } });
  const url = process.env['DATABASE_URL'];
  if (url === undefined || url === '') throw new UsageError('DATABASE_URL is not set');
  const database = await connectDatabase(url);
  try {
    const sites = await chooseSites(database, values.site);
    const ids: string[] = [];
    for (const site of sites) {
      const [counts] = await database.run(retentionDue(site.site_id, Date.now()));
      const said = counts === undefined ? 'legal hold, nothing is forgotten' : `${inWords(counts)} would be forgotten`;
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
    process.stdout.write(
      reportJobs(sites, jobs, ({ job_id }) => `${inWords(forgotten.get(job_id) ?? none)} forgotten`),
    );
    if (jobs.some(({ state }) => state !== 'done')) process.exitCode = 1;
  } finally {
    await database.close();
  }
}

await runProgram(USAGE, main);
