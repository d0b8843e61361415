/**
 * What was begun must become a frame within its time, not merely go on, be it a frame or what should have been one. The
 * time in which we did not read does not count.
 */

export interface FrameTimer {
  /** @param isBegun whether bytes have come that are no whole frame yet; after false the next one gets the whole time */
  watch(isBegun: boolean): void;
}

/** @param expired called when the time of one frame is over */
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
