/** Measures how late the event loop runs timers: that long, other requests waited for the work of this process. */

const STEP_MS = 250;

/** @returns the delay of all timers since the start, in seconds */
export function watchLoopDelay(): () => number {
  let delayMs = 0;
  let due = performance.now() + STEP_MS;
  setInterval(() => {
    const now = performance.now();
    delayMs += Math.max(0, now - due);
    due = now + STEP_MS;
  }, STEP_MS);
  return () => delayMs / 1000;
}
