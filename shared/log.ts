/**
 * One structured log line. `LogFields` is the closed list of what may be logged; no field can contain patient data or a
 * token. An error is logged as class, code and stack frames, without its message: database errors repeat rejected values.
 */
import type { LeveledEvent } from './log-event.ts';

/** The fields that may be logged. A new field needs a reason why it is harmless. */
interface LogFields {
  readonly requestId?: string | undefined;
  /** The place of the line in a trace (shared/trace-context.ts), hexadecimal digits only. */
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
  readonly parentSpanId?: string | undefined;
  readonly surface?: string | undefined;
  readonly method?: string | undefined;
  /** The route's pattern (`/fhir/:type/:id`), never the path: a search may contain a name or a birth date. */
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  readonly durationMs?: number | undefined;
  /** The number of HTTP requests to the database, and their milliseconds in total. */
  readonly databaseRequests?: number | undefined;
  readonly databaseMs?: number | undefined;
  readonly clientId?: string | undefined;
  readonly site?: string | undefined;
  /** A member of staff, by the subject at the OpenID provider. */
  readonly actor?: string | undefined;
  readonly sourceAddress?: string | undefined;
  /** The subject of an alert (a Client ID, a surface, a kid, a sidecar's name), or the part that is unavailable. */
  readonly subject?: string | undefined;
  readonly job?: string | undefined;
  /** A fault's kind and code, or an SQLSTATE. */
  readonly fault?: string | undefined;
  /** A fixed phrase from the code, such as the missing configuration names. Never built from input. */
  readonly detail?: string | undefined;
  readonly count?: number | undefined;
  /** Numbers by names that the code defines. */
  readonly counts?: Readonly<Record<string, number>> | undefined;
  /** From a closed list: why the sidecar rejected a connection. */
  readonly reason?: string | undefined;
  /** From a closed list: the result of an attempt to forward. */
  readonly result?: string | undefined;
  /** The code or class of a network error, or MSA-1 of an answer. */
  readonly code?: string | undefined;
  /** The length of a message, or the declared length of a request's body. */
  readonly bytes?: number | undefined;
  /** The hash under which a message is stored. */
  readonly sha256?: string | undefined;
  /** The host and port on which a program listens, and its process id. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly healthPort?: number | undefined;
  readonly tls?: boolean | undefined;
  readonly pid?: number | undefined;
  /** Problems of a configuration: names and rules, never values. */
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

/** Class, code and frames of an error and of its causes, without messages. */
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

/** Prints an entry as one line of JSON, without the line feed. */
export function logLine(time: Date, entry: LogEntry): string {
  const line: Record<string, unknown> = { time: time.toISOString(), level: entry.level, event: entry.event };
  for (const field of FIELDS) if (entry[field] !== undefined) line[field] = entry[field];
  if (entry.error !== undefined) line['error'] = describeError(entry.error);
  return JSON.stringify(line);
}
