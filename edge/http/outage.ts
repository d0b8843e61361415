/**
 * Whether a part that requests need is away, as this process sees it. When that begins a person is called, once; what fails
 * meanwhile is logged with its own request, and when the part is back it is said how much that was. One failed request
 * among others is no outage: whoever sent it was told to come again.
 */
import type { Log } from '../../shared/log.ts';

/** Without an answer between them: one may be a connection that was cut. */
const IN_A_ROW = 2;
/** Who was called a moment ago is at it already. */
const CALM_MS = 10 * 60_000;

export interface Outage {
  readonly failed: () => void;
  readonly answered: () => void;
}

/** @param part a word of ours for it */
export function createOutage(part: string, log: Log, now: () => number): Outage {
  let failures = 0;
  let firstFailedAt = 0;
  let lastBackAt = -Infinity;
  return {
    failed() {
      if (failures === 0) firstFailedAt = now();
      failures += 1;
      if (failures !== IN_A_ROW) return;
      const level = now() - lastBackAt < CALM_MS ? 'warn' : 'error';
      log({ level, event: 'dependency.away', subject: part });
    },
    answered() {
      if (failures >= IN_A_ROW) {
        lastBackAt = now();
        const durationMs = lastBackAt - firstFailedAt;
        log({ level: 'info', event: 'dependency.back', subject: part, count: failures, durationMs });
      }
      failures = 0;
    },
  };
}
