/** Reports the connections to the edge: news within seconds, else once a minute. The report never delays a message. */
import { MLLP_CONNECTIONS_PATH } from '../shared/mllp-contract.ts';
import type { ConnectionHistory } from './connection-history.ts';
import type { EdgeClient } from './edge-request.ts';
import { beginExchange } from './exchange.ts';
import { errorCode, type SidecarLog } from './log.ts';

export interface Reporter {
  /** Reports a last time, and then no more. */
  stop(): Promise<void>;
}

const CHECK_MS = 1_000;
/** Between two reports with news. */
const SPACING_MS = 5_000;
const WITHOUT_NEWS_MS = 60_000;
/** After an answer that is not 204, such as that of an edge of an earlier release. */
const RETRY_MS = 60_000;
const TIMEOUT_MS = 5_000;
/** The program waits for it at its end. */
const LAST_TIMEOUT_MS = 2_000;

export function startReporter(history: ConnectionHistory, edge: EdgeClient, log: SidecarLog): Reporter {
  let nextAt = 0;
  let newsAt = 0;
  let reporting: Promise<void> | undefined;

  const report = async (isLast: boolean): Promise<void> => {
    const now = performance.now();
    // A report without news is never due earlier.
    if (!isLast && now < newsAt) return;
    const { report: body, hasNews, sent } = history.report();
    if (!isLast && !hasNews && now < nextAt) return;
    newsAt = now + SPACING_MS;
    nextAt = now + WITHOUT_NEWS_MS;
    const exchange = beginExchange();
    const call = { exchange, method: 'POST', path: MLLP_CONNECTIONS_PATH, peer: { address: '' } } as const;
    try {
      const { status } = await edge.ask({
        ...call,
        body: Buffer.from(JSON.stringify(body)),
        timeoutMs: isLast ? LAST_TIMEOUT_MS : TIMEOUT_MS,
      });
      if (status === 204) return sent();
      log({ level: 'debug', event: 'edge.report-refused', ...exchange, status });
    } catch (error) {
      log({ level: 'debug', event: 'edge.report-refused', ...exchange, code: errorCode(error) });
    }
    newsAt = nextAt = performance.now() + RETRY_MS;
  };

  const timer = setInterval(() => {
    reporting ??= report(false).finally(() => (reporting = undefined));
  }, CHECK_MS).unref();

  return {
    async stop() {
      clearInterval(timer);
      await reporting;
      await report(true);
    },
  };
}
