/**
 * The rules of API keys that involve several members (edge/docs/behaviour.md, Administration): one JWKS, by URI or inline,
 * with acceptable keys. Each issue names its field.
 */
import { calculateJwkThumbprint } from 'jose';

import { Fault, type Issue } from '../../../shared/fault.ts';
import { isJsonObject } from '../../../shared/json.ts';
import { type CheckedJwks, type CheckedKey, publicMembersOf, readJwks } from '../../../shared/oauth/jwks.ts';
import { quote } from '../../../shared/quote.ts';
import { fetchJwks } from '../../http/fetch-jwks.ts';
import { checkForeignUrl, type GuardedFetching } from '../../http/guarded-fetch.ts';

export const MAX_JWKS_CHARACTERS = 64 * 1024;

export interface Rules {
  readonly jwksUri: string | null;
  readonly jwks: string | null;
  readonly protocols: readonly string[];
  readonly allowedIps: readonly string[];
}

/** The keys of an API key's JWKS. */
export interface JwksFindings {
  readonly keys: readonly CheckedKey[];
  /** The reason why the JWKS URI could not be loaded; the API key is saved nevertheless. */
  readonly unreachable?: string;
}

const issue = (at: string, message: string): Issue => ({ code: 'invalid', message, at });

/** Requires one JWKS, by URI or inline. */
function checkOneJwks(jwksUri: string | null, jwks: string | null): Issue[] {
  if (jwksUri === null && jwks === null) {
    return [issue('jwksUri', 'give a JWKS URI, or paste the JWKS'), issue('jwks', 'paste a JWKS, or give a JWKS URI')];
  }
  if (jwksUri === null || jwks === null) return [];
  const both = (other: string) => `is given together with ${other}: clear one of them`;
  return [issue('jwksUri', both('jwks')), issue('jwks', both('jwksUri'))];
}

/** Checks the rules that need no keys. */
export function checkTogether({ jwksUri, jwks, protocols, allowedIps }: Rules): Issue[] {
  const issues = checkOneJwks(jwksUri, jwks);
  if (protocols.length === 0) issues.push(issue('protocols', 'must have at least one protocol'));
  if (protocols.includes('hl7-mllp') && allowedIps.length === 0) {
    issues.push(issue('allowedIps', 'must have the sender addresses, or *, for the protocol hl7-mllp'));
  }
  return issues;
}

/** @param hosts subscription hosts that the key does not have yet @returns an issue for each to which nothing may ever be posted */
export const checkSubscriptionHosts = (config: GuardedFetching['config'], hosts: readonly string[]): Issue[] =>
  hosts.flatMap((host) => {
    const problem = checkForeignUrl(config, `https://${host}/`);
    return problem === undefined ? [] : [issue('subscriptionHosts', `${host} cannot be used: ${problem}`)];
  });

/** True if an assertion with this `kid` could mean either key, for which the token endpoint rejects it. */
const isAmbiguous = (one: CheckedKey, other: CheckedKey): boolean =>
  one.kid !== undefined &&
  one.kid === other.kid &&
  one.type === other.type &&
  (one.jwk['alg'] ?? other.jwk['alg']) === (other.jwk['alg'] ?? one.jwk['alg']);

function checkKids(field: string, keys: readonly CheckedKey[]): Issue[] {
  const usable = keys.filter((key) => key.usable);
  const second = usable.find((key, at) => usable.slice(0, at).some((other) => isAmbiguous(key, other)));
  if (second === undefined) return [];
  return [issue(field, `two ${second.type} keys have the kid ${quote(second.kid)}: give each key another kid`)];
}

/** One dangerous key makes the JWKS unacceptable, also beside good keys (edge/docs/behaviour.md, Administration). */
function checkKeys(field: string, { keys, problems }: CheckedJwks): Issue[] {
  const dangerous = keys
    .map((key, at) => ({ ...key, at }))
    .filter(({ dangerous: isDangerous }) => isDangerous)
    .map(({ kid, at, type, reason }) =>
      issue(field, `key ${kid === undefined ? at + 1 : quote(kid)} (${type}): ${reason}`),
    );
  return [...problems.map((message) => issue(field, message)), ...dangerous, ...checkKids(field, keys)];
}

export interface Inspection {
  /** The reasons why the keys are not acceptable. */
  readonly issues: readonly Issue[];
  readonly findings: JwksFindings;
}

export const NOT_INSPECTED: Inspection = { issues: [], findings: { keys: [] } };

/** Fetches a JWKS URI and checks its keys. */
export async function inspectUri(deps: GuardedFetching, uri: string): Promise<Inspection> {
  const fetched = await fetchJwks(deps, uri);
  if (!('failed' in fetched)) {
    return { issues: checkKeys('jwksUri', fetched.jwks), findings: { keys: fetched.jwks.keys } };
  }
  const { failed, reason } = fetched;
  if (failed === 'refused') return { issues: [issue('jwksUri', reason)], findings: { keys: [] } };
  // The host may be unreachable for a while: the API key is saved, and the page shows the reason.
  return { issues: [], findings: { keys: [], unreachable: reason } };
}

/** Checks the keys of the inline JWKS, or of the JWKS URI. */
export async function inspectKeys(
  deps: GuardedFetching,
  { jwksUri, jwks }: Pick<Rules, 'jwksUri' | 'jwks'>,
): Promise<Inspection> {
  if (jwks === null) return jwksUri === null ? NOT_INSPECTED : inspectUri(deps, jwksUri);
  if (jwks.length > MAX_JWKS_CHARACTERS) {
    return { issues: [issue('jwks', `must have at most ${MAX_JWKS_CHARACTERS} characters`)], findings: { keys: [] } };
  }
  const checked = readJwks(jwks);
  return { issues: checkKeys('jwks', checked), findings: { keys: checked.keys } };
}

export function refusal(issues: readonly Issue[]): Fault {
  const fields = [...new Set(issues.map(({ at }) => at))].join(', ');
  return new Fault('invalid', `the API key is not valid: ${fields}`, { issues });
}

export interface Thumbprints {
  readonly owned: readonly string[];
  readonly foreign: readonly string[];
  /** The kid of each thumbprint, or its number. */
  readonly names: readonly string[];
}

/** RFC 7638 thumbprints of the usable keys. An inline key belongs to this client; a key at a URI must not be another's. */
export async function thumbprintsOf(findings: JwksFindings, isInline: boolean): Promise<Thumbprints> {
  const usable = findings.keys.filter(({ usable: isUsable, jwk }) => isUsable && isJsonObject(jwk));
  const thumbprints = await Promise.all(usable.map(({ jwk }) => calculateJwkThumbprint(publicMembersOf(jwk))));
  const names = usable.map(({ kid }, at) => (kid === undefined ? `number ${at + 1}` : quote(kid)));
  return isInline ? { owned: thumbprints, foreign: [], names } : { owned: [], foreign: thumbprints, names };
}
