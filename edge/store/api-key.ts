/** API keys (edge/docs/behaviour.md, Administration): the statements that read them. */
import { type Audience, AUDIENCE_PROTOCOL } from '../../shared/oauth/audience.ts';
import type { Param, Query } from '../deps.ts';
import { read } from './sql.ts';

/** The owner of an access token, in the form that the database needs. */
export interface CallerIdentity {
  readonly site: string;
  readonly clientId: string;
  /** The access token's `jti`. */
  readonly tokenId: string;
  readonly audience: Audience;
  /** Those of the token, as far as the request relies on them. */
  readonly scopes: ReadonlySet<string>;
}

/** The arguments that identify a request's token to the database (`assert_caller`). */
export const callerArguments = ({ site, clientId, tokenId, audience, scopes }: CallerIdentity) =>
  [
    site,
    clientId,
    tokenId,
    audience,
    AUDIENCE_PROTOCOL[audience],
    [...scopes].join(' '),
  ] as const satisfies readonly Param[];

/**
 * The first statement of every batch made for a token. It fails the batch (Fault `unauthenticated`, `invalid_token`)
 * when the key was disabled or the token revoked. It fails with `forbidden`, `insufficient_scope` and the positions of
 * the scopes when the key no longer allows a scope. None of these checks therefore needs a separate round trip.
 */
export function assertCaller(caller: CallerIdentity): Query {
  const [site, clientId, tokenId, audience, protocol, scopes] = callerArguments(caller);
  const query = read`select assert_caller(${site}::uuid, ${clientId}, ${tokenId}, ${audience}, ${protocol}, ${scopes})`;
  return { ...query, site };
}
