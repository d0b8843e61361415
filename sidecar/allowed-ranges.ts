/**
 * The address ranges that some active key allows, as the edge tells them, kept for as long as it says. It only saves
 * work: whoever it lets through is judged by the edge, and while the edge cannot be asked it lets everybody through.
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
  /** Waits for the edge before it says no: an address is refused only by a list that was asked for after it came. */
  allows(address: string): Promise<boolean>;
  /** What was wrong with the edge the last time it was asked, for people; undefined: nothing. */
  edgeProblem(): string | undefined;
  /** Asks now, and then as often as a list expires, so that readiness is known without traffic. */
  start(): Promise<void>;
  stop(): void;
}

/** A scan from many addresses must not become as many questions: those that come meanwhile share the next one. */
const SPACING_MS = 250;
const RETRY_MS = 2_000;
const TIMEOUT_MS = 5_000;
const NOT_RECOGNISED =
  'not-recognised: key or clock (the edge does not recognise this sidecar: its public key must be in MLLP_SIDECAR_KEYS, ' +
  'the clocks must agree, and EDGE_URL must be the edge)';
const NOBODY = { address: '' };

/** @param stateNow what the edge is told of this sidecar each time that it is asked */
export function createAllowedRanges(
  edge: EdgeClient,
  stateNow: () => SidecarState,
  metrics: Metrics,
  log: SidecarLog,
): AllowedRanges {
  let known: { readonly set: RangeSet; readonly expiresAt: number } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let problem: string | undefined = 'the edge was not asked yet';
  let asking: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  /** Each change is one line, not each time that it is still so. */
  const found = (now: string | undefined, entry: LogEntry): void => {
    if (now !== problem) log(entry);
    problem = now;
    metrics.edgeReachable.set(now === undefined ? 1 : 0);
  };

  const askOnce = async (): Promise<void> => {
    askedAt = performance.now();
    const exchange = beginExchange();
    try {
      const about = { peer: NOBODY, state: stateNow() };
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

  const nothingAsked = async (): Promise<void> => {
    if (asking === undefined) return;
    await asking;
    await nothingAsked();
  };

  /** Settles with the answer to a question that was not yet asked when this was called. */
  const askAnew = (): Promise<void> => {
    next ??= (async () => {
      await delay(Math.max(0, askedAt + SPACING_MS - performance.now()));
      await nothingAsked();
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
      const isHeld = (): boolean =>
        known !== undefined && known.expiresAt > performance.now() && known.set.holds(address);
      if (isHeld()) return true;
      // Asked a moment ago and not answered: it is for the edge to refuse, when it is back.
      if (problem !== undefined && performance.now() - askedAt < RETRY_MS && asking === undefined) return true;
      await askAnew();
      return problem !== undefined || isHeld();
    },
    edgeProblem: () => problem,
    start: keepAsking,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
