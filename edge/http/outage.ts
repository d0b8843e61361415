/**
 * Detects the outage of a dependency from the failures in this process. It logs an error once when the outage begins, and
 * an entry with the number of failures when it ends. A single failure is not an outage.
 */
import type { Log } from '../../shared/log.ts';

/** Consecutive failures; a single one may be an interrupted connection. */
const IN_A_ROW = 2;
/** In this time after an outage, a new one is logged as a warning: a person is already working on it. */
const CALM_MS = 10 * 60_000;

export interface Outage {
  readonly failed: () => void;
  readonly answered: () => void;
}

/** @param part the dependency's name in the log */
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
