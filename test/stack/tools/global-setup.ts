/**
 * Vitest's global setup: one PostgreSQL for all projects of a run, with one migrated database that test files clone
 * (database.ts). It is gone with its data when the run ends, however it ends.
 */
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { prepareDatabase } from '../services/application-login.ts';
import { type PgBouncer, startPgBouncer } from '../services/pgbouncer.ts';
import { startPostgres, UNSAFE_BUT_FAST } from '../services/postgres.ts';
import { BUILD_FOLDER } from '../services/build.ts';
import { isFull } from './size.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The migrated database that is the template of all others. It must have no connections. */
    templateDatabaseUrl: string;
    /** The target of the databases' TCP ports: PostgreSQL itself, or the PgBouncer that PGBOUNCER_MODE requests. */
    wireTargetPort: number;
  }
}

interface Started {
  readonly provided: Pick<ProvidedContext, 'templateDatabaseUrl' | 'wireTargetPort'>;
  stop(): Promise<void>;
}

/** A file has two gateways with a pool each, an endpoint with sixteen connections before each, and further clients. */
const FOR_ALL_FILES = { max_connections: '400' };

/** Linux keeps these files in memory. */
const IN_MEMORY = '/dev/shm';
/** The largest test file takes 1 GB. */
const MEMORY_BYTES = 8 * 1024 ** 3;

/** In memory, a new database is at most a third of the work. At full size, databases are too large for it. */
async function folderOfDatabases(): Promise<string | undefined> {
  const found = isFull ? undefined : await statfs(IN_MEMORY).catch(() => undefined);
  const bytes = found === undefined ? 0 : Math.min(found.bavail * found.bsize, freemem());
  return bytes < MEMORY_BYTES ? undefined : IN_MEMORY;
}

declare global {
  /** Each project loads this file again; it finds the services that the first project has started. */
  var startedForTests: Promise<Started> | undefined;
}

async function start(): Promise<Started> {
  const settings = { ...UNSAFE_BUT_FAST, ...FOR_ALL_FILES };
  const postgres = await startPostgres({ settings, below: await folderOfDatabases() });
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
  process.env[BUILD_FOLDER] = buildFolder;
  // For the workers and the programs that they start, which would otherwise each compile the same modules.
  process.env['NODE_COMPILE_CACHE'] = join(buildFolder, 'compiled');
  const wireTargetPort = pooler === undefined ? postgres.port : Number(new URL(pooler.url).port);
  return {
    provided: { templateDatabaseUrl: postgres.url, wireTargetPort },
    async stop() {
      await pooler?.stop();
      await postgres.stop();
      await rm(buildFolder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  globalThis.startedForTests ??= start();
  const { templateDatabaseUrl, wireTargetPort } = (await globalThis.startedForTests).provided;
  project.provide('templateDatabaseUrl', templateDatabaseUrl);
  project.provide('wireTargetPort', wireTargetPort);
  return async () => {
    const started = globalThis.startedForTests;
    globalThis.startedForTests = undefined;
    await (await started)?.stop();
  };
}
