/** A line that takes time: what is sent to a port of this machine arrives later, and so do the answers. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Line {
  readonly port: number;
  close(): Promise<void>;
}

/** @param roundTripMs there and back, half of it each way */
export async function startLine(to: number, roundTripMs: number): Promise<Line> {
  const sockets = new Set<Socket>();
  const carry = (from: Socket, into: Socket): void => {
    from.setNoDelay(true);
    sockets.add(from);
    const later = (work: () => void): void => {
      if (roundTripMs === 0) work();
      else setTimeout(work, roundTripMs / 2);
    };
    from.on('data', (chunk) => later(() => into.write(chunk)));
    from.on('end', () => later(() => into.end()));
    from.on('error', () => into.destroy());
    from.on('close', () => sockets.delete(from));
  };
  const server = createServer((caller) => {
    const called = connect(to, '127.0.0.1');
    carry(caller, called);
    carry(called, caller);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const close = async (): Promise<void> => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: typeof address === 'object' && address !== null ? address.port : 0, close };
}
