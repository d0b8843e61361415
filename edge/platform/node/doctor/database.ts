/** The database by the gateway's own connection string, where it is at hand. */
import { checkDatabase } from '../../../admin/health/database.ts';
import { type Finding, findingsOf, unknown } from '../../../admin/health/finding.ts';
import { connectDatabase } from '../database.ts';

async function look(url: string): Promise<readonly Finding[]> {
  const database = await connectDatabase(url);
  try {
    return await checkDatabase(database, url, Date.now);
  } finally {
    await database.close();
  }
}

/** @param url the gateway's own DATABASE_URL */
export const checkConnection = (url: string | undefined): Promise<readonly Finding[]> =>
  url === undefined
    ? Promise.resolve([unknown('database role', 'DATABASE_URL: the connection string that the gateway has')])
    : findingsOf('database', () => look(url));
