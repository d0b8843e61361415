/**
 * The cost of each request in a large database: a million patients with five million Observations and a million messages in a
 * hundred sites. The same requests run with ten thousand patients, in the largest site and in a small one. Each answer is checked.
 */
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import process from 'node:process';

import { progressLine } from '../../edge/platform/node/progress-line.ts';
import { startPostgres } from '../stack/services/postgres.ts';
import { type Cost, measureAlternately } from './large/measure.ts';
import type { Target } from './large/requests.ts';
import { LARGE, SMALL } from './large/world.ts';
import type { BenchOptions } from './run.ts';
// The import of the console's pages must follow it.
import './tsx.ts';

const PATIENTS = 1_000_000;
const FEW = 10_000;
/** The patients of a site that the requests use, one after another. */
const SAMPLE = 100;
/** Disk space of a patient with all resources, and the disk space of a database without patients. */
const BYTES_OF_PATIENT = 28_000;
const BYTES_OF_REST = 3e9;

export interface Row {
  readonly request: string;
  readonly site: string;
  /** Times of one connection: the median with few patients, the median with many, and the longest with many. */
  readonly 'few ms': string;
  readonly ms: string;
  readonly 'max ms': string;
  /** PostgreSQL's CPU. */
  readonly 'few µs': number;
  readonly µs: number;
  readonly ratio: string;
  readonly target: string;
}

function verdict(target: Target | undefined, many: Cost, ratio: number): string {
  if (target === undefined) return '';
  const [limit, isHeld] =
    'times' in target ? [`${target.times} times`, ratio <= target.times] : [`${target.ms} ms`, many.ms <= target.ms];
  return `${limit}: ${isHeld ? 'held' : 'MISSED'}`;
}

async function requireRoom(patients: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const needed = patients * BYTES_OF_PATIENT + BYTES_OF_REST;
  if (bavail * bsize < needed)
    throw new Error(
      `${tmpdir()} has ${Math.round((bavail * bsize) / 1e9)} GB free, but the benchmark needs ${Math.round(needed / 1e9)} GB. Set a smaller number with --patients`,
    );
}

export async function bench({ patients = PATIENTS }: BenchOptions): Promise<Row[]> {
  await requireRoom(patients);
  const [{ SETTINGS, settle }, { operationsOf }] = await Promise.all([
    import('./large/settled.ts'),
    import('./large/requests.ts'),
  ]);
  // PostgreSQL deletes its folder at the end, even if this program is interrupted.
  const postgres = await startPostgres({ settings: SETTINGS });
  try {
    const begun = performance.now();
    const say = (what: string): void =>
      void process.stdout.write(`${((performance.now() - begun) / 1000).toFixed(0).padStart(6)} s  ${what}\n`);
    const progress = progressLine(process.stdout);
    const few = await settle(postgres.url, 'few', Math.min(FEW, patients), progress, say);
    const many = await settle(postgres.url, 'many', patients, progress, say);
    const rows: Row[] = [];
    for (const site of [LARGE, SMALL]) {
      say(site === LARGE ? 'the large site' : 'a small site');
      const [ofFew = [], ofMany = []] = await Promise.all(
        [few, many].map(async ({ world, keys, gateway }) => {
          const key = keys[site];
          if (key === undefined) throw new TypeError('no such site');
          return operationsOf(world, site, await gateway.askerOf(key), gateway, SAMPLE);
        }),
      );
      for (const [at, operation] of ofMany.entries()) {
        const same = ofFew[at];
        if (same === undefined) continue;
        const each = [
          { gateway: few.gateway, operation: same },
          { gateway: many.gateway, operation },
        ];
        const {
          costs: [before, now],
          ratio,
        } = await measureAlternately(each);
        if (before === undefined || now === undefined) continue;
        progress.show(at + 1, ofMany.length);
        rows.push({
          request: operation.what,
          site: site === LARGE ? 'large' : 'small',
          'few ms': before.ms.toFixed(1),
          ms: now.ms.toFixed(1),
          'max ms': now.longest.toFixed(0),
          'few µs': Math.round(before.cpu),
          µs: Math.round(now.cpu),
          ratio: ratio.toFixed(2),
          target: verdict(operation.target, now, ratio),
        });
      }
      progress.end();
    }
    await few.close();
    await many.close();
    return rows;
  } finally {
    await postgres.stop();
  }
}
