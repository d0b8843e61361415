import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

import { expect, test } from 'vitest';

import { freePort, isFree } from '../../stack/services/free-port.ts';
import { assertPortsFree } from '../../stack/start/ports.ts';

test('reports a port in use with its variable, and a free port not', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const free = await freePort();
  try {
    expect([await isFree(port), await isFree(free)]).toEqual([false, true]);
    await expect(assertPortsFree({ EDGE_PORT: free, MLLP_PORT: port })).rejects.toThrow(
      `port ${port} is in use: stop the program on it, or set MLLP_PORT to another port`,
    );
  } finally {
    server.close();
  }
});
