/**
 * How a claim of a `jti` is attempted on any runtime: a deadline, one retry under the same attempt nonce, and a Fault
 * when nobody knows whether it was claimed. Without an answer there is no token.
 */
import { Fault } from '../../shared/fault.ts';
import { timeLimit } from '../http/deadline.ts';

/** A client waits for a token meanwhile; a store that needs longer counts as away. */
const DEADLINE_MS = 2_000;
const ATTEMPTS = 2;

/**
 * @param claim one attempt; its nonce lets the store tell our own retry from a replay
 * @throws Fault `unavailable`
 */
export async function attemptClaim(claim: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await Promise.race([claim(), timeLimit(DEADLINE_MS).passed]);
    } catch (cause) {
      if (attempt === ATTEMPTS) throw new Fault('unavailable', 'single use cannot be checked at the moment', { cause });
    }
  }
}
