/** Starts a server and returns its port, which the system chooses if the requested one is 0. */
import { once } from 'node:events';
import type { ListenOptions, Server } from 'node:net';

/** Resolves with the port. @throws if the port is in use or the address is not local */
export async function listen(server: Server, options: ListenOptions): Promise<number> {
  server.listen(options);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a TCP port');
  return address.port;
}
