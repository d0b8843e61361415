/**
 * A bad network between two programs: a TCP proxy that cuts connections at random bytes, and forwards data late and in
 * random pieces.
 */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { startTcpProxy } from '../services/tcp-proxy.ts';

export interface CuttingProxyOptions {
  readonly targetPort: number;
  /** From 0 to 1, exclusive. */
  readonly random: () => number;
  /** On average so many bytes pass, of both directions, before a connection is cut. */
  readonly meanBytesToCut: number;
  readonly maxDelayMs: number;
}

export interface CuttingProxy {
  readonly port: number;
  cuts(): number;
  /** From now on nothing is cut or delayed. */
  calm(): void;
  close(): Promise<void>;
}

export async function startCuttingProxy(options: CuttingProxyOptions): Promise<CuttingProxy> {
  const { random, targetPort } = options;
  let cuts = 0;
  let isCalm = false;

  const serve = (near: Socket, far: Socket): void => {
    let bytesToCut = -Math.log(1 - random()) * options.meanBytesToCut;
    const end = (how: 'destroy' | 'resetAndDestroy'): void => {
      near[how]();
      far[how]();
    };
    const carry = async (from: Socket, to: Socket): Promise<void> => {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        for (let at = 0; at < chunk.length;) {
          const piece = chunk.subarray(at, at + (isCalm ? chunk.length : 1 + Math.floor(random() * chunk.length)));
          at += piece.length;
          if (!isCalm && random() < 0.2) await delay(random() * options.maxDelayMs);
          bytesToCut -= piece.length;
          if (!isCalm && bytesToCut < 0) {
            cuts += 1;
            to.write(piece.subarray(0, Math.floor(random() * piece.length)));
            return end(random() < 0.5 ? 'resetAndDestroy' : 'destroy');
          }
          to.write(piece);
        }
      }
      to.end();
    };
    for (const socket of [near, far]) socket.on('error', () => end('destroy'));
    carry(near, far).catch(() => end('destroy'));
    carry(far, near).catch(() => end('destroy'));
  };

  const { port, close } = await startTcpProxy({ port: targetPort }, serve, true);
  return {
    port,
    cuts: () => cuts,
    calm: () => {
      isCalm = true;
    },
    close,
  };
}
