/** `/healthz`, `/readyz` and `/metrics` on a separate port, by default on loopback. They contain no message data. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

import type { Registry } from 'prom-client';

import { listen } from './listen.ts';

export interface Health {
  readonly port: number;
  close(): Promise<void>;
}

export interface HealthOptions {
  readonly host: string;
  readonly port: number;
  readonly registry: Registry;
  /** The reasons why messages cannot be accepted; empty means ready. */
  readonly problems: () => readonly string[];
}

export async function startHealth({ host, port, registry, problems }: HealthOptions): Promise<Health> {
  const routes: Readonly<Record<string, (response: ServerResponse) => Promise<void> | void>> = {
    '/healthz': (response) => send(response, 200, 'text/plain', 'ok\n'),
    '/readyz': (response) => {
      const found = problems();
      const body = JSON.stringify({ status: found.length === 0 ? 'ready' : 'not ready', problems: found });
      send(response, found.length === 0 ? 200 : 503, 'application/json', `${body}\n`);
    },
    '/metrics': async (response) => send(response, 200, registry.contentType, await registry.metrics()),
  };
  const server = createServer((request, response) => {
    const route = routes[new URL(request.url ?? '/', 'http://localhost').pathname];
    if (route === undefined) return send(response, 404, 'text/plain', 'not found\n');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return send(response, 405, 'text/plain', 'method not allowed\n');
    }
    Promise.resolve(route(response)).catch(() => response.destroy());
  });
  const listening = await listen(server, { port, host });
  return {
    port: listening,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close').catch(() => undefined);
    },
  };
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}
