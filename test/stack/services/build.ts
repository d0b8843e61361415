/** Builds the Worker exactly as a deployment does, and reads its settings. A run of the tests shares its builds in one folder. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { until } from './until.ts';
import { type WorkerSettings, workerSettings } from './worker-settings.ts';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const BUILD_TIMEOUT_MS = 120_000;

export interface BuiltWorker {
  /** Its bundle's path, below the folder. */
  readonly script: string;
  readonly settings: WorkerSettings;
}

/** The environment variable with the folder of what a run of the tests builds once for all of its processes. */
export const BUILD_FOLDER = 'TEST_BUILD_FOLDER';

/**
 * Makes a folder below `folder` in the first process that asks; the others wait for it.
 *
 * @param make fills the folder whose path it gets
 * @returns the path of the complete folder
 */
export async function buildOnce(
  folder: string,
  name: string,
  make: (building: string) => Promise<void>,
): Promise<string> {
  const done = `${folder}/${name}`;
  if (existsSync(done)) return done;
  await mkdir(folder, { recursive: true });
  // The folder stays, because other processes may still wait for the build.
  const first = await mkdir(`${folder}/${name}-begun`).then(
    () => true,
    () => false,
  );
  if (first) {
    const building = `${folder}/${name}-building`;
    await mkdir(building);
    await make(building);
    await rename(building, done);
  } else await until(`${name} is built`, () => existsSync(done), BUILD_TIMEOUT_MS);
  return done;
}

/** @throws with the bundler's own output when the Worker does not build */
export async function buildWorker(folder: string): Promise<BuiltWorker> {
  const done = await buildOnce(folder, 'worker', build);
  const settings = JSON.parse(await readFile(`${done}/settings.json`, 'utf8')) as WorkerSettings;
  return { script: `${done}/cloudflare.js`, settings };
}

async function build(building: string): Promise<void> {
  const wrangler = `${ROOT}node_modules/wrangler/bin/wrangler.js`;
  await promisify(execFile)(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', building], {
    cwd: ROOT,
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CI: '1' },
  });
  await writeFile(`${building}/settings.json`, JSON.stringify(await workerSettings(ROOT)));
}
