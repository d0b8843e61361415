/** A TCP server on the loopback interface before another port, for proxies that count, delay or cut what passes. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Ends every connection; `close` does too. */
  readonly endAll: () => void;
  readonly close: () => Promise<void>;
}

const HOST = '127.0.0.1';

/**
 * @param serve gets both ends of each connection: the client's, and the one to the target
 * @param allowHalfOpen one end may close its direction alone
 */
export async function startTcpProxy(
  target: { readonly port: number; readonly host?: string },
  serve: (near: Socket, far: Socket) => void,
  allowHalfOpen = false,
): Promise<TcpProxy> {
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true, allowHalfOpen }, (near) => {
    const far = connect({ host: HOST, ...target, noDelay: true, allowHalfOpen });
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    }
    serve(near, far);
  });
  server.listen({ port: 0, host: HOST, backlog: 4096 });
  await once(server, 'listening');
  const endAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    endAll,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      endAll();
      await closed;
    },
  };
}
