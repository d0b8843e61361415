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
  let isOver: NodeJS.Immediate | undefined;
  return {
    watch(isBegun) {
      if (isBegun) {
        // After a pause of the process, bytes that have arrived are read first: they may complete the frame.
        timer ??= setTimeout(() => void (isOver = setImmediate(expired)), timeoutMs);
        return;
      }
      clearTimeout(timer);
      clearImmediate(isOver);
      timer = undefined;
    },
  };
}
