/** One HTTP request to the edge over kept-alive connections: it asks once, bounded in time and size, and judges nothing. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

import { MLLP_CONTENT_TYPE } from '../shared/mllp-contract.ts';
import { sha256Of, type PeerIdentity, type SignToken } from './token.ts';

export interface EdgeReply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface EdgeCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly peer: PeerIdentity;
  readonly body?: Uint8Array;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface EdgeClient {
  /** @throws the network's error, or `EdgeTimeout` */
  ask(call: EdgeCall): Promise<EdgeReply>;
  close(): void;
}

export class EdgeTimeout extends Error {
  override readonly name = 'EdgeTimeout';
}

const EMPTY = new Uint8Array();
/** An ACK holds at most a hundred ERR segments; the list of ranges is short. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** @param baseUrl of the edge, with or without a path prefix */
export function createEdgeClient(baseUrl: string, signToken: SignToken, maxSockets: number): EdgeClient {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const isHttps = protocol === 'https:';
  // Taken apart once: parsing it for each message costs as much as framing it. Brackets are the URL's, not the host's.
  const target = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port };
  const prefix = pathname.replace(/\/+$/, '');
  const keepAlive = { keepAlive: true, maxSockets, maxFreeSockets: maxSockets, scheduling: 'lifo' } as const;
  const agent = isHttps ? new HttpsAgent(keepAlive) : new HttpAgent(keepAlive);
  const request = isHttps ? httpsRequest : httpRequest;

  const ask = ({ method, path, peer, body = EMPTY, timeoutMs, signal }: EdgeCall): Promise<EdgeReply> =>
    new Promise((resolve, reject) => {
      const headers = {
        Authorization: `Bearer ${signToken(peer, sha256Of(body))}`,
        ...(method === 'POST' ? { 'Content-Type': MLLP_CONTENT_TYPE, 'Content-Length': body.byteLength } : {}),
      };
      const call = request({
        ...target,
        path: `${prefix}${path}`,
        method,
        agent,
        headers,
        ...(signal === undefined ? {} : { signal }),
      });
      const timer = setTimeout(() => call.destroy(new EdgeTimeout(`no answer within ${timeoutMs} ms`)), timeoutMs);
      call.once('close', () => clearTimeout(timer));
      call.once('error', reject);
      call.once('response', (response) => {
        collect(response).then(resolve, reject);
      });
      call.end(body);
    });

  return { ask, close: () => agent.destroy() };
}

async function collect(response: IncomingMessage): Promise<EdgeReply> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response) {
    if (!(chunk instanceof Uint8Array)) continue;
    size += chunk.byteLength;
    if (size > MAX_REPLY_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}
