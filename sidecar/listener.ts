/** The MLLP port: takes connections within the limits, opens each, and hands it to `connection.ts`. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

import { plainAddress } from '../shared/ip.ts';
import type { Admission } from './admission.ts';
import { serveConnection, type Connection, type ConnectionOptions } from './connection.ts';
import { errorCode, framesOf } from './log.ts';
import type { RefusalReason } from './metrics.ts';
import type { Open } from './opening.ts';
import { portOf } from './port-of.ts';

export interface ListenerOptions extends ConnectionOptions {
  readonly host: string | undefined;
  readonly port: number;
  readonly admission: Admission;
  readonly open: Open;
  readonly openingTimeoutMs: number;
}

export interface Listener {
  readonly port: number;
  /** Stops accepting, finishes what is in flight, and after `graceMs` ends what is not finished. */
  stop(graceMs: number): Promise<void>;
}

/** Finds peers that vanished without a word, long before the idle timeout. */
const TCP_KEEP_ALIVE_MS = 60_000;
const BACKLOG = 1024;

/** Resolves when it listens. @throws when it cannot (port taken, address not ours) */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { metrics, log, admission, open } = options;
  const connections = new Set<Connection>();
  const opening = new Set<Socket>();
  let isStopping = false;

  const refuse = (raw: Socket, reason: RefusalReason, sourceAddress: string): void => {
    metrics.refusals.inc({ reason });
    log[reason === 'balancer-check' ? 'debug' : 'warn']({ sourceAddress, reason }, 'connection.refused');
    raw.destroy();
  };

  const welcome = async (raw: Socket): Promise<void> => {
    const own = plainAddress(raw.remoteAddress ?? '');
    let isTooLate = false;
    const timer = setTimeout(() => {
      isTooLate = true;
      refuse(raw, 'opening-timeout', own);
    }, options.openingTimeoutMs);
    opening.add(raw);
    const opened = await open(raw);
    opening.delete(raw);
    clearTimeout(timer);
    if ('refused' in opened) {
      if (!isTooLate) refuse(raw, opened.refused, opened.address);
      return;
    }
    raw.once('close', opened.leave);
    // It closed while it was being opened: its event has passed.
    if (raw.destroyed) return opened.leave();
    if (isStopping) return refuse(raw, 'shutting-down', opened.peer.address);
    const connection = serveConnection(opened.socket, opened.peer, options);
    connections.add(connection);
    await connection.closed;
    connections.delete(connection);
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (raw) => {
    raw.on('error', () => undefined);
    const leave = admission.enter();
    if (typeof leave === 'string') return refuse(raw, leave, plainAddress(raw.remoteAddress ?? ''));
    metrics.connectionsTotal.inc();
    raw.once('close', leave);
    raw.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    welcome(raw).catch((error: unknown) => {
      log.error({ code: errorCode(error), at: framesOf(error) }, 'connection.failed');
      refuse(raw, 'internal-error', plainAddress(raw.remoteAddress ?? ''));
    });
  });
  server.listen({
    port: options.port,
    backlog: BACKLOG,
    ...(options.host === undefined ? {} : { host: options.host }),
  });
  await once(server, 'listening');
  // Out of file descriptors, say: the next accept may succeed.
  server.on('error', (error) => log.error({ code: errorCode(error) }, 'listener.error'));

  return {
    port: portOf(server),
    async stop(graceMs) {
      isStopping = true;
      const allClosed = once(server, 'close');
      server.close();
      for (const raw of opening) raw.destroy();
      for (const connection of connections) connection.drain();
      const grace = setTimeout(() => {
        for (const connection of connections) connection.abort('shutting-down');
      }, graceMs);
      await allClosed;
      clearTimeout(grace);
    },
  };
}
