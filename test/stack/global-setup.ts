/**
 * Vitest's global setup: one PostgreSQL for a whole run, with one migrated database that test files clone
 * (database.ts). It is gone with its data when the run ends, however it ends.
 */
import type { TestProject } from 'vitest/node';
import { migrate } from '../../migrations/run.ts';
import { startPostgres, UNSAFE_BUT_FAST } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The migrated database that is the template of all others. Nobody may stay connected to it. */
    templateDatabaseUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres({ settings: UNSAFE_BUT_FAST });
  try {
    await migrate(postgres.url);
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  project.provide('templateDatabaseUrl', postgres.url);
  return () => postgres.stop();
}
