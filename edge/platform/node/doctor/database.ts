/** Checks the database with the gateway's connection string, if it is given. */
import { Client } from 'pg';

import { serverProblems } from '../../../../shared/server-problems.ts';
import { checkDatabase } from '../../../admin/health/database.ts';
import { bad, type Finding, findingsOf, unknown } from '../../../admin/health/finding.ts';
import { connectDatabase } from '../database.ts';

const MIGRATE = 'npm run migrate with the connection string of the owner';

/** Checks that the server can have the schema, and has it: otherwise nothing else can be checked. */
async function checkServer(url: string): Promise<Finding[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const problems = await serverProblems(client);
    const { rows } = await client.query<{ has: boolean }>(`select to_regclass('schema_migration') is not null as has`);
    return [
      ...problems.map((problem) => bad('PostgreSQL', problem, 'edge/docs/deploy.md lists what the server needs')),
      ...(problems.length > 0 || rows[0]?.has ? [] : [bad('migrations', 'the database has none', MIGRATE)]),
    ];
  } finally {
    await client.end();
  }
}

async function check(url: string): Promise<readonly Finding[]> {
  const problems = await checkServer(url);
  if (problems.length > 0) return problems;
  const database = await connectDatabase(url);
  try {
    return await checkDatabase(database, url, Date.now);
  } finally {
    await database.close();
  }
}

/** @param url the gateway's DATABASE_URL */
export const checkConnection = (url: string | undefined): Promise<readonly Finding[]> =>
  url === undefined
    ? Promise.resolve([unknown('database role', "set DATABASE_URL to the gateway's connection string")])
    : findingsOf('database', () => check(url));
