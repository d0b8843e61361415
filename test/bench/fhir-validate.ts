/**
 * How many typical Patients and Observations are validated a second, in Node and in workerd, and how large table and
 * walker are in a bundle. All take turns, and the median of the rounds is told.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';

import { freePort } from '../stack/services/free-port.ts';
import { until } from '../stack/services/until.ts';
import { ROOT } from '../stack/services/build.ts';
import { workerSettings } from '../stack/services/worker-settings.ts';
import { validateOften } from './fhir-validate-worker.ts';
import { inRounds, median } from './rounds.ts';

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: 'resources/s' | 'bytes gzip';
}

const TYPES = ['Patient', 'Observation'];
const ROUNDS = 8;
const TIMES = 20_000;
const WORKERD = fileURLToPath(new URL('../../node_modules/workerd/bin/workerd', import.meta.url));

async function bundle(path: string): Promise<Uint8Array> {
  const entry = fileURLToPath(new URL(path, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('esbuild made no file');
  return file.contents;
}

/** Size of table and walker, bundled and minified. */
export async function bundledBytes(): Promise<number> {
  return gzipSync(await bundle('../../edge/fhir/validate/validate.ts'), { level: 9 }).length;
}

/** @param often validates so many times and tells how many were not valid */
async function ratePerSecond(often: (type: string, times: number) => Promise<number> | number, type: string) {
  const start = performance.now();
  if ((await often(type, TIMES)) !== 0) throw new Error(`the ${type} is not valid`);
  return (TIMES * 1000) / (performance.now() - start);
}

async function rates(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-validate-'));
  const address = `127.0.0.1:${await freePort()}`;
  await writeFile(join(folder, 'worker.js'), await bundle('fhir-validate-worker.ts'));
  await writeFile(
    join(folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.js")],
    compatibilityDate = "${(await workerSettings(ROOT)).compatibilityDate}",
  ))],
  sockets = [(name = "http", address = "${address}", http = (), service = "main")],
  v8Flags = ["--max-semi-space-size=4"],
);
`,
  );
  const workerd = spawn(WORKERD, ['serve', 'config.capnp'], { cwd: folder, stdio: 'inherit' });
  // The clock of a Worker stands still while it computes, so the time is taken here.
  const often = async (type: string, times: number): Promise<number> => {
    const response = await fetch(`http://${address}/?type=${type}&times=${times}`);
    return Number(await response.text());
  };
  try {
    await until('workerd listens', () =>
      often('Patient', 1).then(
        () => true,
        () => false,
      ),
    );
    const turns = TYPES.flatMap((type) => [
      { name: `${type}, Node`, turn: () => ratePerSecond(validateOften, type) },
      { name: `${type}, workerd`, turn: () => ratePerSecond(often, type) },
    ]);
    const rounds = await inRounds(
      ROUNDS,
      turns.map(({ turn }) => turn),
    );
    return turns.map(({ name }, index) => ({
      name,
      value: Math.round(median(rounds[index] ?? [])),
      unit: 'resources/s',
    }));
  } finally {
    workerd.kill();
    await rm(folder, { recursive: true });
  }
}

/** Measures everything; some ten seconds. */
export async function bench(): Promise<Row[]> {
  return [{ name: 'table and walker', value: await bundledBytes(), unit: 'bytes gzip' }, ...(await rates())];
}
