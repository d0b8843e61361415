/**
 * W3C Trace Context (level 1, Recommendation of 2021-11-23): how a request says which trace it is a part of. What cannot
 * be read begins a new trace (§4.3) and is never a reason to refuse. `tracestate` is of whoever calls further on: nothing
 * is called here that could use it, so it is neither kept nor logged, whatever it holds.
 */

/** One program's part of a trace. */
export interface Span {
  /** 32 hexadecimal digits, not all zero (§3.2.2.3). */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero (§3.2.2.4). */
  readonly spanId: string;
  /** The caller's span; absent where the trace begins here. */
  readonly parentSpanId?: string;
}

/** §3.2.2: version, trace-id, parent-id, trace-flags, in lower case; a later version may go on after another dash. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/s;
const ZEROS = /^0+$/;

/** 32 digits; neither half is all zero, since the first has the version of a UUID in it, the second the variant (RFC 9562 §4). */
const newTraceId = (): string => crypto.randomUUID().replaceAll('-', '');
const newSpanId = (): string => newTraceId().slice(16);

/** A trace that begins here. */
export const beginTrace = (): Span => ({ traceId: newTraceId(), spanId: newSpanId() });

/**
 * Our part of the trace that a request belongs to.
 *
 * @param traceparent the header, or undefined; of several the values with commas between, which is none
 * @param exported the span that the platform itself records and exports for the request: where it is of the same trace, or
 *   nobody else has begun one, our part is that span
 */
export function continueTrace(traceparent: string | undefined, exported?: Span): Span {
  const [, version, traceId = '', parentSpanId = '', more] = TRACEPARENT.exec(traceparent?.trim() ?? '') ?? [];
  const isRead = version !== undefined && version !== 'ff' && (version !== '00' || more === undefined);
  if (!isRead || ZEROS.test(traceId) || ZEROS.test(parentSpanId)) return exported ?? beginTrace();
  return { traceId, spanId: exported?.traceId === traceId ? exported.spanId : newSpanId(), parentSpanId };
}

/** The header for a call that is made within a span; `01`: who is called may record it too (§3.2.2.5.1). */
export const traceparentOf = ({ traceId, spanId }: Span): string => `00-${traceId}-${spanId}-01`;
