/** One request to the token service that may be refused: who and whence, and how the refusal is kept for its key. */
import type { Context } from 'hono';

import { addressKey } from '../../shared/ip.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import type { Deps } from '../deps.ts';
import type { GatewayEnv } from '../http/surface.ts';
import type { Reason } from '../refusals.ts';
import { recordRefusal } from '../store/refusal.ts';
import { refuse, type Refused } from './refused.ts';

export interface Attempt {
  readonly request: Request;
  readonly requestId: string;
  readonly sourceAddress: string;
  /** Says whose the request is, so that it is counted whether it is refused or not. */
  readonly countFor: (site: string, clientId: string) => void;
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

async function keep(deps: Deps, attempt: Attempt, clientId: string, { code, reason }: Reason): Promise<void> {
  // A limit of its own: a flood in a client's name costs a bounded number of writes.
  if (!(await deps.rateLimiter.allow('token-client', `refusal ${clientId}`))) return;
  const { requestId, sourceAddress } = attempt;
  const id = uuidv7(deps.now());
  await deps.database.run(recordRefusal({ id, clientId, surface: 'token', requestId, sourceAddress, code, reason }));
}

/** Logs a refusal and keeps it for the key it claims to come from, off the response path. */
export function keepRefusal(deps: Deps, attempt: Attempt, { refusal, clientId }: Refused): void {
  const { requestId, sourceAddress } = attempt;
  deps.log({ level: 'info', event: 'token.refused', requestId, sourceAddress, clientId, fault: refusal.code });
  if (clientId !== undefined) deps.background(keep(deps, attempt, clientId, refusal));
}
