/**
 * Replaces the edge in tests of the sidecar alone: outages, delays, invalid answers. Like the edge it checks the contract
 * (shared/mllp-contract.ts): a new token for each request, over exactly that body.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { createLocalJWKSet, jwtVerify } from 'jose';

import {
  MLLP_CONTENT_TYPE,
  MLLP_MESSAGES_PATH,
  MLLP_RANGES_PATH,
  SIDECAR_TOKEN_AUDIENCE,
  SIDECAR_TOKEN_TYPE,
  sidecarClaims,
  type SidecarClaims,
} from '../../../shared/mllp-contract.ts';
import type { Secrets } from '../services/secrets.ts';

export interface Forwarded {
  readonly text: string;
  readonly claims: SidecarClaims;
}

export interface DoubleReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface EdgeDouble {
  readonly url: string;
  /** Every message that arrived, in order, repetitions included. */
  readonly received: Forwarded[];
  /** How many times the ranges were asked for. */
  asked: number;
  /** The allowed ranges; undefined: 503. */
  ranges: readonly string[] | undefined;
  /** Delays the answer with the ranges until it settles; by default there is no delay. */
  untilRanges: Promise<void>;
  /** Decides on the answer; default: AA to each. Undefined: the connection is cut without one. */
  reply: (message: Forwarded) => Promise<DoubleReply | undefined> | DoubleReply | undefined;
  close(): Promise<void>;
}

export const controlIdOf = (text: string): string => text.split('|')[9] ?? '';

export const acknowledge = ({ text }: Forwarded, code = 'AA'): DoubleReply => ({
  status: 200,
  headers: { 'Content-Type': MLLP_CONTENT_TYPE },
  body: `MSH|^~\\&|GW|GW|A|B|20261101||ACK|1|P|2.5.1\rMSA|${code}|${controlIdOf(text)}\r`,
});

export async function startEdgeDouble(secrets: Secrets): Promise<EdgeDouble> {
  const keys = createLocalJWKSet(JSON.parse(secrets.env.MLLP_SIDECAR_KEYS) as { keys: [] });
  const used = new Set<string>();

  const claimsOf = async (request: IncomingMessage, body: Buffer): Promise<SidecarClaims> => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const { payload } = await jwtVerify(token, keys, { audience: SIDECAR_TOKEN_AUDIENCE, typ: SIDECAR_TOKEN_TYPE });
    const claims = sidecarClaims.parse(payload);
    const sha256 = createHash('sha256').update(body).digest('base64url');
    if (claims.sha256 !== sha256 || used.has(claims.jti)) throw new Error('not over this body, or used before');
    used.add(claims.jti);
    return claims;
  };

  const send = (response: ServerResponse, reply: DoubleReply | undefined): void => {
    if (reply === undefined) return void response.destroy();
    response.writeHead(reply.status, reply.headers).end(reply.body);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray());
    const claims = await claimsOf(request, body);
    if (request.method === 'GET' && request.url === MLLP_RANGES_PATH) {
      double.asked += 1;
      await double.untilRanges;
      if (double.ranges === undefined) return send(response, { status: 503 });
      return send(response, { status: 200, body: JSON.stringify({ ranges: double.ranges, maxAgeSeconds: 15 }) });
    }
    if (request.method !== 'POST' || request.url !== MLLP_MESSAGES_PATH) return send(response, { status: 404 });
    const message = { text: body.toString('latin1'), claims };
    double.received.push(message);
    send(response, await double.reply(message));
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => send(response, { status: 404 }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a listening TCP server has no port');

  const double: EdgeDouble = {
    url: `http://127.0.0.1:${address.port}`,
    received: [],
    asked: 0,
    ranges: ['*'],
    untilRanges: Promise.resolve(),
    reply: (message) => acknowledge(message),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return double;
}

/** A message whose control id is all that matters. */
export const message = (controlId: string, rest = ''): string =>
  `MSH|^~\\&|APP|FAC|GW|GW|20261101083000||ADT^A04^ADT_A01|${controlId}|P|2.5.1\rPID|1||${controlId}^^^FAC^MR\r${rest}`;
