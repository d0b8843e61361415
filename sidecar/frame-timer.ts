/**
 * A frame must be complete within its time, however steadily its bytes arrive; junk counts as a frame. The time in which
 * reading is paused does not count.
 */

export interface FrameTimer {
  /** @param isBegun true while an incomplete frame is buffered; after false the next frame gets the full time */
  watch(isBegun: boolean): void;
}

/** @param expired called when a frame's time is over */
export function createFrameTimer(timeoutMs: number, expired: () => void): FrameTimer {
  let timer: NodeJS.Timeout | undefined;
  return {
    watch(isBegun) {
      if (isBegun) {
        timer ??= setTimeout(expired, timeoutMs);
        return;
      }
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
