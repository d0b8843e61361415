/**
 * The address ranges that active keys allow, as the edge reports them, cached for the time that it states. They only save
 * work: the edge checks every message, and while it is unreachable the sidecar accepts every address.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { LogEntry } from '../shared/log.ts';
import { allowedRanges, MLLP_RANGES_PATH, type SidecarState } from '../shared/mllp-contract.ts';
import { rangeSet, type RangeSet } from './range-set.ts';
import { type EdgeClient, isNotRecognised } from './edge-request.ts';
import { beginExchange } from './exchange.ts';
import { errorCode, type SidecarLog } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface AllowedRanges {
  /** Rejects an address only by a list that was requested after the address connected. */
  allows(address: string): Promise<boolean>;
  /** The problem with the edge at the last request, as text; undefined without a problem. */
  edgeProblem(): string | undefined;
  /** Requests the list now and whenever it expires, so that readiness is known without traffic. */
  start(): Promise<void>;
  stop(): void;
}

/** A scan from many addresses must not cause as many requests: addresses in this time share the next one. */
const SPACING_MS = 250;
const RETRY_MS = 2_000;
const TIMEOUT_MS = 5_000;
const NOT_RECOGNISED =
  'not-recognised: key or clock (the edge rejected this sidecar: check MLLP_SIDECAR_KEYS, the clocks and EDGE_URL)';
const NO_PEER = { address: '' };

/** @param readState the state that the sidecar reports with each request */
export function createAllowedRanges(
  edge: EdgeClient,
  readState: () => SidecarState,
  metrics: Metrics,
  log: SidecarLog,
): AllowedRanges {
  let known: { readonly set: RangeSet; readonly expiresAt: number } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let problem: string | undefined = 'the edge has not been asked yet';
  let asking: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  /** Logs each change once. */
  const found = (now: string | undefined, entry: LogEntry): void => {
    if (now !== problem) log(entry);
    problem = now;
    metrics.edgeReachable.set(now === undefined ? 1 : 0);
  };

  const askOnce = async (): Promise<void> => {
    askedAt = performance.now();
    const exchange = beginExchange();
    try {
      const about = { peer: NO_PEER, state: readState() };
      const reply = await edge.ask({
        exchange,
        method: 'GET',
        path: MLLP_RANGES_PATH,
        ...about,
        timeoutMs: TIMEOUT_MS,
      });
      const { status } = reply;
      if (isNotRecognised(reply)) {
        found(NOT_RECOGNISED, {
          level: 'error',
          event: 'edge.not-recognised',
          ...exchange,
          status,
          detail: NOT_RECOGNISED,
        });
      } else if (status !== 200) {
        found(`the edge answers ${status}`, { level: 'warn', event: 'edge.unavailable', ...exchange, status });
      } else {
        const { ranges, maxAgeSeconds } = allowedRanges.parse(JSON.parse(reply.body.toString()));
        known = { set: rangeSet(ranges), expiresAt: performance.now() + maxAgeSeconds * 1000 };
        found(undefined, { level: 'info', event: 'edge.reachable' });
      }
    } catch (error) {
      const code = errorCode(error);
      found(`the edge does not answer (${code})`, { level: 'warn', event: 'edge.unreachable', ...exchange, code });
    }
  };

  const ask = (): Promise<void> => {
    asking ??= askOnce().finally(() => (asking = undefined));
    return asking;
  };

  const requestsSettled = async (): Promise<void> => {
    if (asking === undefined) return;
    await asking;
    await requestsSettled();
  };

  /** Settles with the result of a request that starts after this call. */
  const askAgain = (): Promise<void> => {
    next ??= (async () => {
      await delay(Math.max(0, askedAt + SPACING_MS - performance.now()));
      await requestsSettled();
      next = undefined;
      await ask();
    })();
    return next;
  };

  const keepAsking = async (): Promise<void> => {
    await ask();
    if (stopped) return;
    const wait = problem === undefined && known !== undefined ? known.expiresAt - performance.now() : RETRY_MS;
    timer = setTimeout(() => void keepAsking(), Math.max(wait, RETRY_MS));
  };

  return {
    async allows(address) {
      const isAllowed = (): boolean =>
        known !== undefined && known.expiresAt > performance.now() && known.set.contains(address);
      if (isAllowed()) return true;
      // A recent request failed. Accept the address; the edge rejects it when it is reachable again.
      if (problem !== undefined && performance.now() - askedAt < RETRY_MS && asking === undefined) return true;
      await askAgain();
      return problem !== undefined || isAllowed();
    },
    edgeProblem: () => problem,
    start: keepAsking,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
