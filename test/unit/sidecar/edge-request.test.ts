/** A kept connection that the edge has closed is not an outage; a new connection that breaks is one. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { createEdgeClient } from '../../../sidecar/edge-request.ts';
import { beginExchange } from '../../../sidecar/exchange.ts';
import { createSigner } from '../../../sidecar/token.ts';
import { es256PrivateJwk } from '../../../shared/es256-jwk.ts';
import { makeSecrets } from '../../stack/services/secrets.ts';

/** @param breaks true if a connection is reset on its n-th request, from 1 */
async function client(breaks: (nth: number) => boolean) {
  const requests = new Map<Socket, number>();
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    const nth = (requests.get(request.socket) ?? 0) + 1;
    requests.set(request.socket, nth);
    if (breaks(nth)) request.socket.resetAndDestroy();
    else response.end('answer');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { sidecarPrivateKey } = await makeSecrets();
  const sign = createSigner('sidecar', es256PrivateJwk.parse(sidecarPrivateKey));
  const edge = createEdgeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, sign, 2);
  onTestFinished(() => {
    edge.close();
    server.close();
  });
  const ask = (requestId: string) =>
    edge.ask({
      exchange: { ...beginExchange(), requestId },
      method: 'POST',
      path: '/',
      peer: { address: '' },
      timeoutMs: 5_000,
    });
  return { ask, asked };
}

test('repeats a request immediately on a closed idle connection, with the same id and a new token', async () => {
  const { ask, asked } = await client((nth) => nth > 1);
  expect((await ask('request-1')).status).toBe(200);
  expect((await ask('request-2')).body.toString()).toBe('answer');
  expect(asked.map(({ headers }) => headers['x-request-id'])).toEqual(['request-1', 'request-2', 'request-2']);
  expect(new Set(asked.map(({ headers }) => headers.authorization)).size).toBe(3);
});

test('a new connection that is closed: the network’s error, and no second try', async () => {
  const { ask, asked } = await client(() => true);
  await expect(ask('request-1')).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(asked).toHaveLength(1);
});
