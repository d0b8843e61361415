/** The MLLP port: takes connections within the limits, opens each, and hands it to `connection.ts`. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

import { plainAddress } from '../shared/ip.ts';
import type { AcceptPeer } from './accept-peer.ts';
import type { ConnectionLimits, Place } from './connection-limits.ts';
import { serveConnection, type Connection, type ConnectionOptions } from './connection.ts';
import { listen } from './listen.ts';
import { errorCode } from './log.ts';
import type { RefusalReason } from './metrics.ts';
import type { RangeSet } from './range-set.ts';

export interface ListenerOptions extends Omit<ConnectionOptions, 'place'> {
  readonly host: string | undefined;
  readonly port: number;
  readonly limits: ConnectionLimits;
  readonly balancers: RangeSet;
  readonly acceptPeer: AcceptPeer;
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
  const { metrics, log, limits, balancers, acceptPeer } = options;
  const connections = new Map<Socket, Connection>();
  const opening = new Set<Socket>();
  let isStopping = false;

  const refused = new WeakSet<Socket>();
  /** Once: what is refused while it is being opened is not refused again when that ends. */
  const refuse = (raw: Socket, reason: RefusalReason, sourceAddress: string): void => {
    if (refused.has(raw)) return;
    refused.add(raw);
    metrics.refusals.inc({ reason });
    log({ level: reason === 'balancer-check' ? 'debug' : 'warn', event: 'connection.refused', sourceAddress, reason });
    raw.destroy();
  };

  const welcome = async (raw: Socket, place: Place): Promise<void> => {
    const own = plainAddress(raw.remoteAddress ?? '');
    const timer = setTimeout(() => refuse(raw, 'opening-timeout', own), options.openingTimeoutMs);
    opening.add(raw);
    const accepted = await acceptPeer(raw, place);
    opening.delete(raw);
    clearTimeout(timer);
    if ('refused' in accepted) return refuse(raw, accepted.refused, accepted.address);
    // It closed while it was being opened: its event has passed.
    if (raw.destroyed) return;
    if (isStopping) return refuse(raw, 'shutting-down', accepted.peer.address);
    const connection = serveConnection(accepted.socket, accepted.peer, { ...options, place });
    connections.set(raw, connection);
    await connection.closed;
    connections.delete(raw);
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (raw) => {
    raw.on('error', () => undefined);
    const own = plainAddress(raw.remoteAddress ?? '');
    const place = limits.enter(balancers.holds(own) ? undefined : own, (reason) => {
      const connection = connections.get(raw);
      if (connection === undefined) refuse(raw, reason, own);
      else connection.abort(reason);
    });
    if (typeof place === 'string') return refuse(raw, place, own);
    metrics.connectionsTotal.inc();
    raw.once('close', () => place.leave());
    raw.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    welcome(raw, place).catch((error: unknown) => {
      log({ level: 'error', event: 'connection.failed', error });
      refuse(raw, 'internal-error', own);
    });
  });
  const port = await listen(server, {
    port: options.port,
    backlog: BACKLOG,
    ...(options.host === undefined ? {} : { host: options.host }),
  });
  // Out of file descriptors, say: the next accept may succeed.
  server.on('error', (error) => log({ level: 'error', event: 'listener.error', code: errorCode(error) }));

  return {
    port,
    async stop(graceMs) {
      isStopping = true;
      const allClosed = once(server, 'close');
      server.close();
      for (const raw of opening) raw.destroy();
      for (const connection of connections.values()) connection.drain();
      const grace = setTimeout(() => {
        for (const connection of connections.values()) connection.abort('shutting-down');
      }, graceMs);
      await allClosed;
      clearTimeout(grace);
    },
  };
}
