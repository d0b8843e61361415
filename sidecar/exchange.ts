/** The ids of one call to the edge, which both programs log: request id, trace and span. */
import { beginTrace, type Span } from '../shared/trace-context.ts';
import { uuidv7 } from '../shared/uuid.ts';

export interface Exchange extends Span {
  readonly requestId: string;
}

/** MLLP carries no trace context, so each call starts a new trace. */
export const beginExchange = (): Exchange => ({ requestId: uuidv7(Date.now()), ...beginTrace() });
