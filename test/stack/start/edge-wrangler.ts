/** The edge under `wrangler dev`, for the local stack: rebuilt and reloaded when a source file changes. */
import { openSync, createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';

import { ROOT } from '../services/build.ts';
import type { Edge } from '../services/edge.ts';
import { lifeOf, spawnGuarded } from '../services/guard.ts';
import { until } from '../services/until.ts';

export interface WranglerOptions {
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  /** Where its state, its environment file and its log go. */
  readonly folder: string;
}

const START_TIMEOUT_MS = 60_000;

/** `wrangler dev` runs no cron triggers; it has this path instead. */
const SCHEDULED_PATH = '/cdn-cgi/local/scheduled';
const TICK_MS = 60_000;

/** Resolves when the edge answers. @throws with the log's place when it ends before that */
export async function startWranglerEdge(
  options: WranglerOptions,
): Promise<Omit<Edge, 'logs'> & { exited: Promise<number | null> }> {
  const envFile = `${options.folder}/edge.env`;
  const logFile = `${options.folder}/edge.log`;
  const lines = Object.entries(options.env).map(([name, value]) => `${name}='${value}'`);
  await writeFile(envFile, `${lines.join('\n')}\n`, { mode: 0o600 });

  const log = openSync(logFile, 'a');
  const wrangler = `${ROOT}node_modules/wrangler/bin/wrangler.js`;
  const args = [wrangler, 'dev', '--env', 'local', '--env-file', envFile, '--persist-to', `${options.folder}/workers`];
  args.push('--ip', '127.0.0.1', '--port', String(options.port), '--inspector-port', '0');
  args.push('--show-interactive-dev-session=false', '--log-level', 'warn');
  const child = spawnGuarded(process.execPath, args, {
    signal: 'TERM',
    cwd: ROOT,
    stdout: log,
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CI: '1', NO_COLOR: '1' },
  });
  child.stderr.pipe(createWriteStream(logFile, { flags: 'a' }));
  const { exited, hasEnded, stop, kill } = lifeOf(child);
  await until(
    'wrangler dev answers',
    async () => {
      if (hasEnded()) throw new Error(`wrangler dev ended; see ${logFile}`);
      const response = await fetch(`http://127.0.0.1:${options.port}/healthz`).catch(() => undefined);
      return response?.ok === true;
    },
    START_TIMEOUT_MS,
  );
  const timer = setInterval(
    () => void fetch(`http://127.0.0.1:${options.port}${SCHEDULED_PATH}`).catch(() => undefined),
    TICK_MS,
  );
  void exited.then(() => clearInterval(timer));
  return { exited, stop, kill };
}
