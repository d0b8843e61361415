/**
 * Writes data that requests collect in memory, in the background, so that one process writes one statement per interval
 * and no answer waits. Data that is not yet written when a process ends is lost.
 */

/** Well below the 30 s that a Worker may continue after its response. */
export const COLLECT_MS = 5_000;

export interface Behind {
  readonly now: () => number;
  readonly background: (work: Promise<unknown>) => void;
  /** As in Deps. */
  readonly ending?: AbortSignal | undefined;
}

/** Waits for a time, or until the program ends. */
function waitOrEnd(ms: number, ending: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (ending?.aborted === true) return resolve();
    const over = (): void => {
      clearTimeout(timer);
      ending?.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    ending?.addEventListener('abort', over);
  });
}

export interface Waits {
  /** Before the first write after a pause. */
  readonly firstMs: number;
  /** Between writes. */
  readonly collectMs: number;
}

/**
 * @param write writes the collected data and starts a new collection
 * @returns a function to call after adding data; it neither waits nor throws
 */
export function writeBehind(
  { now, background, ending }: Behind,
  { firstMs, collectMs }: Waits,
  write: () => Promise<unknown>,
) {
  let collectingSince = -Infinity;
  let writtenAt = -Infinity;

  const collect = async (): Promise<void> => {
    await waitOrEnd(Math.max(firstMs, writtenAt + collectMs - now()), ending);
    collectingSince = -Infinity;
    writtenAt = now();
    await write();
  };

  return (): void => {
    // A runtime may end background work together with its request; the next request starts it again.
    if (now() - collectingSince < 3 * collectMs) return;
    collectingSince = now();
    background(collect());
  };
}
