/**
 * Attempts to claim a `jti` on any runtime: with a deadline, and one retry with the same nonce. If the result stays unknown, it
 * throws a Fault, and no token is issued.
 */
import { Fault } from '../../shared/fault.ts';
import { timeLimit } from '../http/deadline.ts';

/** The client waits for its token; a slower store counts as unavailable. */
const DEADLINE_MS = 2_000;
const ATTEMPTS = 2;

/**
 * @param claim one attempt; its nonce lets the store distinguish a retry from a replay
 * @throws Fault `unavailable`
 */
export async function attemptClaim(claim: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await Promise.race([claim(), timeLimit(DEADLINE_MS).expired]);
    } catch (cause) {
      if (attempt === ATTEMPTS)
        throw new Fault('unavailable', 'the jti store is temporarily unavailable: try again', { cause });
    }
  }
}
