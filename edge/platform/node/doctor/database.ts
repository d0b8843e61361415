/** Checks the database with the gateway's connection string, if it is given. */
import { serverProblems } from '../../../../shared/server-problems.ts';
import { checkDatabase } from '../../../admin/health/database.ts';
import { bad, type Finding, findingsOf, unknown } from '../../../admin/health/finding.ts';
import type { Database } from '../../../deps.ts';
import { read } from '../../../store/sql.ts';
import { connectDatabase } from '../database.ts';

const MIGRATE = 'npm run migrate with the connection string of the owner';

/** Checks that the server can have the schema, and has it: otherwise nothing else can be checked. */
async function checkServer(database: Database): Promise<Finding[]> {
  const problems = await serverProblems((text, params) => database.run({ text, params }));
  if (problems.length > 0)
    return problems.map((problem) => bad('PostgreSQL', problem, 'edge/docs/deploy.md lists what the server needs'));
  const [row] = await database.run(read<{ has: boolean }>`select to_regclass('schema_migration') is not null as has`);
  return row?.has ? [] : [bad('migrations', 'the database has none', MIGRATE)];
}

async function check(url: string): Promise<readonly Finding[]> {
  const database = await connectDatabase(url);
  try {
    const problems = await checkServer(database);
    return problems.length > 0 ? problems : await checkDatabase(database, url, Date.now);
  } finally {
    await database.close();
  }
}

/** @param url the gateway's DATABASE_URL */
export const checkConnection = (url: string | undefined): Promise<readonly Finding[]> =>
  url === undefined
    ? Promise.resolve([unknown('database role', "set DATABASE_URL to the gateway's connection string")])
    : findingsOf('database', () => check(url));
