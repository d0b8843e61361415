/** For limits per minute: workerd's windows begin with the minutes of the clock, even in the middle of a case. */

const minute = (): number => Math.floor(Date.now() / 60_000);

/**
 * Repeats a failed case if a new minute of the clock began in the middle of it.
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
