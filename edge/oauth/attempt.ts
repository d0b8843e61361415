/** A request to the token service that may be refused, and how its refusal is noted for the key. */
import type { Context } from 'hono';

import { addressKey } from '../../shared/ip.ts';
import type { Deps } from '../deps.ts';
import { FAULT_STATUS } from '../http/fault-status.ts';
import type { NoteRefusal } from '../http/refusals.ts';
import type { GatewayEnv } from '../http/surface.ts';
import type { Reason } from '../refusals.ts';
import { refuse, type Refused } from './refused.ts';

export interface Attempt {
  readonly request: Request;
  readonly requestId: string;
  readonly sourceAddress: string;
  /** Sets the client of the request, so that it is counted even if it is refused. */
  readonly countFor: (site: string, clientId: string) => void;
  /** The existing key that the request names, even without proof. */
  readonly knownClient: () => string | undefined;
  /** Sets the public key that authenticated the client. */
  readonly signedWith: (kid: string | undefined) => void;
  /** Counts an issued token. */
  readonly countToken: () => void;
}

export function beginAttempt(deps: Deps, c: Context<GatewayEnv>): Attempt {
  const request = c.req.raw;
  return {
    request,
    requestId: c.get('requestId'),
    sourceAddress: deps.sourceAddress(request),
    countFor: (site, clientId) => c.set('use', { site, clientId }),
    knownClient: () => c.get('use')?.clientId,
    signedWith: (kid) => {
      const use = c.get('use');
      if (use !== undefined) c.set('use', { ...use, kid: kid ?? '' });
    },
    countToken: () => {
      const use = c.get('use');
      if (use !== undefined) c.set('use', { ...use, answers: ['token'] });
    },
  };
}

const tooMany = (from: 'client' | 'address'): Reason => ({
  code: 'rate',
  reason: `too many token requests from this ${from}`,
});

/** @throws Refused 429 with `Retry-After` */
export async function limitAddress(deps: Deps, { sourceAddress }: Attempt): Promise<void> {
  if (await deps.rateLimiter.allow('token-address', addressKey(sourceAddress))) return;
  throw refuse(tooMany('address'));
}

/**
 * Counts a request of an authenticated client, so that other clients cannot use up its limit.
 *
 * @returns the reason if it is over its limit, or undefined
 */
export async function overClientLimit(deps: Pick<Deps, 'rateLimiter'>, clientId: string): Promise<Reason | undefined> {
  return (await deps.rateLimiter.allow('token-client', clientId)) ? undefined : tooMany('client');
}

/** Logs a refusal and notes it for the claimed key, in the background. */
export function keepRefusal(
  deps: Pick<Deps, 'log'>,
  note: NoteRefusal | undefined,
  attempt: Attempt,
  { fault, refusal, clientId }: Refused,
): void {
  const { requestId, sourceAddress } = attempt;
  const { code, reason } = refusal;
  deps.log({ level: 'info', event: 'token.refused', requestId, sourceAddress, clientId, fault: code });
  if (clientId === undefined) return;
  const isKnown = attempt.knownClient() === clientId;
  note?.({ clientId, isKnown, answer: `${FAULT_STATUS[fault.kind]}`, code, reason, requestId, sourceAddress });
}
