/** One HTTP request to the edge over kept-alive connections, limited in time and size. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

import {
  MLLP_CONTENT_TYPE,
  MLLP_CONTRACT_HEADER,
  MLLP_CONTRACT_VERSION,
  type SidecarState,
} from '../shared/mllp-contract.ts';
import { traceparentOf } from '../shared/trace-context.ts';
import { withoutFinalSlashes } from '../shared/final-slashes.ts';
import type { Exchange } from './exchange.ts';
import { sha256Of, type PeerIdentity, type SignToken } from './token.ts';

export interface EdgeReply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** The sidecar's key is not in the edge's MLLP_SIDECAR_KEYS, the clocks differ, or EDGE_URL is wrong. */
export const isNotRecognised = ({ status }: EdgeReply): boolean => status === 404;

interface EdgeCall {
  /** Ids that the edge writes to its log too. */
  readonly exchange: Exchange;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly peer: PeerIdentity;
  /** The state that the sidecar reports. */
  readonly state?: SidecarState;
  readonly body?: Uint8Array;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface EdgeClient {
  /** @throws a network error, or `EdgeTimeout` */
  ask(call: EdgeCall): Promise<EdgeReply>;
  close(): void;
}

class EdgeTimeout extends Error {
  override readonly name = 'EdgeTimeout';
}

class StaleConnection extends Error {}

const isReset = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

const EMPTY = new Uint8Array();
/** An ACK has at most a hundred ERR segments; the list of ranges is short. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** @param baseUrl the edge's, with or without a path prefix */
export function createEdgeClient(baseUrl: string, signToken: SignToken, maxSockets: number): EdgeClient {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const isHttps = protocol === 'https:';
  // Parsed once: parsing it for each message costs as much as framing. Brackets belong to the URL, not to the host.
  const target = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port };
  const prefix = withoutFinalSlashes(pathname);
  const keepAlive = { keepAlive: true, maxSockets, maxFreeSockets: maxSockets, scheduling: 'lifo' } as const;
  const agent = isHttps ? new HttpsAgent(keepAlive) : new HttpAgent(keepAlive);
  const request = isHttps ? httpsRequest : httpRequest;

  const askOver = (connections: typeof agent | false, call: EdgeCall): Promise<EdgeReply> =>
    new Promise((resolve, reject) => {
      const { exchange, method, path, peer, state, body = EMPTY, timeoutMs, signal } = call;
      const headers = {
        Authorization: `Bearer ${signToken(peer, sha256Of(body), state)}`,
        'X-Request-Id': exchange.requestId,
        traceparent: traceparentOf(exchange),
        [MLLP_CONTRACT_HEADER]: MLLP_CONTRACT_VERSION,
        ...(method === 'POST' ? { 'Content-Type': MLLP_CONTENT_TYPE, 'Content-Length': body.byteLength } : {}),
      };
      const asking = request({
        ...target,
        path: `${prefix}${path}`,
        method,
        agent: connections,
        headers,
        ...(signal === undefined ? {} : { signal }),
      });
      const timer = setTimeout(() => asking.destroy(new EdgeTimeout(`no answer within ${timeoutMs} ms`)), timeoutMs);
      asking.once('close', () => clearTimeout(timer));
      asking.once('error', (error) => {
        reject(
          asking.reusedSocket && isReset(error) ? new StaleConnection('closed while idle', { cause: error }) : error,
        );
      });
      asking.once('response', (response) => {
        collect(response).then(resolve, reject);
      });
      asking.end(body);
    });

  const ask = async (call: EdgeCall): Promise<EdgeReply> => {
    try {
      return await askOver(agent, call);
    } catch (error) {
      // The edge closed the kept-alive connection while it was used: not an outage, so a new connection is tried. The edge
      // deduplicates the message if it was already received.
      if (!(error instanceof StaleConnection)) throw error;
      return askOver(false, call);
    }
  };

  return { ask, close: () => agent.destroy() };
}

async function collect(response: IncomingMessage): Promise<EdgeReply> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response) {
    if (!(chunk instanceof Uint8Array)) continue;
    size += chunk.byteLength;
    if (size > MAX_REPLY_BYTES) throw new Error(`the answer of the edge is longer than ${MAX_REPLY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}
