/**
 * Why a request can be refused: for each check a stable code, what administrators read of it, and for a token request what
 * its caller is told. Nothing else decides what a refusal tells to whom (edge/README.md, Token service).
 */
import type { FaultKind } from '../shared/fault.ts';

interface Described {
  /** The check, as a noun for lists and filters. */
  readonly label: string;
  /** What to change, a sentence shown beside the exact reason. */
  readonly hint: string;
}

/** RFC 6749 §5.2; `invalid_target` is of RFC 8707 §2, `temporarily_unavailable` of RFC 6749 §4.1.2.1. */
type OauthError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'temporarily_unavailable';

interface TokenRefusal extends Described {
  readonly error: OauthError;
  /** Where what is checked is not there at all, and the standard has another code for that. */
  readonly errorIfMissing?: OauthError;
  /** Decides on the status. */
  readonly kind: FaultKind;
  /** `nothing`: one constant sentence, the same for every such refusal; `reason`: the exact reason. */
  readonly told: 'nothing' | 'reason';
}

/** Until a signature has verified nothing may tell which clients and keys there are; the status of a key is no one's to ask. */
const CONSTANT = { error: 'invalid_client', kind: 'unauthenticated', told: 'nothing' } as const;
/** Whoever holds the client's key learns what is wrong with its assertion. */
const PRECISE = { error: 'invalid_client', kind: 'unauthenticated', told: 'reason' } as const;
/** What is wrong with the request itself tells nothing about clients. */
const request = <Error extends OauthError>(error: Error) => ({ error, kind: 'malformed', told: 'reason' }) as const;

export const TOKEN_REFUSALS = {
  form: {
    label: 'the form',
    hint: 'Send the parameters once each, as application/x-www-form-urlencoded in the body of a POST.',
    ...request('invalid_request'),
  },
  grant_type: {
    label: 'grant_type',
    hint: 'Send grant_type=client_credentials: it is the only grant.',
    ...request('unsupported_grant_type'),
    errorIfMissing: 'invalid_request',
  },
  credentials: {
    label: 'the parameters of client authentication',
    hint: 'Send client_assertion_type and client_assertion together, and no other client authentication.',
    ...request('invalid_request'),
  },
  authentication: {
    label: 'client authentication',
    hint: 'Send client_assertion_type and client_assertion, and no other client authentication.',
    ...CONSTANT,
  },
  format: {
    label: 'the form of the assertion',
    hint: 'Send the signed JWT as your library prints it: three base64url parts with dots between, nothing around them.',
    ...CONSTANT,
  },
  header: {
    label: 'the header of the assertion',
    hint: 'Keep the header to alg, typ and kid.',
    ...CONSTANT,
  },
  alg: {
    label: 'alg',
    hint: 'Sign with an algorithm that the discovery document lists, and that the key itself allows.',
    ...CONSTANT,
  },
  typ: { label: 'typ', hint: 'Set the header typ to JWT, or leave it out.', ...CONSTANT },
  kid: {
    label: 'kid',
    hint: 'Send the kid of a key in the JWKS, or add the signing key to the JWKS.',
    ...CONSTANT,
  },
  client: { label: 'the client', hint: 'Set iss and sub to the Client ID of this page.', ...CONSTANT },
  jwks: {
    label: 'the JWKS',
    hint: 'Look at the JWKS of this API key: it has to be reachable and to hold a usable public key.',
    ...CONSTANT,
  },
  signature: {
    label: 'the signature',
    hint: 'Sign with the private key whose public half is in the JWKS of this API key.',
    ...CONSTANT,
  },
  iss: { label: 'iss', hint: 'Set iss to the Client ID.', ...PRECISE },
  sub: { label: 'sub', hint: 'Set sub to the Client ID, the same as iss.', ...PRECISE },
  aud: {
    label: 'aud',
    hint: 'Set aud to the token_endpoint of the discovery document, exactly as it is posted to.',
    ...PRECISE,
  },
  exp: {
    label: 'exp',
    hint: 'Set exp to at most five minutes ahead, in seconds, and check that the clock is synchronised (NTP).',
    ...PRECISE,
  },
  nbf: { label: 'nbf', hint: 'Leave nbf out, or check that the clock is synchronised (NTP).', ...PRECISE },
  iat: {
    label: 'iat',
    hint: 'Set iat to the time of the request in seconds, and check that the clock is synchronised (NTP).',
    ...PRECISE,
  },
  jti: { label: 'jti', hint: 'Send a new random jti, such as a UUID, with every assertion.', ...PRECISE },
  replay: {
    label: 'single use',
    hint: 'Make a new assertion for every token request, and keep the token until it expires.',
    ...PRECISE,
  },
  status: { label: 'the status of the key', hint: 'Enable the API key, if it is meant to be used.', ...CONSTANT },
  scope: {
    label: 'scope',
    hint: 'Ask for scopes that are among the Allowed scopes, or allow them to this API key.',
    ...request('invalid_scope'),
  },
  audience: {
    label: 'audience',
    hint: 'Ask for svc-fhir or svc-hl7-http, and allow the audience and its protocol to this API key.',
    ...request('invalid_target'),
  },
  owner: {
    label: 'the client of a token to revoke',
    hint: 'Revoke a token with the API key that it was issued to.',
    ...request('invalid_grant'),
  },
  rate: {
    label: 'the rate limit',
    hint: 'Keep each token until it expires instead of asking for one per request.',
    error: 'temporarily_unavailable',
    kind: 'throttled',
    told: 'reason',
  },
  unavailable: {
    label: 'a part of the gateway that could not be reached',
    hint: 'Try again: a part of the gateway could not be reached at that moment.',
    error: 'temporarily_unavailable',
    kind: 'unavailable',
    told: 'reason',
  },
} as const satisfies Readonly<Record<string, TokenRefusal>>;

export type RefusalCode = keyof typeof TOKEN_REFUSALS;

/** The two reasons why an MLLP message has no API key; its sender gets an ACK (edge/README.md, MLLP). */
export const MLLP_REFUSALS = {
  'no-key': {
    label: 'no API key fits (MLLP)',
    hint: 'Change the API key, or the sender, so that the reason no longer holds.',
  },
  ambiguous: {
    label: 'API keys of several sites fit (MLLP)',
    hint: 'Ask the operator of the gateway to assign the sender to one site.',
  },
} as const satisfies Readonly<Record<string, Described>>;

export type MllpRefusalCode = keyof typeof MLLP_REFUSALS;

/** What the caller of a refused token request is told and how. */
export const tokenRefusal = (code: RefusalCode): TokenRefusal => TOKEN_REFUSALS[code];

const DESCRIBED: ReadonlyMap<string, Described> = new Map<string, Described>([
  ...Object.entries(TOKEN_REFUSALS),
  ...Object.entries(MLLP_REFUSALS),
]);

/** Every code with what administrators read of it, token requests first. */
export const REFUSALS: readonly (Described & { readonly code: string })[] = [...DESCRIBED].map(
  ([code, { label, hint }]) => ({ code, label, hint }),
);

/**
 * @param code as it was stored with a refusal, perhaps by another release
 * @returns a sentence, or null for a code that is not known
 */
export function hintFor(code: string): string | null {
  return DESCRIBED.get(code)?.hint ?? null;
}

/** Why a token request is refused. Never sent to a caller whose signature has not verified. */
export interface Reason {
  readonly code: RefusalCode;
  /** A sentence; quotes what the caller sent, shortened and with control characters escaped. */
  readonly reason: string;
  /** True where what is checked is not there at all. */
  readonly isMissing?: boolean;
}
