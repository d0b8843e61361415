/** Builds the Worker exactly as a deployment does, and reads its settings, once per folder. */
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

/** @throws with the bundler's own output when the Worker does not build */
export async function buildWorker(folder: string): Promise<BuiltWorker> {
  const done = `${folder}/worker`;
  if (!existsSync(done)) await build(folder, done);
  const settings = JSON.parse(await readFile(`${done}/settings.json`, 'utf8')) as WorkerSettings;
  return { script: `${done}/cloudflare.js`, settings };
}

async function build(folder: string, done: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const building = `${folder}/building`;
  // The folder stays, because other processes may still wait for the build.
  const first = await mkdir(`${folder}/begun`).then(
    () => true,
    () => false,
  );
  if (!first) {
    await until('the Worker is built', () => existsSync(done), BUILD_TIMEOUT_MS);
    return;
  }
  const wrangler = `${ROOT}node_modules/wrangler/bin/wrangler.js`;
  await promisify(execFile)(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', building], {
    cwd: ROOT,
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CI: '1' },
  });
  await writeFile(`${building}/settings.json`, JSON.stringify(await workerSettings(ROOT)));
  await rename(building, done);
}
