/** The Worker as it is deployed, in workerd, by Miniflare: Durable Objects and rate limits are the real ones. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { inject } from 'vitest';

import { workerScript } from '../services/build.ts';
import type { Edge, EdgeOptions } from '../services/edge.ts';
import { workerSettings } from '../services/worker-settings.ts';

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

export async function startWorkerdEdge(options: EdgeOptions): Promise<Edge> {
  // Miniflare reads the variable when it is loaded, hence the late import.
  if (options.caCertificate !== undefined) process.env['NODE_EXTRA_CA_CERTS'] = options.caCertificate;
  const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import('miniflare');
  const { tokenPerClient, tokenPerAddress, adminPerAddress, perKey } = options.rateLimits;
  const settings = await workerSettings();
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
  const scriptPath = await workerScript(inject('buildFolder'));
  const before = workerdChildren();

  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({
      name: 'gateway',
      modules: true,
      scriptPath,
      // workerd names modules from here, and none may lie above it.
      modulesRoot: dirname(scriptPath),
      compatibilityDate: settings.compatibilityDate,
      host: '127.0.0.1',
      port: options.port,
      bindings: options.env,
      durableObjects: Object.fromEntries(settings.durableObjects.map(({ name, ...object }) => [name, object])),
      ratelimits: Object.fromEntries(settings.rateLimits.map(rateLimit)),
      assets: {
        directory: settings.assets.directory,
        binding: settings.assets.binding,
        routerConfig: { invoke_user_worker_ahead_of_assets: settings.assets.workerFirst, has_user_worker: true },
      },
    }),
    ...(options.persistDir === undefined ? {} : { resourcePersistencePath: options.persistDir }),
    log: new Log(LogLevel.NONE),
    handleStructuredLogs: ({ message }) => void logs.push(message),
  });
  await miniflare.ready;
  const started = [...workerdChildren()].filter((pid) => !before.has(pid));

  return {
    async tick() {
      const worker = await miniflare.getWorker();
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
