/**
 * JSON lines on standard output with the fields of the edge's log (shared/log.ts). No byte of a message is logged; a message
 * is identified by its SHA-256, which the edge stores.
 */
import { LOG_LEVELS, type LogLevel } from '../shared/log-event.ts';
import { type Log, logLine } from '../shared/log.ts';

export interface SidecarLog extends Log {
  /** True if `debug` lines are written; otherwise callers skip the work for them. */
  readonly isDebug: boolean;
}

/** @param least lines below this level are dropped */
export function createLog(least: LogLevel): SidecarLog {
  const from = LOG_LEVELS.indexOf(least);
  // The reader of the log may close the pipe; messages are still forwarded.
  process.stdout.on('error', () => undefined);
  const log: Log = (entry) => {
    if (LOG_LEVELS.indexOf(entry.level) >= from) process.stdout.write(`${logLine(new Date(), entry)}\n`);
  };
  return Object.assign(log, { isDebug: from === 0 });
}

/** The code or class of a network error. Its message is never logged, because it could repeat the peer's data. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
