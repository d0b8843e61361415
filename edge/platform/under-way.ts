/** Tracks background work until it has ended, so that a program can end after it. */
import type { Log } from '../../shared/log.ts';
import { backgroundFailed } from '../http/fault-status.ts';

export interface UnderWay {
  /** Tracks work that has already begun, and logs its failure. */
  readonly add: (work: Promise<unknown>) => void;
  /** Settles when no work is left, including work that began meanwhile. */
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
