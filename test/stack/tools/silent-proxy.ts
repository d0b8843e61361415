/**
 * A TCP proxy that can fall silent or hang up. Silent, it accepts and reads but forwards nothing, like a host whose programs
 * are stopped, and forwards everything later. Hanging up, it closes every connection, like a host that is down.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface SilentProxy {
  readonly port: number;
  /** The number of bytes from clients that were not forwarded. */
  held(): number;
  silence(): void;
  hangUp(): void;
  /** Ends either. */
  speak(): void;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

export async function startSilentProxy(targetPort: number): Promise<SilentProxy> {
  const open = new Set<Socket>();
  let isSilent = false;
  let isGone = false;
  let held: { far: Socket; bytes: Buffer }[] = [];
  /** Connections whose clients have left, which is also forwarded later. */
  let left: Socket[] = [];

  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (isGone) {
      near.destroy();
      return;
    }
    const far = connect({ port: targetPort, host: HOST, allowHalfOpen: true });
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    }
    near.on('data', (bytes: Buffer) => {
      if (isSilent) held.push({ far, bytes });
      else far.write(bytes);
    });
    near.on('end', () => {
      if (isSilent) left.push(far);
      else far.end();
    });
    far.on('data', (bytes: Buffer) => void near.write(bytes));
    far.on('end', () => near.end());
  });
  server.listen(0, HOST);
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    held: () => held.reduce((sum, { bytes }) => sum + bytes.length, 0),
    silence() {
      isSilent = true;
    },
    hangUp() {
      isGone = true;
      for (const socket of open) socket.destroy();
    },
    speak() {
      isSilent = false;
      isGone = false;
      for (const { far, bytes } of held) far.write(bytes);
      for (const far of left) far.end();
      held = [];
      left = [];
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
