/** Client IDs: `svc-` and a UUID (edge/docs/behaviour.md, Token service). */
import type { JsonObject } from '../../../shared/json.ts';

const CLIENT_ID = /^svc-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const isClientId = (value: unknown): value is string => typeof value === 'string' && CLIENT_ID.test(value);

/** The client that an assertion claims: `sub` (RFC 7523 §3 rule 2.B), or `iss` if `sub` is not a Client ID. */
export function claimedClient({ sub, iss }: JsonObject): string | undefined {
  return [sub, iss].find(isClientId);
}
