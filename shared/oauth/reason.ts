/**
 * Why a token request is refused: a stable code for lists and filters, and the exact reason in words for the
 * administrator of the key. Never sent to a caller whose signature has not verified.
 */
import { type Json, printJson } from '../json.ts';

/** Each names the check that refused. */
export const REFUSAL_CODES = {
  form: 'the form',
  grant_type: 'grant_type',
  authentication: 'client authentication',
  format: 'the form of the assertion',
  header: 'the header of the assertion',
  alg: 'alg',
  typ: 'typ',
  kid: 'kid',
  client: 'the client',
  jwks: 'the JWKS',
  signature: 'the signature',
  iss: 'iss',
  sub: 'sub',
  aud: 'aud',
  exp: 'exp',
  nbf: 'nbf',
  iat: 'iat',
  jti: 'jti',
  replay: 'single use',
  status: 'the status of the key',
  scope: 'scope',
  audience: 'audience',
  rate: 'the rate limit',
  unavailable: 'a part of the gateway that could not be reached',
} as const;
export type RefusalCode = keyof typeof REFUSAL_CODES;

export interface Reason {
  readonly code: RefusalCode;
  /** A sentence; quotes what the caller sent, shortened and with control characters escaped. */
  readonly reason: string;
}

const MAX_QUOTED_CHARACTERS = 120;
/** What could change how a line reads: C1 controls, directional marks, line separators. JSON escapes the rest. */
const INVISIBLE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A value as the caller sent it, fit for a sentence: `"a"`, `12`, `nothing` when it is absent. */
export function quote(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const shortened =
    typeof value === 'string' && value.length > MAX_QUOTED_CHARACTERS
      ? `${value.slice(0, MAX_QUOTED_CHARACTERS)}…`
      : value;
  const text = printJson(shortened).replace(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return text.length > 2 * MAX_QUOTED_CHARACTERS ? `${text.slice(0, 2 * MAX_QUOTED_CHARACTERS)}…` : text;
}

/** `"a", "b" and 3 more`. */
export function quoteAll(values: readonly string[], most = 5): string {
  const shown = values.slice(0, most).map(quote).join(', ');
  return values.length > most ? `${shown} and ${values.length - most} more` : shown;
}
