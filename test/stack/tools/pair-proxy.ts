/**
 * An HTTP proxy before two processes, as edge/platform/Caddyfile describes one. It reads a complete body first, and
 * asks each process for its health. If it cannot connect, it sends the request to the other process. It keeps no connection.
 */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const HEALTH_INTERVAL_MS = 100;
const MAX_TRIES = 100;

export interface PairProxy {
  readonly port: number;
  readonly close: () => void;
}

/** @param ports the ports of the processes on this machine */
export async function startPairProxy(ports: readonly number[]): Promise<PairProxy> {
  const healthy = new Set(ports);
  const check = async (port: number): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    if (response?.ok === true) healthy.add(port);
    else healthy.delete(port);
  };
  const timer = setInterval(() => void Promise.all(ports.map(check)), HEALTH_INTERVAL_MS);
  let turn = 0;

  /** @returns false if the process could not be connected to, so that it has not seen the request */
  const forward = (port: number, from: IncomingMessage, body: Buffer, to: ServerResponse): Promise<boolean> =>
    new Promise((resolve) => {
      const headers = { ...from.headers, connection: 'close', 'content-length': body.length };
      const outgoing = request({ host: '127.0.0.1', port, path: from.url, method: from.method, headers, agent: false });
      outgoing.on('response', (answer) => {
        to.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(to).on('close', () => resolve(true));
      });
      outgoing.on('error', (error) => {
        if ('code' in error && error.code === 'ECONNREFUSED') return resolve(false);
        to.writeHead(502).end(String(error));
        resolve(true);
      });
      outgoing.end(body);
    });

  const server = createServer((from, to) => {
    void (async () => {
      const body = await buffer(from);
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const usable = ports.filter((port) => healthy.has(port));
        const port = usable[(turn += 1) % usable.length];
        if (port !== undefined && (await forward(port, from, body, to))) return;
        if (port !== undefined) healthy.delete(port);
        else await new Promise((resolve) => setTimeout(resolve, HEALTH_INTERVAL_MS));
      }
      to.writeHead(503).end('no process answers');
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      clearInterval(timer);
      server.close();
      server.closeAllConnections();
    },
  };
}
