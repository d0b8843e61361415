/** A request as it is sent, and its result. */
import { Agent, request as httpRequest } from 'node:http';

import { connectPeer } from '../stack/tools/mllp-peer.ts';

/** Longer than the gateway may take, 10 s (edge/docs/behaviour.md, Time, retention and background work), on a machine that does much else. */
const HANGING_MS = 40_000;

export interface HttpAttempt {
  readonly method: string;
  /** Path and query, as on the wire. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

export interface Came {
  /** For HTTP the status, for MLLP the code of MSA-1 or how the connection ended; `hangs`; `no answer`. */
  readonly status: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

const nothing = (status: string): Came => ({ status, headers: {}, text: '' });

/** Printable ASCII without blanks, everything else escaped: what a client can send at all. */
const onTheWire = (path: string): string =>
  [...Buffer.from(path)]
    .map((byte) => (byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`))
    .join('');
const headerText = (value: string): string => value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');

/** A separate connection for each request: no request finds a connection that another one ended. */
const agent = new Agent({ keepAlive: false, maxSockets: 64 });

export function sendHttp(port: number, { method, path, headers, body }: HttpAttempt): Promise<Came> {
  return new Promise((resolve) => {
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerText(value)]));
    const options = { host: '127.0.0.1', port, agent, method, path: onTheWire(path), headers: sent };
    const outgoing = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      const done = (): void => {
        clearTimeout(timer);
        const text = Buffer.concat(chunks).toString();
        resolve({ status: String(response.statusCode), headers: response.headers, text });
      };
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', done);
      response.on('error', done);
    });
    const timer = setTimeout(() => {
      outgoing.destroy();
      resolve(nothing('hangs'));
    }, HANGING_MS);
    outgoing.on('error', () => {
      clearTimeout(timer);
      resolve(nothing('no answer'));
    });
    outgoing.end(body);
  });
}

/** The codes of the ACKs, one for each received frame. */
const acknowledged = (received: string): string =>
  [...received.matchAll(/\rMSA\|(\w*)/g)].map(([, code]) => code).join(' ') || 'closed';

/**
 * Uses a separate connection, which its sender then closes: it must end, since not every message asks for an answer.
 */
export async function sendFrame(port: number, content: Uint8Array): Promise<Came> {
  const peer = await connectPeer({ port });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), HANGING_MS);
  });
  try {
    peer.write(content);
    peer.socket.end();
    const received = await Promise.race([peer.closed, late]);
    return received === undefined ? nothing('hangs') : { ...nothing(acknowledged(received)), text: received };
  } finally {
    clearTimeout(timer);
    peer.destroy();
  }
}
