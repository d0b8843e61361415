/** One request to the token service that may be refused: who and whence, and how the refusal is kept for its key. */
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
  /** Says whose the request is, so that it is counted whether it is refused or not. */
  readonly countFor: (site: string, clientId: string) => void;
  /** The key that was found to be there, whether the request has proven to be its or not. */
  readonly knownClient: () => string | undefined;
  /** Says with which of its public keys the client has authenticated. */
  readonly signedWith: (kid: string | undefined) => void;
  /** Says that a token was issued. */
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
 * Counted once the client is known to be the one it claims to be, so that nobody else can use up its limit.
 *
 * @returns why it is over its limit, or undefined
 */
export async function overClientLimit(deps: Pick<Deps, 'rateLimiter'>, clientId: string): Promise<Reason | undefined> {
  return (await deps.rateLimiter.allow('token-client', clientId)) ? undefined : tooMany('client');
}

/** Logs a refusal and notes it for the key that it claims to come from, off the response path. */
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
