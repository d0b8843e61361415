/** The edge under `wrangler dev`, for the local stack: rebuilt and reloaded when a source file changes. */
import { writeFile } from 'node:fs/promises';

import { ROOT } from '../services/build.ts';
import type { Edge } from '../services/edge.ts';
import { spawnLogged } from '../services/logged.ts';
import { until } from '../services/until.ts';

export interface WranglerOptions {
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  /** The folder for its state and its environment file. */
  readonly folder: string;
  /** PEM file of an authority that the edge's requests trust beside the public ones. */
  readonly caCertificate: string;
  /** Gets each line that the gateway and Wrangler write. */
  readonly log: (line: string) => void;
}

const START_TIMEOUT_MS = 60_000;

/** `wrangler dev` runs no cron triggers; it has this path instead. */
const SCHEDULED_PATH = '/cdn-cgi/local/scheduled';
const TICK_MS = 60_000;

/** Wrangler's own line for each request shows its whole query; the gateway's line shows the route. */
const WRANGLER_REQUEST = /^\[wrangler:info\] [A-Z]+ \//;

/** Variables as Wrangler reads them from a file, which only its owner reads. @throws an Error for a value that no quotes can contain */
export async function writeVariables(file: string, env: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(env).map(([name, value]) => {
    const quote = [`'`, '"', '`'].find((each) => !value.includes(each));
    if (quote === undefined) throw new Error(`${name} has all three kinds of quotes`);
    return `${name}=${quote}${value}${quote}`;
  });
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
}

/** Resolves when the edge answers. @throws with its last lines when it ends before that */
export async function startWranglerEdge(options: WranglerOptions): Promise<Edge & { exited: Promise<number | null> }> {
  const envFile = `${options.folder}/edge.env`;
  await writeVariables(envFile, options.env);

  const command = [process.execPath, `${ROOT}node_modules/wrangler/bin/wrangler.js`, 'dev'];
  command.push('--config', 'test/stack/start/wrangler.toml', '--env-file', envFile);
  command.push('--persist-to', `${options.folder}/workers`);
  command.push('--ip', '127.0.0.1', '--port', String(options.port), '--inspector-port', '0');
  // Below this level Wrangler keeps to itself what the Worker logs.
  command.push('--show-interactive-dev-session=false', '--log-level', 'log');
  // Nothing of the gateway reads Request.cf, which Wrangler would otherwise fetch from the network before it starts.
  const quiet = { WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false', CI: '1', NO_COLOR: '1' };
  const env = { ...process.env, ...quiet, NODE_EXTRA_CA_CERTS: options.caCertificate };
  const log = (line: string): void => {
    if (!WRANGLER_REQUEST.test(line)) options.log(line);
  };
  const { exited, hasEnded, stop, kill, logs } = spawnLogged(command, { cwd: ROOT, env, log });
  await until(
    'wrangler dev answers',
    async () => {
      if (hasEnded()) throw new Error(`wrangler dev ended:\n${logs.slice(-20).join('\n')}`);
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
  return { exited, stop, kill, logs: () => logs };
}
