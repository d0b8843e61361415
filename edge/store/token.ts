/** Access tokens in the database: only what was revoked before it expired (RFC 7009), and single use where Postgres keeps it. */
import type { Query } from '../deps.ts';
import type { CallerIdentity } from './api-key.ts';
import { read, sql } from './sql.ts';

/** @param expires seconds since the epoch: the token's `exp` */
export function revokeToken(token: CallerIdentity, expires: number): Query {
  return sql`select token_revoke(${token.site}::uuid, ${token.tokenId}, to_timestamp(${expires}::float8))`;
}

/** Whether a token would be let in now: its key is active and it was not revoked. */
export function isTokenLive(token: CallerIdentity): Query<{ live: boolean }> {
  return read<{
    live: boolean;
  }>`select caller_refusal(${token.site}::uuid, ${token.clientId}, ${token.tokenId}) is null as live`;
}

/** @param expires seconds since the epoch after which the claim may be forgotten */
export function claimJti(clientId: string, hash: string, expires: number, attempt: string): Query<{ first: boolean }> {
  return sql<{
    first: boolean;
  }>`select jti_claim_add(${clientId}, ${hash}, ${attempt}, to_timestamp(${expires}::float8)) as first`;
}
