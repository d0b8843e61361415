/** Builds the Worker exactly as a deployment does, into `dist/worker`. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const WORKER_SCRIPT = `${ROOT}dist/worker/cloudflare.js`;

/** @throws with the bundler's own output when the Worker does not build */
export async function buildWorker(): Promise<void> {
  const wrangler = `${ROOT}node_modules/wrangler/bin/wrangler.js`;
  await promisify(execFile)(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', 'dist/worker'], {
    cwd: ROOT,
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CI: '1' },
  });
}
