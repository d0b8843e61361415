/** The MLLP port: accepts connections within the limits, opens each, and hands it to `connection.ts`. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

import { plainAddress } from '../shared/ip.ts';
import type { AcceptPeer } from './accept-peer.ts';
import type { ConnectionHistory } from './connection-history.ts';
import type { ConnectionLimits, Place } from './connection-limits.ts';
import { serveConnection, type Connection, type ConnectionOptions } from './connection.ts';
import { listen } from './listen.ts';
import { errorCode } from './log.ts';
import type { RefusalReason } from './metrics.ts';
import type { RangeSet } from './range-set.ts';

export interface ListenerOptions extends Omit<ConnectionOptions, 'place' | 'recorded'> {
  readonly host: string | undefined;
  readonly port: number;
  readonly limits: ConnectionLimits;
  readonly balancers: RangeSet;
  readonly acceptPeer: AcceptPeer;
  readonly openingTimeoutMs: number;
  readonly history: ConnectionHistory;
}

export interface Listener {
  readonly port: number;
  /** Stops accepting, finishes messages in flight, and closes the rest after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** Detects vanished peers long before the idle timeout. */
const TCP_KEEP_ALIVE_MS = 60_000;
const BACKLOG = 1024;

/** Resolves when the port listens. @throws if the port is in use or the address is not local */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { metrics, log, limits, balancers, acceptPeer, history } = options;
  const connections = new Map<Socket, Connection>();
  const opening = new Set<Socket>();
  let isStopping = false;

  const refused = new WeakSet<Socket>();
  /** Logs and counts a rejected connection once, even if its opening ends later. */
  const refuse = (raw: Socket, reason: RefusalReason, sourceAddress: string, code?: string): void => {
    if (refused.has(raw)) return;
    refused.add(raw);
    metrics.refusals.inc({ reason });
    if (reason !== 'balancer-check') history.refused(sourceAddress, reason);
    const level = reason === 'balancer-check' ? 'debug' : 'warn';
    log({ level, event: 'connection.refused', sourceAddress, reason, code });
    raw.destroy();
  };

  const welcome = async (raw: Socket, place: Place): Promise<void> => {
    const own = plainAddress(raw.remoteAddress ?? '');
    const timer = setTimeout(() => refuse(raw, 'opening-timeout', own), options.openingTimeoutMs);
    opening.add(raw);
    const accepted = await acceptPeer(raw, place);
    opening.delete(raw);
    clearTimeout(timer);
    if ('refused' in accepted) return refuse(raw, accepted.refused, accepted.address, accepted.code);
    // The socket closed while the connection was opened, so its close event has passed.
    if (raw.destroyed) return;
    if (isStopping) return refuse(raw, 'shutting-down', accepted.peer.address);
    const connection = serveConnection(accepted.socket, accepted.peer, {
      ...options,
      place,
      recorded: history.open(accepted.peer),
    });
    connections.set(raw, connection);
    await connection.closed;
    connections.delete(raw);
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (raw) => {
    raw.on('error', () => undefined);
    const own = plainAddress(raw.remoteAddress ?? '');
    const place = limits.enter(balancers.contains(own) ? undefined : own, (reason) => {
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
  // For example out of file descriptors: the next accept may succeed.
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
