/**
 * The gateway's Worker under `workerd serve`, with another configuration than Wrangler's and without its proxies. The rate
 * limits allow everything. Their binding is in the isolate, as on the platform, so that a request does not call another Worker
 * (a call needs 0.1 µs). V8's young generation is larger than workerd's default, which halves the tail.
 */
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { buildWorker, ROOT } from '../stack/services/build.ts';
import { freePort } from '../stack/services/free-port.ts';
import { until } from '../stack/services/until.ts';
import type { WorkerSettings } from '../stack/services/worker-settings.ts';

const NO_LIMIT = `export default () => ({ limit: async () => ({ success: true }) });`;

/** A text in the syntax of Cap'n Proto's configuration. */
export const quote = (text: string): string => JSON.stringify(text);

const configuration = (settings: WorkerSettings, env: Readonly<Record<string, string>>, port: number): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  extensions = [(modules = [(name = "bench:no-limit", internal = true, esModule = embed "no-limit.js")])],
  v8Flags = ["--max-semi-space-size=4"],
  services = [
    (name = "gateway", worker = .gateway),
    (name = "net", network = (allow = ["private", "public"])),
    (name = "disk", disk = (path = "storage", writable = true)),
  ],
  sockets = [
    (name = "gateway", address = "127.0.0.1:${port}", http = (), service = "gateway"),
  ],
);
const gateway :Workerd.Worker = (
  modules = [(name = "cloudflare.js", esModule = embed "cloudflare.js")],
  compatibilityDate = ${quote(settings.compatibilityDate)},
  globalOutbound = "net",
  durableObjectNamespaces = [${settings.durableObjects.map(({ className, useSQLite }) => `(className = ${quote(className)}, uniqueKey = ${quote(className)}, enableSql = ${useSQLite})`).join(', ')}],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    ${settings.durableObjects.map(({ name, className }) => `(name = ${quote(name)}, durableObjectNamespace = ${quote(className)}),`).join('\n    ')}
    ${settings.rateLimits.map(({ name }) => `(name = "${name}", wrapped = (moduleName = "bench:no-limit")),`).join('\n    ')}
    ${Object.entries(env)
      .map(([name, text]) => `(name = ${quote(name)}, text = ${quote(text)}),`)
      .join('\n    ')}
  ],
);
`;

export interface ServedWorker {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** @param env makes the variables from the address of the Worker, which its base URLs need */
export async function serveWorker(env: (url: string) => Record<string, string>): Promise<ServedWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { script, settings } = await buildWorker(join(folder, 'build'));
  await copyFile(script, join(folder, 'cloudflare.js'));
  await mkdir(join(folder, 'storage'));
  await writeFile(join(folder, 'no-limit.js'), NO_LIMIT);
  await writeFile(join(folder, 'config.capnp'), configuration(settings, env(url), port));

  const workerd = await startWorkerd(folder, `${url}/healthz`);
  return {
    url,
    pid: workerd.pid,
    async stop() {
      await workerd.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** `workerd serve` of the folder's `config.capnp`. @param readyUrl answers when it is ready */
export async function startWorkerd(
  folder: string,
  readyUrl: string,
): Promise<{ readonly pid: number; readonly stop: () => Promise<void> }> {
  const args = ['serve', '--experimental', 'config.capnp'];
  const workerd = spawn(`${ROOT}node_modules/workerd/bin/workerd`, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(workerd, 'exit');
  await until('workerd answers', async () => {
    if (workerd.exitCode !== null) throw new Error(`workerd ended with ${workerd.exitCode}`);
    return (await fetch(readyUrl).catch(() => undefined))?.ok;
  });
  return {
    pid: workerd.pid ?? 0,
    async stop() {
      workerd.kill();
      await ended;
    },
  };
}
