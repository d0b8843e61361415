/** A sender of HL7 v2 over MLLP, as bare as one can be: bytes out as the test says, frames back as they come. */
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

export interface MllpPeer {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** The next frame's content. @throws when the connection ends before it is whole */
  next(): Promise<string>;
  /** Sends a message in a frame and resolves with the answer. */
  exchange(message: string): Promise<string>;
  /** Settles when both sides have closed, with everything that was not taken by `next`. */
  readonly closed: Promise<string>;
  destroy(): void;
}

export interface PeerOptions {
  readonly port: number;
  readonly host?: string;
  readonly localAddress?: string;
  readonly tls?: ConnectionOptions;
}

export const frame = (message: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([0x0b]), Buffer.from(message), Buffer.from([0x1c, 0x0d])]);

export async function connectPeer({ port, host = '127.0.0.1', localAddress, tls }: PeerOptions): Promise<MllpPeer> {
  const from = localAddress === undefined ? {} : { localAddress };
  const socket = tls === undefined ? connectTcp({ port, host, ...from }) : connectTls({ port, host, ...tls });
  socket.setNoDelay(true);
  let received = '';
  let hasEnded = false;
  let wake = (): void => undefined;
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    wake();
  });
  socket.on('error', () => undefined);
  // Not `once`, which takes an error for the end: a reset is an end like any other here.
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => {
      hasEnded = true;
      wake();
      resolve(received);
    });
  });
  const opened = once(socket, tls === undefined ? 'connect' : 'secureConnect').catch(() => closed);
  await Promise.race([opened, closed]);

  const next = async (): Promise<string> => {
    for (;;) {
      const end = received.indexOf('\u001c\r');
      if (end >= 0) {
        const content = received.slice(received.indexOf('\u000b') + 1, end);
        received = received.slice(end + 2);
        return content;
      }
      if (hasEnded) throw new Error(`the connection ended; received so far: ${JSON.stringify(received)}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    next,
    exchange(message) {
      socket.write(frame(message));
      return next();
    },
    closed,
    destroy: () => void socket.destroy(),
  };
}

/** MSA-1 of an ACK and MSA-2, the control id it answers. */
export function msaOf(ack: string): { readonly code: string; readonly controlId: string } {
  const [, code = '', controlId = ''] = /\rMSA\|(\w\w)\|([^|\r]*)/.exec(ack) ?? [];
  return { code, controlId };
}
