/** For what is limited to so many a minute: workerd's windows begin with the minutes of the clock, in the middle of a case or not. */

const minute = (): number => Math.floor(Date.now() / 60_000);

/**
 * What was seen within one minute of the clock: where another has begun meanwhile and the case failed, it is run again.
 *
 * @param run can be run again: what it counts on is its own, or begins with the minute
 */
export async function withinOneMinute(run: () => Promise<void>): Promise<void> {
  for (;;) {
    const began = minute();
    try {
      return await run();
    } catch (error) {
      if (minute() === began) throw error;
    }
  }
}
