/**
 * The steps before the first frame: the PROXY header of a configured balancer, the check of the address, the TLS
 * handshake. The order keeps the work for unknown peers small.
 */
import type { Socket } from 'node:net';

import { plainAddress } from '../shared/ip.ts';
import type { AllowedRanges } from './allowed-ranges.ts';
import type { Place } from './connection-limits.ts';
import { errorCode } from './log.ts';
import type { RefusalReason } from './metrics.ts';
import { readProxyHeader } from './proxy-protocol.ts';
import type { RangeSet } from './range-set.ts';
import type { TlsAcceptor } from './tls.ts';
import type { PeerIdentity } from './token.ts';

interface AcceptedPeer {
  /** Encrypted or not. None of the sender's bytes have been read. */
  readonly socket: Socket;
  readonly peer: PeerIdentity;
}

export interface AcceptOptions {
  readonly balancers: RangeSet;
  readonly allowedRanges: AllowedRanges;
  readonly tls: TlsAcceptor | undefined;
}

interface RefusedPeer {
  readonly refused: RefusalReason;
  readonly address: string;
  /** Why the TLS handshake failed, as OpenSSL calls it. */
  readonly code?: string;
}

export type AcceptPeer = (raw: Socket, place: Place) => Promise<AcceptedPeer | RefusedPeer>;

export function createAcceptPeer({ balancers, allowedRanges, tls }: AcceptOptions): AcceptPeer {
  return async (raw, place) => {
    const own = plainAddress(raw.remoteAddress ?? '');
    const proxied = balancers.contains(own) ? await receiveProxyHeader(raw) : { address: own };
    if ('refused' in proxied) return { refused: proxied.refused, address: own };
    const address = plainAddress(proxied.address);

    const refuse = (refused: RefusalReason): RefusedPeer => ({ refused, address });
    const refused = place.setAddress(address);
    if (refused !== undefined) return refuse(refused);
    if (!(await allowedRanges.allows(address))) return refuse('address-not-allowed');
    // The socket closed during the request to the edge; a handshake would wait for its close event forever.
    if (raw.destroyed) return refuse('opening-timeout');
    if (tls === undefined) return { socket: raw, peer: { address } };
    try {
      const { socket, subject } = await tls.accept(raw);
      return { socket, peer: { address, tlsSubject: subject } };
    } catch (error) {
      return { ...refuse('tls-handshake'), code: errorCode(error) };
    }
  };
}

type Proxied = { readonly address: string } | { readonly refused: RefusalReason };

/** Reads the header and puts back the bytes behind it. Settles also if the socket ends. */
function receiveProxyHeader(raw: Socket): Promise<Proxied> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const settle = (proxied: Proxied): void => {
      raw.off('data', onData).off('close', onEnd).off('end', onEnd);
      raw.pause();
      resolve(proxied);
    };
    const onEnd = (): void => settle({ refused: received.length === 0 ? 'balancer-check' : 'proxy-header-missing' });
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const header = readProxyHeader(received);
      if (header.kind === 'incomplete') return;
      if (header.kind === 'missing') return settle({ refused: 'proxy-header-missing' });
      if (header.kind === 'invalid') return settle({ refused: 'proxy-header-invalid' });
      // A balancer without a peer address checks that the port listens; no key could match its message.
      if (header.address === undefined) return settle({ refused: 'balancer-check' });
      settle({ address: header.address });
      const rest = received.subarray(header.length);
      if (rest.length > 0) raw.unshift(rest);
    };
    raw.on('data', onData).once('close', onEnd).once('end', onEnd);
    raw.resume();
  });
}
