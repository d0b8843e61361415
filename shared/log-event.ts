/**
 * Every event that is logged, and its levels. For `error` a person must act, for `warn` a person should check. The page
 * edge/docs/operate.md, Log events, says what to do about each; a test compares both.
 */

/** From the least to the most severe. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_EVENTS = {
  'http.request': ['info'],
  fault: ['info', 'warn'],
  bug: ['error'],
  background: ['warn', 'error'],
  'dependency.away': ['warn', 'error'],
  'dependency.back': ['info'],
  configuration: ['warn', 'error'],
  'plain-http': ['warn'],
  'not-ready': ['warn'],
  'token.issued': ['info'],
  'token.refused': ['info'],
  'jwks.private-key': ['error'],
  'hl7.message': ['info'],
  'mllp.refused': ['warn'],
  'session.ask': ['warn'],
  'session.logout': ['info', 'warn'],
  'job.tick': ['warn', 'error'],
  'job.done': ['info'],
  'job.step-failed': ['warn'],
  'job.lost': ['warn'],
  'job.failed': ['error'],
  'retention.done': ['info'],
  listening: ['info'],
  stopping: ['info'],
  stopped: ['info', 'warn'],
  'alert.firing': ['warn'],
  'alert.resolved': ['info'],
  'alert.not-delivered': ['warn'],
  'changes.failed': ['warn'],
  'subscription.not-delivered': ['warn'],
  'subscription.error': ['error'],
  'mllp.configuration': ['fatal'],
  'mllp.start-failed': ['fatal'],
  'mllp.unknown-settings': ['warn'],
  'mllp.not-encrypted': ['warn'],
  'mllp.listening': ['info'],
  'mllp.stopping': ['info'],
  'mllp.stopped': ['info'],
  'edge.not-encrypted': ['warn'],
  'edge.reachable': ['info'],
  'edge.unreachable': ['warn'],
  'edge.unavailable': ['warn'],
  'edge.not-recognised': ['error'],
  'edge.report-refused': ['debug'],
  'forward.refused': ['warn'],
  'forward.unreachable': ['warn'],
  'connection.refused': ['debug', 'warn'],
  'connection.failed': ['error'],
  'connection.error': ['debug'],
  'frame.interrupted': ['debug'],
  'message.answered': ['debug'],
  'listener.error': ['error'],
  'tls.reloaded': ['info'],
  'tls.reload-failed': ['error'],
  'tls.not-valid': ['error'],
} as const satisfies Readonly<Record<string, readonly LogLevel[]>>;

type LogEvent = keyof typeof LOG_EVENTS;

/** An event at one of its levels. */
export type LeveledEvent = {
  readonly [Event in LogEvent]: { readonly event: Event; readonly level: (typeof LOG_EVENTS)[Event][number] };
}[LogEvent];
