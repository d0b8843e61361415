/**
 * Writes off the response path what requests have left in memory, so that however many there are, one process writes one
 * statement in a while, and no answer waits for it. Not a queue: what a process has not written when it dies is lost.
 */

/** Well within the 30 s that a Worker may go on after its response. */
export const COLLECT_MS = 5_000;

export interface Behind {
  readonly now: () => number;
  readonly background: (work: Promise<unknown>) => void;
  /** As in Deps. */
  readonly ending?: AbortSignal | undefined;
}

/** Waits, or until the program ends. */
function untilOver(ms: number, ending: AbortSignal | undefined): Promise<void> {
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
  /** Of what comes after a pause. */
  readonly firstMs: number;
  /** Between writes. */
  readonly collectMs: number;
}

/**
 * @param write what was collected until then; begins a new collection
 * @returns to be called whenever something was added; it neither waits nor throws
 */
export function writeBehind(
  { now, background, ending }: Behind,
  { firstMs, collectMs }: Waits,
  write: () => Promise<unknown>,
) {
  let collectingSince = -Infinity;
  let writtenAt = -Infinity;

  const collect = async (): Promise<void> => {
    await untilOver(Math.max(firstMs, writtenAt + collectMs - now()), ending);
    collectingSince = -Infinity;
    writtenAt = now();
    await write();
  };

  return (): void => {
    // A runtime may end background work with the request that began it; the next one begins again.
    if (now() - collectingSince < 3 * collectMs) return;
    collectingSince = now();
    background(collect());
  };
}
