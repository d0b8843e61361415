/**
 * The rules of the API key record that need more than one member (edge/docs/behaviour.md, Administration): one JWKS, by
 * URI or inline, that is safe to trust. Each finding names its field.
 */
import { calculateJwkThumbprint } from 'jose';

import { Fault, type Issue } from '../../../shared/fault.ts';
import { isJsonObject } from '../../../shared/json.ts';
import { type CheckedJwks, type CheckedKey, publicMembersOf, readJwks } from '../../../shared/oauth/jwks.ts';
import { quote } from '../../../shared/quote.ts';
import { fetchJwks } from '../../http/fetch-jwks.ts';
import type { GuardedFetching } from '../../http/guarded-fetch.ts';

export const MAX_JWKS_CHARACTERS = 64 * 1024;

export interface Rules {
  readonly jwksUri: string | null;
  /** Text, already printed. */
  readonly jwks: string | null;
  readonly protocols: readonly string[];
  readonly allowedIps: readonly string[];
}

/** What was found in the JWKS that a key names or holds. */
export interface JwksFindings {
  readonly keys: readonly CheckedKey[];
  /** Why the JWKS URI could not be looked at now; it is then only stored. */
  readonly unreachable?: string;
}

const issue = (at: string, message: string): Issue => ({ code: 'invalid', message, at });

/** One JWKS, by URI or inline. */
function checkOneJwks(jwksUri: string | null, jwks: string | null): Issue[] {
  if (jwksUri === null && jwks === null) {
    return [issue('jwksUri', 'give a JWKS URI, or paste the JWKS'), issue('jwks', 'paste a JWKS, or give a JWKS URI')];
  }
  if (jwksUri === null || jwks === null) return [];
  const both = (other: string) => `is given together with ${other}: clear one`;
  return [issue('jwksUri', both('jwks')), issue('jwks', both('jwksUri'))];
}

/** What needs no look at keys. */
export function checkTogether({ jwksUri, jwks, protocols, allowedIps }: Rules): Issue[] {
  const issues = checkOneJwks(jwksUri, jwks);
  if (protocols.length === 0) issues.push(issue('protocols', 'at least one protocol is needed'));
  if (protocols.includes('hl7-mllp') && allowedIps.length === 0) {
    issues.push(issue('allowedIps', 'protocol hl7-mllp needs the addresses that may connect, or *'));
  }
  return issues;
}

/** A JWKS that must not be trusted, though some of its keys could be used (edge/docs/behaviour.md, Administration). */
function checkKeys(field: string, { keys, problems }: CheckedJwks): Issue[] {
  const dangerous = keys
    .map((key, at) => ({ ...key, at }))
    .filter(({ dangerous: isDangerous }) => isDangerous)
    .map(({ kid, at, type, reason }) =>
      issue(field, `key ${kid === undefined ? at + 1 : quote(kid)} (${type}): ${reason}`),
    );
  return [...problems.map((message) => issue(field, message)), ...dangerous];
}

export interface LookedAt {
  /** What forbids them. */
  readonly issues: readonly Issue[];
  readonly findings: JwksFindings;
}

export const NOTHING_SEEN: LookedAt = { issues: [], findings: { keys: [] } };

/** Looks at what a JWKS URI holds now. */
export async function lookAtUri(deps: GuardedFetching, uri: string): Promise<LookedAt> {
  const fetched = await fetchJwks(deps, uri);
  if (!('failed' in fetched)) {
    return { issues: checkKeys('jwksUri', fetched.jwks), findings: { keys: fetched.jwks.keys } };
  }
  const { failed, reason } = fetched;
  if (failed === 'refused') return { issues: [issue('jwksUri', reason)], findings: { keys: [] } };
  // A host that cannot be reached now may be tomorrow: the key is saved, and the finding shown.
  return { issues: [], findings: { keys: [], unreachable: reason } };
}

/** Looks at the keys: the inline JWKS, or what the JWKS URI holds now. */
export async function lookAtKeys(
  deps: GuardedFetching,
  { jwksUri, jwks }: Pick<Rules, 'jwksUri' | 'jwks'>,
): Promise<LookedAt> {
  if (jwks === null) return jwksUri === null ? NOTHING_SEEN : lookAtUri(deps, jwksUri);
  if (jwks.length > MAX_JWKS_CHARACTERS) {
    return { issues: [issue('jwks', `must have at most ${MAX_JWKS_CHARACTERS} characters`)], findings: { keys: [] } };
  }
  const checked = readJwks(jwks);
  return { issues: checkKeys('jwks', checked), findings: { keys: checked.keys } };
}

export function refusal(issues: readonly Issue[]): Fault {
  const fields = [...new Set(issues.map(({ at }) => at))].join(', ');
  return new Fault('invalid', `the API key is not acceptable: ${fields}`, { issues });
}

export interface Thumbprints {
  readonly owned: readonly string[];
  readonly foreign: readonly string[];
  /** What the key at a position of owned, then foreign, calls itself. */
  readonly names: readonly string[];
}

/** RFC 7638 thumbprints of the usable keys: an inline one belongs to this client, another's at a URI is refused. */
export async function thumbprintsOf(findings: JwksFindings, isInline: boolean): Promise<Thumbprints> {
  const usable = findings.keys.filter(({ usable: isUsable, jwk }) => isUsable && isJsonObject(jwk));
  const thumbprints = await Promise.all(usable.map(({ jwk }) => calculateJwkThumbprint(publicMembersOf(jwk))));
  const names = usable.map(({ kid }, at) => (kid === undefined ? `number ${at + 1}` : quote(kid)));
  return isInline ? { owned: thumbprints, foreign: [], names } : { owned: [], foreign: thumbprints, names };
}
