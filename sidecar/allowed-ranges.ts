/**
 * The address ranges that some active key allows, as the edge tells them, kept for as long as it says. It only saves
 * work: whoever it lets through is judged by the edge, and while the edge cannot be asked it lets everybody through.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { allowedRanges, MLLP_RANGES_PATH } from '../shared/mllp-contract.ts';
import { rangeSet, type RangeSet } from './range-set.ts';
import type { EdgeClient } from './edge-request.ts';
import { errorCode, type SidecarLog } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface AllowedRanges {
  /** Waits for the edge before it says no: an address is refused only by a list that was asked for after it came. */
  allows(address: string): Promise<boolean>;
  /** True when the edge answered the last time it was asked. */
  isEdgeReachable(): boolean;
  /** Asks now, and then as often as a list expires, so that readiness is known without traffic. */
  start(): Promise<void>;
  stop(): void;
}

/** A scan from many addresses must not become as many questions: those that come meanwhile share the next one. */
const SPACING_MS = 250;
const RETRY_MS = 2_000;
const TIMEOUT_MS = 5_000;
const NOBODY = { address: '' };

export function createAllowedRanges(edge: EdgeClient, metrics: Metrics, log: SidecarLog): AllowedRanges {
  let known: { readonly set: RangeSet; readonly expiresAt: number } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let reachable = false;
  let asking: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const askOnce = async (): Promise<void> => {
    askedAt = performance.now();
    try {
      const reply = await edge.ask({ method: 'GET', path: MLLP_RANGES_PATH, peer: NOBODY, timeoutMs: TIMEOUT_MS });
      if (reply.status !== 200) throw new Error(`status ${reply.status}`);
      const { ranges, maxAgeSeconds } = allowedRanges.parse(JSON.parse(reply.body.toString()));
      known = { set: rangeSet(ranges), expiresAt: performance.now() + maxAgeSeconds * 1000 };
      if (!reachable) log({ level: 'info', event: 'edge.reachable' });
      reachable = true;
    } catch (error) {
      if (reachable || known === undefined) log({ level: 'warn', event: 'edge.unreachable', code: errorCode(error) });
      reachable = false;
    }
    metrics.edgeReachable.set(reachable ? 1 : 0);
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
    const wait = reachable && known !== undefined ? known.expiresAt - performance.now() : RETRY_MS;
    timer = setTimeout(() => void keepAsking(), Math.max(wait, RETRY_MS));
  };

  return {
    async allows(address) {
      const isHeld = (): boolean =>
        known !== undefined && known.expiresAt > performance.now() && known.set.holds(address);
      if (isHeld()) return true;
      // Asked a moment ago and not answered: it is for the edge to refuse, when it is back.
      if (!reachable && performance.now() - askedAt < RETRY_MS && asking === undefined) return true;
      await askAnew();
      return !reachable || isHeld();
    },
    isEdgeReachable: () => reachable,
    start: keepAsking,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
