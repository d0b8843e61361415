/**
 * A TCP proxy that can fall silent or hang up. Silent, it accepts and reads but forwards nothing, like a host whose programs
 * are stopped, and forwards everything later. Hanging up, it closes every connection, like a host that is down.
 */
import type { Socket } from 'node:net';

import { startTcpProxy } from '../services/tcp-proxy.ts';

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

export async function startSilentProxy(targetPort: number): Promise<SilentProxy> {
  let isSilent = false;
  let isGone = false;
  let held: { far: Socket; bytes: Buffer }[] = [];
  /** Connections whose clients have left, which is also forwarded later. */
  let left: Socket[] = [];

  const serve = (near: Socket, far: Socket): void => {
    if (isGone) {
      near.destroy();
      far.destroy();
      return;
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
  };
  const { port, endAll, close } = await startTcpProxy({ port: targetPort }, serve, true);

  return {
    port,
    held: () => held.reduce((sum, { bytes }) => sum + bytes.length, 0),
    silence() {
      isSilent = true;
    },
    hangUp() {
      isGone = true;
      endAll();
    },
    speak() {
      isSilent = false;
      isGone = false;
      for (const { far, bytes } of held) far.write(bytes);
      for (const far of left) far.end();
      held = [];
      left = [];
    },
    close,
  };
}
