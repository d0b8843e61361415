/** One call to the edge as its log lines are matched, here and there: by a request id, and by trace and span. */
import { beginTrace, type Span } from '../shared/trace-context.ts';
import { uuidv7 } from '../shared/uuid.ts';

export interface Exchange extends Span {
  readonly requestId: string;
}

/** MLLP has no word for a trace, so each begins with us. */
export const beginExchange = (): Exchange => ({ requestId: uuidv7(Date.now()), ...beginTrace() });
