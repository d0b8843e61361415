/** A part of a measurement in a process of its own, so that its CPU time is counted apart; it ends with the one that started it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';

export interface Forked {
  readonly port: number;
  readonly pid: number;
  /** What the part tells when it is asked. */
  readonly tell: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** @param file of this folder, which calls `serveForked` */
export async function startForked(file: string, ...args: readonly string[]): Promise<Forked> {
  const child = fork(join(import.meta.dirname, file), args);
  const ended = once(child, 'exit');
  const heard = async (): Promise<number> => {
    const [said] = (await Promise.race([
      once(child, 'message'),
      ended.then(() => {
        throw new Error(`${file} ended`);
      }),
    ])) as [number];
    return said;
  };
  return {
    port: await heard(),
    pid: child.pid ?? 0,
    tell() {
      const said = heard();
      child.send('tell');
      return said;
    },
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/** The part's side. @param tell what it is asked for, one after another */
export function serveForked(port: number, tell: () => number = () => 0): void {
  process.on('message', () => process.send?.(tell()));
  process.once('disconnect', () => process.exit());
  process.send?.(port);
}
