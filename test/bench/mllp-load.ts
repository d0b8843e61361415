/** A load generator for MLLP: so many connections, each sending its next message when the last one was acknowledged. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { cpuMicros } from './cpu.ts';

export interface MllpMeasured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers without AA: a rate with failures is no rate. */
  readonly failed: number;
  /** CPU microseconds a message of the watched process. */
  readonly cpuMicros: number;
}

export interface MllpLoad {
  readonly port: number;
  /** The process whose CPU time is counted. */
  readonly pid: number;
  readonly connections: number;
  readonly message: () => string;
}

const WARM_UP_MS = 1_000;
const MEASURE_MS = 3_000;

/** Sends one message and resolves with its ACK; frames end where the chunk does, since nothing is pipelined. */
async function exchange(socket: Socket, message: string): Promise<string> {
  socket.write(`\u000b${message}\u001c\r`);
  let answer = '';
  while (!answer.endsWith('\u001c\r')) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    answer += chunk.toString('latin1');
  }
  return answer;
}

/** @throws when a connection breaks: what is measured is a server that answers */
export async function measureMllp({ port, pid, connections, message }: MllpLoad): Promise<MllpMeasured> {
  let isOver = false;
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      // Else who waits for data waits for ever.
      socket.once('close', () => isOver || socket.emit('error', new Error('the server closed a connection')));
      return socket;
    }),
  );
  const times: number[] = [];
  let failed = 0;
  const phase = async (ms: number, isCounted: boolean): Promise<void> => {
    const end = performance.now() + ms;
    const run = async (socket: Socket): Promise<void> => {
      while (performance.now() < end) {
        const started = performance.now();
        const answer = await exchange(socket, message());
        if (!isCounted) continue;
        times.push(performance.now() - started);
        if (!answer.includes('\rMSA|AA|')) failed += 1;
      }
    };
    await Promise.all(sockets.map(run));
  };

  await phase(WARM_UP_MS, false);
  const before = cpuMicros(pid);
  const started = performance.now();
  await phase(MEASURE_MS, true);
  const seconds = (performance.now() - started) / 1000;
  const cpu = (cpuMicros(pid) - before) / times.length;
  isOver = true;
  for (const socket of sockets) socket.destroy();

  times.sort((a, b) => a - b);
  const quantile = (q: number): number => times[Math.min(times.length - 1, Math.floor(times.length * q))] ?? 0;
  return { perSecond: times.length / seconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99), failed, cpuMicros: cpu };
}
