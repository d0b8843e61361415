/** The port a server really listens on, which is another than the one asked for when that was 0. */
import type { Server } from 'node:net';

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a TCP port');
  return address.port;
}
