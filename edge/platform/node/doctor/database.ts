/** Checks the database with the gateway's connection string, if it is given. */
import { checkDatabase } from '../../../admin/health/database.ts';
import { type Finding, findingsOf, unknown } from '../../../admin/health/finding.ts';
import { connectDatabase } from '../database.ts';

async function check(url: string): Promise<readonly Finding[]> {
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
