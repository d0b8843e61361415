/**
 * JSON lines on standard output, in the shape of the edge's and from the same closed list of fields (shared/log.ts). No
 * byte of a message is ever logged; a message is known by its SHA-256, which the edge keeps too.
 */
import { LOG_LEVELS, type LogLevel } from '../shared/log-event.ts';
import { type Log, logLine } from '../shared/log.ts';

export interface SidecarLog extends Log {
  /** Whether lines of level `debug` are written, so that what only they need is not worked out in vain. */
  readonly isDebug: boolean;
}

/** @param least lines below this level are left out */
export function createLog(least: LogLevel): SidecarLog {
  const from = LOG_LEVELS.indexOf(least);
  // Whoever read the lines may go away: messages are served all the same.
  process.stdout.on('error', () => undefined);
  const log: Log = (entry) => {
    if (LOG_LEVELS.indexOf(entry.level) >= from) process.stdout.write(`${logLine(new Date(), entry)}\n`);
  };
  return Object.assign(log, { isDebug: from === 0 });
}

/** What may be told of a network error: its code, or its class. A message could repeat what a peer sent. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
