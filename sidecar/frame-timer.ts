/**
 * What was begun must become a frame within its time, not merely go on, be it a frame or what should have been one. The
 * time in which we did not read does not count.
 */

export interface FrameTimer {
  /** @param isBegun whether bytes have come that are no whole frame yet */
  watch(isBegun: boolean): void;
  /** The next frame gets the whole time. */
  stop(): void;
}

/** @param expired called when the time of one frame is over */
export function createFrameTimer(timeoutMs: number, expired: () => void): FrameTimer {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    watch(isBegun) {
      if (!isBegun) stop();
      else timer ??= setTimeout(expired, timeoutMs);
    },
    stop,
  };
}
