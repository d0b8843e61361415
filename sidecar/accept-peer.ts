/**
 * What comes before the first frame: the PROXY header where the peer is a configured balancer, whether the address may
 * send at all, the TLS handshake. In this order, so that least is done for whom least is known.
 */
import type { Socket } from 'node:net';

import { plainAddress } from '../shared/ip.ts';
import type { AllowedRanges } from './allowed-ranges.ts';
import type { Place } from './connection-limits.ts';
import type { RefusalReason } from './metrics.ts';
import { readProxyHeader } from './proxy-protocol.ts';
import type { RangeSet } from './range-set.ts';
import type { TlsAcceptor } from './tls.ts';
import type { PeerIdentity } from './token.ts';

export interface AcceptedPeer {
  /** Encrypted or not; nothing has been read of what the sender sends. */
  readonly socket: Socket;
  readonly peer: PeerIdentity;
}

export interface AcceptOptions {
  readonly balancers: RangeSet;
  readonly allowedRanges: AllowedRanges;
  readonly tls: TlsAcceptor | undefined;
}

export interface RefusedPeer {
  readonly refused: RefusalReason;
  readonly address: string;
}

/** @param place that the connection has */
export type AcceptPeer = (raw: Socket, place: Place) => Promise<AcceptedPeer | RefusedPeer>;

export function createAcceptPeer({ balancers, allowedRanges, tls }: AcceptOptions): AcceptPeer {
  return async (raw, place) => {
    const own = plainAddress(raw.remoteAddress ?? '');
    const told = balancers.holds(own) ? await takeProxyHeader(raw) : { address: own };
    if ('refused' in told) return { refused: told.refused, address: own };
    const address = plainAddress(told.address);

    const refuse = (refused: RefusalReason): RefusedPeer => ({ refused, address });
    const refused = place.isOf(address);
    if (refused !== undefined) return refuse(refused);
    if (!(await allowedRanges.allows(address))) return refuse('address-not-allowed');
    // It went while the edge was asked; its event has passed, so that a handshake would never end.
    if (raw.destroyed) return refuse('opening-timeout');
    if (tls === undefined) return { socket: raw, peer: { address } };
    try {
      const { socket, subject } = await tls.accept(raw);
      return { socket, peer: { address, tlsSubject: subject } };
    } catch {
      return refuse('tls-handshake');
    }
  };
}

type Told = { readonly address: string } | { readonly refused: RefusalReason };

/** Reads the header and puts back what follows it. Settles also when the socket ends. */
function takeProxyHeader(raw: Socket): Promise<Told> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const settle = (told: Told): void => {
      raw.off('data', onData).off('close', onEnd).off('end', onEnd);
      raw.pause();
      resolve(told);
    };
    const onEnd = (): void => settle({ refused: received.length === 0 ? 'balancer-check' : 'proxy-header-missing' });
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const header = readProxyHeader(received);
      if (header.kind === 'incomplete') return;
      if (header.kind === 'missing') return settle({ refused: 'proxy-header-missing' });
      if (header.kind === 'invalid') return settle({ refused: 'proxy-header-invalid' });
      // A balancer that speaks for itself looks whether we listen; no key could be found for its message anyway.
      if (header.address === undefined) return settle({ refused: 'balancer-check' });
      settle({ address: header.address });
      const rest = received.subarray(header.length);
      if (rest.length > 0) raw.unshift(rest);
    };
    raw.on('data', onData).once('close', onEnd).once('end', onEnd);
    raw.resume();
  });
}
