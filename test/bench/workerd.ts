/**
 * The gateway's Worker under `workerd serve` with a configuration of our own: what production runs, without Wrangler's
 * or Miniflare's proxies in front. Rate limits are switched off by a service that allows everything; V8's young
 * generation is larger than workerd's default, which halves the tail.
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

const HELLO = `export default { fetch: () => new Response('{"ok":true}') };`;
const NO_LIMIT = `import { WorkerEntrypoint } from 'cloudflare:workers';
export class Limit extends WorkerEntrypoint { async limit() { return { success: true }; } }
export default { fetch: () => new Response(null, { status: 404 }) };`;

const quote = (text: string): string => JSON.stringify(text);

const configuration = (
  settings: WorkerSettings,
  env: Readonly<Record<string, string>>,
  port: number,
  helloPort: number,
  v8Flags: readonly string[],
): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = [${['--max-semi-space-size=4', ...v8Flags].map(quote).join(', ')}],
  services = [
    (name = "gateway", worker = .gateway),
    (name = "hello", worker = (modules = [(name = "hello.js", esModule = embed "hello.js")], compatibilityDate = ${quote(settings.compatibilityDate)})),
    (name = "limits", worker = (modules = [(name = "limits.js", esModule = embed "limits.js")], compatibilityDate = ${quote(settings.compatibilityDate)})),
    (name = "net", network = (allow = ["private", "public"])),
    (name = "disk", disk = (path = "storage", writable = true)),
  ],
  sockets = [
    (name = "gateway", address = "127.0.0.1:${port}", http = (), service = "gateway"),
    (name = "hello", address = "127.0.0.1:${helloPort}", http = (), service = "hello"),
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
    ${settings.rateLimits.map(({ name }) => `(name = "${name}", service = (name = "limits", entrypoint = "Limit")),`).join('\n    ')}
    ${Object.entries(env)
      .map(([name, text]) => `(name = ${quote(name)}, text = ${quote(text)}),`)
      .join('\n    ')}
  ],
);
`;

export interface ServedWorker {
  readonly url: string;
  /** A Worker that only says hello, in the same process: the runtime's own limit. */
  readonly helloUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * @param env for the address the Worker will have, which its base URLs need
 * @param v8Flags beside the usual
 */
export async function serveWorker(
  env: (url: string) => Record<string, string>,
  v8Flags: readonly string[] = [],
): Promise<ServedWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
  const port = await freePort();
  const helloPort = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { script, settings } = await buildWorker(join(folder, 'build'));
  await copyFile(script, join(folder, 'cloudflare.js'));
  await mkdir(join(folder, 'storage'));
  await writeFile(join(folder, 'hello.js'), HELLO);
  await writeFile(join(folder, 'limits.js'), NO_LIMIT);
  await writeFile(join(folder, 'config.capnp'), configuration(settings, env(url), port, helloPort, v8Flags));

  const workerd = spawn(`${ROOT}node_modules/workerd/bin/workerd`, ['serve', '--experimental', 'config.capnp'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(workerd, 'exit');
  await until('workerd answers', async () => {
    if (workerd.exitCode !== null) throw new Error(`workerd ended with ${workerd.exitCode}`);
    return (await fetch(`${url}/healthz`).catch(() => undefined))?.ok;
  });
  return {
    url,
    helloUrl: `http://127.0.0.1:${helloPort}`,
    pid: workerd.pid ?? 0,
    async stop() {
      workerd.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
