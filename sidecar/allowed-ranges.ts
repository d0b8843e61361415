/**
 * The address ranges that some active key allows, as the edge tells them, kept for as long as it says. It only saves
 * work: whoever it lets through is judged by the edge, and while the edge cannot be asked it lets everybody through.
 */
import { allowedRanges, MLLP_RANGES_PATH } from '../shared/mllp-contract.ts';
import { rangeSet, type RangeSet } from './address.ts';
import type { EdgeClient } from './edge-request.ts';
import { errorCode, type SidecarLog } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface AllowedRanges {
  /** May wait for the edge: an address is refused only by a list that is seconds old. */
  allows(address: string): Promise<boolean>;
  /** True when the edge answered the last time it was asked. */
  isEdgeReachable(): boolean;
  /** Asks now, and then as often as a list expires, so that readiness is known without traffic. */
  start(): Promise<void>;
  stop(): void;
}

/** An address that was allowed a moment ago must not wait for a list to expire; a scan must not ask for each port. */
const REFUSAL_MAX_AGE_MS = 2_000;
const RETRY_MS = 2_000;
const TIMEOUT_MS = 5_000;
const NOBODY = { address: '' };

export function createAllowedRanges(edge: EdgeClient, metrics: Metrics, log: SidecarLog): AllowedRanges {
  let known: { readonly set: RangeSet; readonly askedAt: number; readonly expiresAt: number } | undefined;
  let lastAskedAt = Number.NEGATIVE_INFINITY;
  let reachable = false;
  let asking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const askOnce = async (): Promise<void> => {
    const askedAt = performance.now();
    lastAskedAt = askedAt;
    try {
      const reply = await edge.ask({ method: 'GET', path: MLLP_RANGES_PATH, peer: NOBODY, timeoutMs: TIMEOUT_MS });
      if (reply.status !== 200) throw new Error(`status ${reply.status}`);
      const { ranges, maxAgeSeconds } = allowedRanges.parse(JSON.parse(reply.body.toString()));
      known = { set: rangeSet(ranges), askedAt, expiresAt: performance.now() + maxAgeSeconds * 1000 };
      if (!reachable) log.info('edge.reachable');
      reachable = true;
    } catch (error) {
      if (reachable || known === undefined) log.warn({ code: errorCode(error) }, 'edge.unreachable');
      reachable = false;
    }
    metrics.edgeReachable.set(reachable ? 1 : 0);
  };

  const ask = (): Promise<void> => {
    asking ??= askOnce().finally(() => (asking = undefined));
    return asking;
  };

  const keepAsking = async (): Promise<void> => {
    await ask();
    if (stopped) return;
    const wait = reachable && known !== undefined ? known.expiresAt - performance.now() : RETRY_MS;
    timer = setTimeout(() => void keepAsking(), Math.max(wait, RETRY_MS));
  };

  return {
    async allows(address) {
      const current = (): RangeSet | undefined =>
        known !== undefined && known.expiresAt > performance.now() ? known.set : undefined;
      if (current()?.holds(address) === true) return true;
      if (performance.now() - lastAskedAt > REFUSAL_MAX_AGE_MS || asking !== undefined) await ask();
      return !reachable || (current()?.holds(address) ?? true);
    },
    isEdgeReachable: () => reachable,
    start: keepAsking,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
