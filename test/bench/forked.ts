/** A part of a measurement in a separate process, so that its CPU time is counted separately. It ends with its parent. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';

export interface Forked {
  readonly port: number;
  readonly pid: number;
  /** Asks the part for its number. */
  readonly report: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** @param file a file in this folder that calls `serveForked` */
export async function startForked(file: string, ...args: readonly string[]): Promise<Forked> {
  const child = fork(join(import.meta.dirname, file), args);
  const ended = once(child, 'exit');
  const nextMessage = async (): Promise<number> => {
    const [message] = (await Promise.race([
      once(child, 'message'),
      ended.then(() => {
        throw new Error(`${file} ended`);
      }),
    ])) as [number];
    return message;
  };
  return {
    port: await nextMessage(),
    pid: child.pid ?? 0,
    report() {
      const answer = nextMessage();
      child.send('report');
      return answer;
    },
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/** Runs in the part. @param report returns the number that the parent asks for */
export function serveForked(port: number, report: () => number = () => 0): void {
  process.on('message', () => process.send?.(report()));
  process.once('disconnect', () => process.exit());
  process.send?.(port);
}
