/**
 * A sender like a hospital's: it sends messages in order over one connection, some of them ahead of their ACKs. After a
 * lost connection it resends the unacknowledged messages over the next one. It records every ACK.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface SenderOptions {
  readonly port: number;
  /** The n-th message and its control id, the same bytes whenever asked. */
  readonly message: (n: number) => { readonly controlId: string; readonly text: string };
  /** True: no new message is begun. */
  readonly isOver: () => boolean;
  /** Messages sent ahead of their ACKs. */
  readonly window: number;
  /** How often a message that was acknowledged is sent once more. */
  readonly repeatProbability: number;
  readonly random: () => number;
  readonly onAck: () => void;
}

export interface SenderReport {
  /** Messages begun, and with it acknowledged, in this order. */
  readonly count: number;
  /** Control id to the ACK. */
  readonly acks: ReadonlyMap<string, string>;
  readonly connections: number;
  readonly repeats: number;
  /** Outcomes that no sender may ever see. */
  readonly problems: readonly string[];
}

/** A sender that hears nothing for so long gives the connection up. */
const PATIENCE_MS = 20_000;
const RECONNECT_MS = 100;

interface Sent {
  readonly controlId: string;
  readonly text: string;
}

/** Resolves when it is over and every message is acknowledged. */
export async function runSender(options: SenderOptions): Promise<SenderReport> {
  const { random, message } = options;
  const outstanding: Sent[] = [];
  const acks = new Map<string, string>();
  const problems: string[] = [];
  let count = 0;
  let connections = 0;
  let repeats = 0;

  const write = (socket: Socket, { text }: Sent): void => void socket.write(`\u000b${text}\u001c\r`, 'latin1');

  const fill = (socket: Socket): void => {
    while (outstanding.length < options.window && !options.isOver()) {
      const next = message(count++);
      outstanding.push(next);
      write(socket, next);
    }
  };

  const take = (socket: Socket, ack: string): void => {
    const [, code, controlId = ''] = /\rMSA\|(\w\w)\|([^|\r]*)/.exec(ack) ?? [];
    const first = outstanding.shift();
    if (first === undefined || first.controlId !== controlId) {
      problems.push(`the ACK of ${controlId} where that of ${first?.controlId} was due`);
      return void socket.destroy();
    }
    if (code !== 'AA') problems.push(`${controlId} was answered ${code}`);
    const before = acks.get(controlId);
    if (before !== undefined && before !== ack) problems.push(`${controlId} was answered in two ways`);
    acks.set(controlId, ack);
    options.onAck();
    if (before === undefined && random() < options.repeatProbability) {
      repeats += 1;
      outstanding.push(first);
      write(socket, first);
    }
  };

  const connectOnce = async (): Promise<void> => {
    const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true });
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    await once(socket, 'connect');
    connections += 1;
    for (const sent of outstanding) write(socket, sent);
    fill(socket);
    let received = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received += chunk.toString('latin1');
      for (let end = received.indexOf('\u001c\r'); end >= 0; end = received.indexOf('\u001c\r')) {
        take(socket, received.slice(received.indexOf('\u000b') + 1, end));
        received = received.slice(end + 2);
      }
      fill(socket);
      if (outstanding.length === 0) return void socket.end();
    }
  };

  while (outstanding.length > 0 || !options.isOver()) {
    await connectOnce().catch(() => undefined);
    if (outstanding.length > 0) await delay(RECONNECT_MS * (0.5 + random()));
  }
  return { count, acks, connections, repeats, problems };
}
