/**
 * Workers under `workerd serve`. The tests start the gateway's Worker by Miniflare (test/stack/tools/edge-workerd.ts). Miniflare needs
 * more CPU for a read than the gateway, so it would hide what is measured. The rate limits allow everything. Their binding is in the isolate,
 * as on the platform. V8's young generation is larger than workerd's default, which halves the tail.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';

import { ROOT } from '../stack/services/build.ts';
import { freePort } from '../stack/services/free-port.ts';
import { removeTemporary, temporaryFolder } from '../stack/services/temporary-folder.ts';
import { until } from '../stack/services/until.ts';
import { type WorkerSettings, workerSettings } from '../stack/services/worker-settings.ts';

const NO_LIMIT = `export default () => ({ limit: async () => ({ success: true }) });`;

export interface Worker {
  readonly name: string;
  /** The text of its module. */
  readonly script: string;
  /** Makes its variables from its address. */
  readonly env?: (url: string) => Readonly<Record<string, string>>;
  readonly settings?: Pick<WorkerSettings, 'durableObjects' | 'rateLimits'>;
}

/** A text in the syntax of Cap'n Proto's configuration. */
const quote = (text: string): string => JSON.stringify(text);

function workerText({ name, env = () => ({}), settings }: Worker, url: string, compatibilityDate: string): string {
  const { durableObjects = [], rateLimits = [] } = settings ?? {};
  const namespaces = durableObjects.map(
    ({ className, useSQLite }) =>
      `(className = ${quote(className)}, uniqueKey = ${quote(className)}, enableSql = ${useSQLite})`,
  );
  const bindings = [
    ...durableObjects.map((one) => [one.name, `durableObjectNamespace = ${quote(one.className)}`]),
    ...rateLimits.map((one) => [one.name, 'wrapped = (moduleName = "bench:no-limit")']),
    ...Object.entries(env(url)).map(([variable, text]) => [variable, `text = ${quote(text)}`]),
  ].map(([binding = '', value]) => `(name = ${quote(binding)}, ${value})`);
  return `(name = ${quote(name)}, worker = (
    modules = [(name = "${name}.js", esModule = embed "${name}.js")], compatibilityDate = ${quote(compatibilityDate)},
    globalOutbound = "net", durableObjectStorage = (localDisk = "disk"),
    durableObjectNamespaces = [${namespaces.join(', ')}],
    bindings = [${bindings.join(', ')}])),`;
}

export interface Workerd {
  readonly pid: number;
  /** The addresses of the Workers, in their order. */
  readonly urls: readonly string[];
  readonly stop: () => Promise<void>;
}

/** @param workers the first one answers GET /healthz */
export async function startWorkerd(workers: readonly Worker[]): Promise<Workerd> {
  const { compatibilityDate } = await workerSettings(ROOT);
  const folder = await temporaryFolder('workerd');
  await mkdir(`${folder}/storage`);
  await writeFile(`${folder}/no-limit.js`, NO_LIMIT);
  const placed: (Worker & { readonly port: number; readonly url: string })[] = [];
  for (const worker of workers) {
    const port = await freePort();
    placed.push({ ...worker, port, url: `http://127.0.0.1:${port}` });
    await writeFile(`${folder}/${worker.name}.js`, worker.script);
  }
  const sockets = placed.map(
    ({ name, port }) => `(name = "${name}", address = "127.0.0.1:${port}", http = (), service = "${name}")`,
  );
  await writeFile(
    `${folder}/config.capnp`,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  extensions = [(modules = [(name = "bench:no-limit", internal = true, esModule = embed "no-limit.js")])],
  v8Flags = ["--max-semi-space-size=4"],
  services = [
    ${placed.map((worker) => workerText(worker, worker.url, compatibilityDate)).join('\n    ')}
    (name = "net", network = (allow = ["private", "public"])),
    (name = "disk", disk = (path = "storage", writable = true)),
  ],
  sockets = [${sockets.join(', ')}],
);
`,
  );
  const workerd = spawn(`${ROOT}node_modules/workerd/bin/workerd`, ['serve', '--experimental', 'config.capnp'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(workerd, 'exit');
  await until('workerd answers', async () => {
    if (workerd.exitCode !== null) throw new Error(`workerd ended with ${workerd.exitCode}`);
    return (await fetch(`${placed[0]?.url}/healthz`).catch(() => undefined))?.ok;
  });
  return {
    pid: workerd.pid ?? 0,
    urls: placed.map(({ url }) => url),
    async stop() {
      workerd.kill();
      await ended;
      await removeTemporary(folder);
    },
  };
}
