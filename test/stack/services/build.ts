/** Builds the Worker exactly as a deployment does, once for each folder, whoever asks first. */
import { execFile } from 'node:child_process';
import { mkdir, rename } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { until } from './until.ts';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const BUILD_TIMEOUT_MS = 120_000;

/**
 * The bundled Worker's path, below `folder`.
 *
 * @throws with the bundler's own output when the Worker does not build
 */
export async function workerScript(folder: string): Promise<string> {
  const done = `${folder}/worker`;
  const script = `${done}/cloudflare.js`;
  if (existsSync(script)) return script;
  await mkdir(folder, { recursive: true });
  const building = `${folder}/building`;
  const first = await mkdir(building).then(
    () => true,
    () => false,
  );
  if (!first) {
    await until('the Worker is built', () => existsSync(script), BUILD_TIMEOUT_MS);
    return script;
  }
  const wrangler = `${ROOT}node_modules/wrangler/bin/wrangler.js`;
  await promisify(execFile)(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', building], {
    cwd: ROOT,
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CI: '1' },
  });
  await rename(building, done);
  return script;
}
