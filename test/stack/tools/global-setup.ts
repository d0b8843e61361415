/**
 * Vitest's global setup: one PostgreSQL for a whole run, with one migrated database that test files clone
 * (database.ts). It is gone with its data when the run ends, however it ends.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';
import { prepareDatabase } from '../services/application-login.ts';
import { type PgBouncer, startPgBouncer } from '../services/pgbouncer.ts';
import { startPostgres, UNSAFE_BUT_FAST } from '../services/postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The migrated database that is the template of all others. Nobody may stay connected to it. */
    templateDatabaseUrl: string;
    /** Where the TCP doors of databases lead: PostgreSQL itself, or the PgBouncer that PGBOUNCER_MODE asks for before it. */
    wireTargetPort: number;
    /** Where the Worker is built, by the first test that needs it (build.ts). */
    buildFolder: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres({ settings: UNSAFE_BUT_FAST });
  let pooler: PgBouncer | undefined;
  try {
    const databaseUrl = await prepareDatabase(postgres.url);
    const mode = process.env['PGBOUNCER_MODE'];
    if (mode === 'transaction' || mode === 'session') {
      pooler = await startPgBouncer({ mode, databaseUrl, connections: 16 });
      project.provide('wireTargetPort', Number(new URL(pooler.url).port));
    } else project.provide('wireTargetPort', postgres.port);
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  project.provide('templateDatabaseUrl', postgres.url);
  const buildFolder = await mkdtemp(join(tmpdir(), 'gateway-build-'));
  project.provide('buildFolder', buildFolder);
  // For the workers and all programs that they start, each of which would compile the same modules anew.
  process.env['NODE_COMPILE_CACHE'] = join(buildFolder, 'compiled');
  return async () => {
    await pooler?.stop();
    await postgres.stop();
    await rm(buildFolder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
}
