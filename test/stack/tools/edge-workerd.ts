/**
 * The Worker as it is deployed, in workerd, by Miniflare: Durable Objects, rate limits and static files are the real ones.
 * Requests go to it directly. Miniflare's own way in, a Worker before the Worker's, compresses what it answers and costs more
 * than most requests do.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { BUILD_FOLDER, buildWorker } from '../services/build.ts';
import type { Edge, EdgeOptions } from '../services/edge.ts';

/** Our child processes that are workerd; Linux only, which is where tests run. */
function workerdChildren(): Set<number> {
  const found = new Set<number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // Fields after the parenthesised name: state, parent (proc(5)).
      const [, comm, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
      if (comm === 'workerd' && Number(parent) === process.pid) found.add(Number(name));
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

/** Does what Cloudflare does before a Worker: sets the client's address, and drops the client's own header. */
const FRONT = `import gateway from './cloudflare.js';
export * from './cloudflare.js';
export default {
  ...gateway,
  fetch(request, env, context) {
    const forwarded = new Request(request);
    forwarded.headers.set('CF-Connecting-IP', '127.0.0.1');
    return gateway.fetch(forwarded, env, context);
  },
};`;

export async function startWorkerdEdge(options: EdgeOptions): Promise<Edge & { readonly pid: number }> {
  // Miniflare reads the variable when it is loaded, so the import must be after it.
  if (options.caCertificate !== undefined) process.env['NODE_EXTRA_CA_CERTS'] = options.caCertificate;
  const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import('miniflare');
  const { tokenPerClient, tokenPerAddress, adminPerAddress, perKey } = options.rateLimits;
  const { script, settings } = await buildWorker(process.env[BUILD_FOLDER] ?? '');
  const { compatibilityDate, assets } = settings;
  const requestsAMinute: Readonly<Record<string, number>> = {
    TOKEN_CLIENT_LIMIT: tokenPerClient,
    TOKEN_ADDRESS_LIMIT: tokenPerAddress,
    ADMIN_ADDRESS_LIMIT: adminPerAddress,
    KEY_LIMIT: perKey,
  };
  const rateLimit = ({ name, namespaceId }: { name: string; namespaceId: string }) => {
    const limit = requestsAMinute[name];
    if (limit === undefined) throw new Error(`wrangler.toml has a rate limit that tests do not know: ${name}`);
    return [name, { namespace_id: namespaceId, simple: { limit, period: 60 as const } }] as const;
  };
  const logs: string[] = [];
  const before = workerdChildren();

  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({
      // An unused port of Miniflare.
      host: '127.0.0.1',
      port: 0,
      workers: [
        {
          name: 'gateway',
          modules: [
            { type: 'ESModule', path: join(dirname(script), 'front.js'), contents: FRONT },
            { type: 'ESModule', path: script, contents: await readFile(script, 'utf8') },
          ],
          // workerd names modules from here, and none may lie above it.
          modulesRoot: dirname(script),
          compatibilityDate,
          bindings: options.env,
          durableObjects: Object.fromEntries(settings.durableObjects.map(({ name, ...object }) => [name, object])),
          ratelimits: Object.fromEntries(settings.rateLimits.map(rateLimit)),
          serviceBindings: { [assets.binding]: 'assets' },
          unsafeDirectSockets: [{ host: '127.0.0.1', port: options.port }],
        },
        // Files are asked for by the Worker only (`run_worker_first`), as of any other.
        {
          name: 'assets',
          modules: true,
          script: 'export default {}',
          compatibilityDate,
          assets: { directory: assets.directory, binding: assets.binding, routerConfig: { has_user_worker: false } },
        },
      ],
    }),
    ...(options.persistDir === undefined ? {} : { resourcePersistencePath: options.persistDir }),
    log: new Log(LogLevel.NONE),
    handleStructuredLogs: ({ message }) => void logs.push(message),
  });
  await miniflare.ready;
  const started = [...workerdChildren()].filter((pid) => !before.has(pid));
  const [pid] = started;
  if (pid === undefined) throw new Error('workerd has no process');

  return {
    pid,
    async tick() {
      const worker = await miniflare.getWorker('gateway');
      await worker.scheduled({ cron: '* * * * *' });
    },
    stop: () => miniflare.dispose(),
    async kill() {
      for (const pid of started) process.kill(pid, 'SIGKILL');
      await miniflare.dispose();
    },
    logs: () => logs,
  };
}
