/** A line with a delay: bytes to a port of this machine arrive later, and so do the answers. */
import type { Socket } from 'node:net';

import { startTcpProxy, type TcpProxy } from '../stack/services/tcp-proxy.ts';

/** @param roundTripMs the delay of a round trip, half of it in each direction */
export function startLine(to: number, roundTripMs: number): Promise<TcpProxy> {
  const carry = (from: Socket, into: Socket): void => {
    const later = (work: () => void): void => {
      if (roundTripMs === 0) work();
      else setTimeout(work, roundTripMs / 2);
    };
    from.on('data', (chunk) => later(() => into.write(chunk)));
    from.on('end', () => later(() => into.end()));
    from.on('error', () => into.destroy());
  };
  return startTcpProxy({ port: to }, (near, far) => {
    carry(near, far);
    carry(far, near);
  });
}
