/**
 * The cost of each request in a large database: a million patients with five million Observations and a million messages in a
 * hundred sites. The same requests run with ten thousand patients, in the largest site and in a small one. Each answer is checked.
 */
import { statfs } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import process from 'node:process';

import { progressLine } from '../../edge/platform/node/progress-line.ts';
import { UNSAFE_BUT_FAST } from '../stack/services/postgres.ts';
import { type LargeOperation, operationsOf } from './large/requests.ts';
import { fillSites } from './large/site.ts';
import { measureHttp, type Measured } from './load.ts';
import { inRounds, median, ratios } from './rounds.ts';
import type { BenchOptions } from './run.ts';
import { startStack } from './stack.ts';

const PATIENTS = 1_000_000;
const FEW = 10_000;
/** Disk space of a patient with all resources, and the disk space of a database without patients. */
const BYTES_OF_PATIENT = 28_000;
const BYTES_OF_REST = 8e9;
const ROUNDS = 5;
const SPELL = { connections: 1, requests: 10 };

const MB = 1024 ** 2;
/** A quarter of the memory for two caches, as PostgreSQL's manual recommends. No background work runs during the measurement. */
const SETTINGS = {
  ...UNSAFE_BUT_FAST,
  shared_buffers: `${Math.floor(totalmem() / 8 / MB)}MB`,
  effective_cache_size: `${Math.floor(totalmem() / 2 / MB)}MB`,
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
};

function verdict({ target }: LargeOperation, ms: number, ratio: number): string {
  if (target === undefined) return '';
  const [limit, isHeld] =
    'times' in target ? [`${target.times} times`, ratio <= target.times] : [`${target.ms} ms`, ms <= target.ms];
  return `${limit}: ${isHeld ? 'held' : 'MISSED'}`;
}

async function requireRoom(patients: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const [free, needed] = [bavail * bsize, patients * BYTES_OF_PATIENT + BYTES_OF_REST].map((one) =>
    Math.round(one / 1e9),
  );
  if ((free ?? 0) < (needed ?? 0))
    throw new Error(`${tmpdir()} has ${free} GB free, but needs ${needed} GB. Set a smaller number with --patients`);
}

export async function bench({ patients = PATIENTS }: BenchOptions): Promise<object[]> {
  await requireRoom(patients);
  const begun = performance.now();
  const say = (what: string): void =>
    void process.stdout.write(`${((performance.now() - begun) / 1000).toFixed(0).padStart(6)} s  ${what}\n`);
  const progress = progressLine(process.stdout);
  const stops: (() => Promise<void>)[] = [];
  const env = (url: string) => ({
    FHIR_SEARCH: 'us-core',
    ADMIN_PUBLIC_BASE_URL: url,
    ADMIN_OIDC_ISSUER: 'http://127.0.0.1',
    ADMIN_OIDC_CLIENT_ID: 'bench',
    JOB_TICK_SECONDS: '3600',
  });
  const start = async (count: number) => {
    const stack = await startStack('Deno', { settings: SETTINGS, env });
    stops.unshift(stack.stop);
    return { stack, sites: await fillSites(stack, count, progress, say) };
  };
  try {
    const worlds = [await start(Math.min(FEW, patients)), await start(patients)];
    const rows: object[] = [];
    for (const site of ['large', 'small'] as const) {
      say(`the ${site} site`);
      const each = [];
      for (const { stack, sites } of worlds) each.push({ stack, operations: await operationsOf(stack, sites[site]) });
      for (const [at, operation] of (each[1]?.operations ?? []).entries()) {
        const rounds = await inRounds(
          ROUNDS,
          each.map(({ stack, operations }) => async (): Promise<Measured> => {
            const same = operations[at] ?? operation;
            const measured = await measureHttp(stack.url, same, SPELL, stack.watched);
            if (measured.failed > 0) throw new Error(`${same.what}: ${Object.keys(measured.statuses).join()}`);
            return measured;
          }),
        );
        const cpus = rounds.map((of) => of.map(({ cpuMicros }) => cpuMicros['postgres'] ?? Number.NaN));
        const [fewMs = Number.NaN, ms = Number.NaN] = rounds.map((of) => median(of.map(({ p50Ms }) => p50Ms)));
        const ratio = median(ratios(cpus[1] ?? [], cpus[0] ?? []));
        rows.push({
          request: operation.what,
          site,
          'few ms': fewMs.toFixed(1),
          ms: ms.toFixed(1),
          'max ms': Math.max(...(rounds[1] ?? []).map(({ p99Ms }) => p99Ms)).toFixed(0),
          'few µs': Math.round(median(cpus[0] ?? [])),
          µs: Math.round(median(cpus[1] ?? [])),
          ratio: ratio.toFixed(2),
          target: verdict(operation, ms, ratio),
        });
        progress.show(at + 1, each[1]?.operations.length ?? 0);
      }
      progress.end();
    }
    return rows;
  } finally {
    for (const stop of stops) await stop();
  }
}
