/**
 * `npm run fuzz [-- --requests 100000] [--costs 1000] [--only TEXT] [--seed 1] [--runtime deno]`: random requests over all surfaces of a
 * separate gateway, on free ports, then requests that grow. Ends with 1 where an answer was a 5xx, something hung, a bug was
 * logged, or a request used too much CPU or memory.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { Client } from 'pg';

import { helpOn } from '../../edge/platform/node/program.ts';
import { prepareDatabase } from '../stack/services/application-login.ts';
import { startDatabaseEndpoints } from '../stack/services/database-endpoints.ts';
import { startPostgres, UNSAFE_BUT_FAST } from '../stack/services/postgres.ts';
import { BUILD_FOLDER } from '../stack/services/build.ts';
import { RUNTIMES } from '../stack/tools/gateway.ts';
import { LIMITS, lineOf, measureCosts } from './cost.ts';
import { runFuzz, summaryOf } from './fuzz.ts';
import { startWorld } from './world.ts';

const USAGE =
  'usage: npm run fuzz -- [--requests 100000] [--costs 1000] [--only TEXT] [--seed 1] [--runtime deno|workerd]';

/** Requests that the report lists in any case. */
const MOST_EXPENSIVE = 20;

helpOn(USAGE);
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    costs: { type: 'string', default: '1000' },
    only: { type: 'string' },
    seed: { type: 'string' },
    runtime: { type: 'string', default: 'deno' },
  },
});
const runtime = RUNTIMES.find((each) => each === values.runtime);
const requests = Number(values.requests);
const shapes = Number(values.costs);
const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
if (
  runtime === undefined ||
  !Number.isInteger(requests) ||
  requests < 0 ||
  !Number.isInteger(shapes) ||
  !Number.isInteger(seed)
) {
  console.error(USAGE);
  process.exit(2);
}
console.log(`seed ${seed}, ${requests} requests, ${runtime}`);

const buildFolder = await mkdtemp(join(tmpdir(), 'gateway-build-'));
process.env[BUILD_FOLDER] = buildFolder;
const postgres = await startPostgres({ settings: UNSAFE_BUT_FAST });
const endpoint = await startDatabaseEndpoints({ databaseUrl: postgres.url });
const url = await prepareDatabase(postgres.url);
const client = new Client({ connectionString: postgres.url });
await client.connect();
const world = await startWorld(runtime, { url, endpoint, client });
try {
  const report = await runFuzz(world, { requests, seed, say: console.log });
  for (const line of summaryOf(report)) console.log(line);
  const { costs, problems: expensive } = await measureCosts(world, {
    shapes,
    only: values.only,
    seed,
    limits: LIMITS,
    client,
    say: console.log,
  });
  for (const cost of costs.slice(0, MOST_EXPENSIVE)) console.log(lineOf(cost));
  const problems = [...report.problems, ...expensive];
  for (const problem of problems) console.error(problem);
  console.log(`seed ${seed}: ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  await world.stop();
  await client.end();
  await endpoint.close();
  await postgres.stop();
  await rm(buildFolder, { recursive: true, force: true });
}
