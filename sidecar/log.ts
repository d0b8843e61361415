/**
 * JSON lines on standard output, in the shape of the edge's: `time`, `level`, `event`, and fields that cannot hold
 * patient data. No byte of a message is ever logged; a message is known by its SHA-256, which the edge keeps too.
 */
import { pino, type Logger } from 'pino';

export type SidecarLog = Logger;

export function createLog(level: string): SidecarLog {
  return pino({
    level,
    base: null,
    messageKey: 'event',
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
  });
}

/** What may be told of a network error: its code, or its class. A message could repeat what a peer sent. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

const MAX_FRAMES = 8;

/** Where a fault of ours was thrown: stack frames without the message. */
export function framesOf(error: unknown): readonly string[] {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return lines.filter((line) => /^\s+at /.test(line)).slice(0, MAX_FRAMES);
}
