/**
 * Vitest's global setup: one PostgreSQL for all projects of a run, with one migrated database that test files clone
 * (database.ts). It is gone with its data when the run ends, however it ends.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ProvidedContext } from 'vitest';
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

interface Started {
  readonly provided: Pick<ProvidedContext, 'templateDatabaseUrl' | 'wireTargetPort' | 'buildFolder'>;
  stop(): Promise<void>;
}

/** A file has two gateways with a pool each, a door of sixteen connections before each of them, and clients of its own. */
const FOR_ALL_FILES = { max_connections: '400' };

declare global {
  /** Each project loads this file anew: what the first of a run has started is here for the others. */
  var startedForTests: Promise<Started> | undefined;
}

async function start(): Promise<Started> {
  const postgres = await startPostgres({ settings: { ...UNSAFE_BUT_FAST, ...FOR_ALL_FILES } });
  let pooler: PgBouncer | undefined;
  try {
    const databaseUrl = await prepareDatabase(postgres.url);
    const mode = process.env['PGBOUNCER_MODE'];
    if (mode === 'transaction' || mode === 'session') {
      pooler = await startPgBouncer({ mode, databaseUrl, connections: 16 });
    }
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  const buildFolder = await mkdtemp(join(tmpdir(), 'gateway-build-'));
  // For the workers and all programs that they start, each of which would compile the same modules anew.
  process.env['NODE_COMPILE_CACHE'] = join(buildFolder, 'compiled');
  const wireTargetPort = pooler === undefined ? postgres.port : Number(new URL(pooler.url).port);
  return {
    provided: { templateDatabaseUrl: postgres.url, wireTargetPort, buildFolder },
    async stop() {
      await pooler?.stop();
      await postgres.stop();
      await rm(buildFolder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  globalThis.startedForTests ??= start();
  const { templateDatabaseUrl, wireTargetPort, buildFolder } = (await globalThis.startedForTests).provided;
  project.provide('templateDatabaseUrl', templateDatabaseUrl);
  project.provide('wireTargetPort', wireTargetPort);
  project.provide('buildFolder', buildFolder);
  return async () => {
    const started = globalThis.startedForTests;
    globalThis.startedForTests = undefined;
    await (await started)?.stop();
  };
}
