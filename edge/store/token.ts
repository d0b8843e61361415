/** Tokens in the database: access tokens that were revoked before they expired (RFC 7009), and claims of a `jti`. */
import type { Query } from '../deps.ts';
import { callerArguments, type CallerIdentity } from './api-key.ts';
import { read, sql } from './sql.ts';

/** @param expires seconds since the epoch: the token's `exp` */
export function revokeToken(token: CallerIdentity, expires: number): Query {
  return sql`select token_revoke(${token.site}::uuid, ${token.tokenId}, to_timestamp(${expires}::float8))`;
}

/** The current state of a token: whether it is accepted, and the scopes that its key allows. */
export function tokenStanding(token: CallerIdentity): Query<{ live: boolean; scopes: string[] | null }> {
  const [site, clientId, tokenId, audience, protocol] = callerArguments(token);
  return read<{
    live: boolean;
    scopes: string[] | null;
  }>`select s.refusal is null as live, s.scopes
       from caller_standing(${site}::uuid, ${clientId}, ${tokenId}, ${audience}, ${protocol}) s`;
}

/** @param expires seconds since the epoch after which the claim may be deleted */
export function claimJti(clientId: string, hash: string, expires: number, attempt: string): Query<{ first: boolean }> {
  return sql<{
    first: boolean;
  }>`select jti_claim_add(${clientId}, ${hash}, ${attempt}, to_timestamp(${expires}::float8)) as first`;
}
