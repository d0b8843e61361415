/** A server that listens, and the port it really has, which is another than the one asked for when that was 0. */
import { once } from 'node:events';
import type { ListenOptions, Server } from 'node:net';

/** Resolves with the port when it listens. @throws when it cannot (port taken, address not ours) */
export async function listen(server: Server, options: ListenOptions): Promise<number> {
  server.listen(options);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a TCP port');
  return address.port;
}
