/** A client's own HTTPS host, which serves JWKS or misbehaves, path by path; it counts what it is asked for. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';

import type { JWK } from 'jose';

import type { Certificate } from './certificate.ts';
import { freePort } from './free-port.ts';
import { KEEP_ALIVE_MS } from './keep-alive.ts';

export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

export interface KeyHost {
  readonly port: number;
  /** Gives a path its behaviour, and returns the URI. */
  serve(path: string, behaviour: Behaviour): string;
  fetches(path: string): number;
  /** Ends all connections, and accepts none for a time. */
  restart(awayMs: number): Promise<void>;
  stop(): Promise<void>;
}

export const jwks =
  (keys: readonly JWK[], headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ keys }));
  };

export async function startKeyHost({ certificate, privateKey }: Certificate): Promise<KeyHost> {
  const behaviours = new Map<string, Behaviour>();
  const counts = new Map<string, number>();
  const tls = { cert: certificate, key: privateKey };
  const server = createServer({ ...tls, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const path = request.url ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const behaviour = behaviours.get(path);
    if (behaviour === undefined) response.writeHead(404).end();
    else behaviour(response, request);
  });
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  // Not a port of the system's choice, which an outgoing connection may get while the host is away.
  await listen(await freePort());
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    port,
    serve(path, behaviour) {
      behaviours.set(path, behaviour);
      return `https://127.0.0.1:${port}${path}`;
    },
    fetches: (path) => counts.get(path) ?? 0,
    async restart(awayMs) {
      await close();
      await delay(awayMs);
      await listen(port);
    },
    stop: close,
  };
}
