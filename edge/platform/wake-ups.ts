/** Serves the change feed of a site soon after a write, so that subscriptions need not wait for the minute's job. */

/** Writes within this time are served together. */
const DELAY_MS = 100;
/** For changes that are not settled yet: a transaction takes up to some seconds. */
const AGAIN_MS = 500;

/**
 * Wake-ups in the memory of a process. The minute's job serves what a process did not before it ended.
 *
 * @param serve returns true if something remains
 * @returns a function to call after each commit
 */
export function wakeUps(serve: (site: string) => Promise<boolean>): (site: string) => void {
  /** True: woken again while it is served. */
  const waking = new Map<string, boolean>();
  const run = async (site: string): Promise<void> => {
    waking.set(site, false);
    const remains = await serve(site).catch(() => false);
    const isWoken = waking.get(site) === true;
    if (remains || isWoken) schedule(site, isWoken ? DELAY_MS : AGAIN_MS);
    else waking.delete(site);
  };
  const schedule = (site: string, delayMs: number): void => void setTimeout(() => void run(site), delayMs);
  return (site) => {
    if (waking.has(site)) return void waking.set(site, true);
    waking.set(site, true);
    schedule(site, DELAY_MS);
  };
}
