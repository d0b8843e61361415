/**
 * One structured log line, and the one place that decides what may be logged: a closed list of fields, none of which
 * can hold patient data or a token. Of an error only its class, code and stack frames are kept, never its message,
 * because a database error repeats the values it refused.
 */
import type { LeveledEvent } from './log-event.ts';

/** What may be logged. A field that is not here cannot be logged: add it here, with the reason why it is harmless. */
export interface LogFields {
  readonly requestId?: string | undefined;
  /** Where a line belongs in a trace (shared/trace-context.ts): hexadecimal digits alone. */
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
  readonly parentSpanId?: string | undefined;
  readonly surface?: string | undefined;
  readonly method?: string | undefined;
  /** The route's pattern (`/fhir/:type/:id`), never the path: a search may carry a name or a birth date. */
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  readonly durationMs?: number | undefined;
  /** HTTP requests to the database, and their milliseconds together. */
  readonly databaseRequests?: number | undefined;
  readonly databaseMs?: number | undefined;
  readonly clientId?: string | undefined;
  readonly site?: string | undefined;
  /** Who of the staff: the subject at their OpenID provider. */
  readonly actor?: string | undefined;
  readonly sourceAddress?: string | undefined;
  /** What an alert is about: a Client ID, a surface, a kid, what the operator calls a sidecar; or which part is away. */
  readonly subject?: string | undefined;
  /** The kind of background work. */
  readonly job?: string | undefined;
  /** A fault's kind and code, or an SQLSTATE. */
  readonly fault?: string | undefined;
  /** A fixed phrase of ours, e.g. which configuration names are missing. Never built from input. */
  readonly detail?: string | undefined;
  readonly count?: number | undefined;
  /** How many of each of our own names. */
  readonly counts?: Readonly<Record<string, number>> | undefined;
  /** One of a closed list of ours: why the sidecar refused a connection. */
  readonly reason?: string | undefined;
  /** One of a closed list of ours: what came of an attempt to forward. */
  readonly result?: string | undefined;
  /** Of a network error, or its class; MSA-1 of an answer. */
  readonly code?: string | undefined;
  /** The length of a message, or of a request's body as it was declared. */
  readonly bytes?: number | undefined;
  /** Of a message, under which it is stored. */
  readonly sha256?: string | undefined;
  /** Where a program listens, and as which process. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly healthPort?: number | undefined;
  readonly tls?: boolean | undefined;
  readonly pid?: number | undefined;
  /** What is wrong with a configuration: names and rules, never values. */
  readonly problems?: readonly string[] | undefined;
  readonly error?: unknown;
}

export type LogEntry = LeveledEvent & LogFields;

export type Log = (entry: LogEntry) => void;

const FIELDS = [
  'requestId',
  'traceId',
  'spanId',
  'parentSpanId',
  'surface',
  'method',
  'route',
  'status',
  'durationMs',
  'databaseRequests',
  'databaseMs',
  'clientId',
  'site',
  'actor',
  'sourceAddress',
  'subject',
  'job',
  'fault',
  'detail',
  'count',
  'counts',
  'reason',
  'result',
  'code',
  'bytes',
  'sha256',
  'host',
  'port',
  'healthPort',
  'tls',
  'pid',
  'problems',
] as const satisfies readonly (keyof LogFields)[];

/** Class, code and frames of an error and of its causes, without any message. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { class: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    class: error.name,
    code,
    at: frames.slice(0, 8).map((line) => line.trim().slice(3)),
    cause: error.cause === undefined || depth === 3 ? undefined : describeError(error.cause, depth + 1),
  };
}

/** Renders an entry as one JSON line, without the line feed. */
export function logLine(time: Date, entry: LogEntry): string {
  const line: Record<string, unknown> = { time: time.toISOString(), level: entry.level, event: entry.event };
  for (const field of FIELDS) if (entry[field] !== undefined) line[field] = entry[field];
  if (entry.error !== undefined) line['error'] = describeError(entry.error);
  return JSON.stringify(line);
}
