/**
 * Scopes (edge/docs/behaviour.md, Token service): the names that can be granted, and the granted scopes of a request. A
 * request may use the spellings of SMART App Launch 2.2 ("Scopes for requesting FHIR Resources").
 */
import { isResourceType, isStored, RESOURCE_TYPES, type ResourceType, unsupportedType } from '../resource-type.ts';

/** The scopes of types, in the order of a token. */
export const scopesOf = (types: readonly ResourceType[]): string[] =>
  types.flatMap((type) => [`system/${type}.read`, ...(isStored(type) ? [`system/${type}.write`] : [])]);

/** The scopes that every gateway can grant. */
export const SCOPES: readonly string[] = scopesOf(RESOURCE_TYPES);

/** A request for everything has at most 17 scopes. More than 100 can only be a probe. */
const MAX_SCOPES = 100;
/** RFC 6749 §3.3: scope-token, separated by spaces. */
const SCOPE_TEXT = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const SYSTEM_SCOPE = /^system\/([A-Za-z]+|\*)\.([a-z]+|\*)$/;

/** SMART v1 words and v2 letters: `rs` equals `read`, `cud` equals `write`. */
function accessOf(permission: string): readonly ('read' | 'write')[] {
  if (permission === 'read' || permission === 'write') return [permission];
  if (permission === '*') return ['read', 'write'];
  if (!/^c?r?u?d?s?$/.test(permission)) return [];
  const reads = /ru?d?s/.test(permission);
  const writes = /cr?ud/.test(permission);
  return [...(reads ? (['read'] as const) : []), ...(writes ? (['write'] as const) : [])];
}

/** The granted names that one requested scope includes; empty for an unknown scope. */
export function expandScope(scope: string, types: readonly ResourceType[]): readonly string[] {
  const [, type, permission] = SYSTEM_SCOPE.exec(scope) ?? [];
  if (type === undefined || permission === undefined) return [];
  return types
    .filter((known) => type === '*' || known === type)
    .flatMap((known) => accessOf(permission).map((access) => `system/${known}.${access}`));
}

/** The sentence about the first scope of a type that is off; undefined where all types are on. */
function scopeIsOff(scopes: readonly string[], types: readonly ResourceType[]): string | undefined {
  const off = scopes
    .map((scope) => SYSTEM_SCOPE.exec(scope)?.[1])
    .find((type) => isResourceType(type) && !types.includes(type));
  return off === undefined ? undefined : unsupportedType(off, types);
}

export type GrantedScopes = { readonly granted: readonly string[] } | { readonly reason: string };

/**
 * The scopes to grant: requested and allowed, in the order of `scopesOf` (RFC 6749 §3.3).
 *
 * @param requested the `scope` parameter
 * @param allowed the key's Allowed scopes
 * @param types the types that the gateway has
 */
export function grantScopes(
  requested: string | undefined,
  allowed: readonly string[],
  types: readonly ResourceType[],
): GrantedScopes {
  const scopes = (requested ?? '').split(' ').filter((scope) => scope !== '');
  if (scopes.length === 0) return { reason: 'scope is required: name the scopes, separated by spaces' };
  if (!SCOPE_TEXT.test(requested ?? '')) {
    return { reason: 'scope contains invalid characters: separate the scopes by single spaces' };
  }
  if (scopes.length > MAX_SCOPES)
    return { reason: `scope contains ${scopes.length} scopes, at most ${MAX_SCOPES} are allowed` };
  const asked = new Set(scopes.flatMap((scope) => expandScope(scope, types)));
  if (asked.size === 0) {
    const off = scopeIsOff(scopes, types);
    if (off !== undefined) return { reason: `none of the requested scopes can be granted: ${off}` };
    const commas = scopes.some((scope) => scope.includes(',')) ? '; scopes are separated by spaces, not commas' : '';
    return { reason: `none of the requested scopes is known: they are of the form system/Patient.read${commas}` };
  }
  if (allowed.length === 0) return { reason: 'the API key has no Allowed scopes: its administrator must add some' };
  const granted = scopesOf(types).filter((scope) => asked.has(scope) && allowed.includes(scope));
  if (granted.length > 0) return { granted };
  return { reason: `none of the requested scopes is among the Allowed scopes of the API key: ${allowed.join(' ')}` };
}
