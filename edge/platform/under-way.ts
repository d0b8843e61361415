/** Work that nobody waits for, kept in mind until it has ended, so that a program can end after it. */
import type { Log } from '../../shared/log.ts';
import { backgroundFailed } from '../http/fault-status.ts';

export interface UnderWay {
  /** Begins nothing: it notes work that has begun, and logs how it failed. */
  readonly add: (work: Promise<unknown>) => void;
  /** Settles when there is none, that which began meanwhile included. */
  readonly settled: () => Promise<void>;
}

export function createUnderWay(log: Log): UnderWay {
  const all = new Set<Promise<void>>();
  return {
    add(work) {
      const noted = work.then(
        () => undefined,
        (error: unknown) => log(backgroundFailed(error)),
      );
      all.add(noted);
      void noted.then(() => all.delete(noted));
    },
    async settled() {
      while (all.size > 0) await Promise.all(all);
    },
  };
}
