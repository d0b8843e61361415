/**
 * W3C Trace Context (level 1, Recommendation of 2021-11-23). A header that does not parse starts a new trace (§4.3) and
 * never rejects a request. `tracestate` is ignored: the gateway calls no service that could use it.
 */

export interface Span {
  /** 32 hexadecimal digits, not all zero (§3.2.2.3). */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero (§3.2.2.4). */
  readonly spanId: string;
  /** The caller's span; absent if the trace starts here. */
  readonly parentSpanId?: string;
}

/** §3.2.2: version, trace-id, parent-id, trace-flags, in lower case; a later version may append fields after a dash. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/s;
const ZEROS = /^0+$/;

/** 32 digits. Neither half is zero: one contains the version of a UUID, the other its variant (RFC 9562 §4). */
const newTraceId = (): string => crypto.randomUUID().replaceAll('-', '');
const newSpanId = (): string => newTraceId().slice(16);

export const beginTrace = (): Span => ({ traceId: newTraceId(), spanId: newSpanId() });

/**
 * The gateway's span in the trace of a request.
 *
 * @param traceparent the header, or undefined; repeated headers arrive joined by commas, which does not parse
 * @param exported the span that the platform records for the request. It is returned if it belongs to the same trace or
 *   the request has no trace
 */
export function continueTrace(traceparent: string | undefined, exported?: Span): Span {
  const [, version, traceId = '', parentSpanId = '', more] = TRACEPARENT.exec(traceparent?.trim() ?? '') ?? [];
  const isRead = version !== undefined && version !== 'ff' && (version !== '00' || more === undefined);
  if (!isRead || ZEROS.test(traceId) || ZEROS.test(parentSpanId)) return exported ?? beginTrace();
  return { traceId, spanId: exported?.traceId === traceId ? exported.spanId : newSpanId(), parentSpanId };
}

/** The header for a call within a span; `01` lets the called service record it too (§3.2.2.5.1). */
export const traceparentOf = ({ traceId, spanId }: Span): string => `00-${traceId}-${spanId}-01`;
