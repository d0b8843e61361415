/**
 * Every reason for a rejected or failed request, on every surface: a stable code, the texts for administrators, and for a
 * token request its answer. No other code decides what the caller of a refused token request learns
 * (edge/docs/behaviour.md, Token service).
 */
import type { FaultKind } from '../shared/fault.ts';

interface Described {
  /** The check as a noun, for lists and filters. */
  readonly label: string;
  /** The recommended change, shown beside the exact reason. Null: only the console has a hint. */
  readonly hint: string | null;
  /** A sentence about the console, to which clients have no access. */
  readonly consoleHint?: string;
}

/** RFC 6749 §5.2; `invalid_target` is from RFC 8707 §2, `temporarily_unavailable` from RFC 6749 §4.1.2.1. */
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
  /** The code if the checked value is missing, if the standard has another code for that. */
  readonly errorIfMissing?: OauthError;
  /** Determines the status. */
  readonly kind: FaultKind;
  /** `nothing`: the same constant sentence for every such refusal; `reason`: the exact reason. */
  readonly description: 'nothing' | 'reason';
}

/** Before the signature is verified, an answer must not reveal clients, keys or their status. */
const CONSTANT = { error: 'invalid_client', kind: 'unauthenticated', description: 'nothing' } as const;
/** The holder of the client's key learns what is wrong with the assertion. */
const PRECISE = { error: 'invalid_client', kind: 'unauthenticated', description: 'reason' } as const;
/** A problem of the request itself reveals nothing about clients. */
const request = <Error extends OauthError>(error: Error) =>
  ({ error, kind: 'malformed', description: 'reason' }) as const;

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
    label: 'the format of the assertion',
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
  client: { label: 'the client', hint: 'Set iss and sub to the Client ID of the API key.', ...CONSTANT },
  jwks: {
    label: 'the JWKS',
    hint: 'Check the JWKS of the API key: it must contain a public key for the algorithm.',
    ...CONSTANT,
  },
  jwks_uri: {
    label: 'the JWKS URI',
    hint: 'Check the JWKS URI of the API key: its host must answer with a JWKS that contains a usable public key.',
    ...CONSTANT,
  },
  signature: {
    label: 'the signature',
    hint: 'Sign with the private key whose public half is in the JWKS of the API key.',
    ...CONSTANT,
  },
  iss: { label: 'iss', hint: 'Set iss to the Client ID.', ...PRECISE },
  sub: { label: 'sub', hint: 'Set sub to the Client ID, the same as iss.', ...PRECISE },
  aud: {
    label: 'aud',
    hint: 'Set aud to the token_endpoint of the discovery document, exactly as the client posts to it.',
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
    description: 'reason',
  },
  unavailable: {
    label: 'a part of the gateway that could not be reached',
    hint: 'Try again: a part of the gateway was temporarily unreachable.',
    error: 'temporarily_unavailable',
    kind: 'unavailable',
    description: 'reason',
  },
} as const satisfies Readonly<Record<string, TokenRefusal>>;

export type RefusalCode = keyof typeof TOKEN_REFUSALS;

/**
 * The codes of a token request that only the holder of the client's private key or of its access token can cause. A stranger
 * who knows a Client ID can cause the others: their requests only claim the client.
 */
export const AUTHENTICATED_REFUSALS: readonly RefusalCode[] = [
  'form',
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'replay',
  'status',
  'scope',
  'audience',
  'owner',
  'rate',
];

/** The reasons why an MLLP message has no API key; its sender gets an ACK (edge/docs/behaviour.md, MLLP). */
export const MLLP_REFUSALS = {
  'no-key': {
    label: 'no API key fits (MLLP)',
    hint: 'Change the API key or the sender so that they match.',
  },
  ambiguous: {
    label: 'API keys of several sites match (MLLP)',
    hint: 'Ask the operator of the gateway to assign the sender to one site.',
  },
} as const satisfies Readonly<Record<string, Described>>;

export type MllpRefusalCode = keyof typeof MLLP_REFUSALS;

/** For requests with an access token on FHIR and HL7 (RFC 6750 §3.1), and for failures on every surface. */
const BEARER_REFUSALS = {
  invalid_token: {
    label: 'the access token',
    hint: 'Ask for a new token when the old one expires (expires_in), for the audience of this surface, with an active key.',
  },
  insufficient_scope: {
    label: 'the scopes of the access token',
    hint: 'Allow the scope to this API key, and ask for it in the token request.',
  },
  invalid_request: {
    label: 'how the access token was sent',
    hint: 'Send the token once, in the Authorization header, as Bearer.',
  },
  login: { label: 'the access token', hint: 'Send an access token in the Authorization header.' },
  forbidden: { label: 'the rights of the key', hint: 'Allow the scope to this API key, and ask for it.' },
  throttled: {
    label: 'the rate limit of the key',
    hint: 'Send fewer requests: wait for the time in Retry-After, and do not repeat requests that were rejected for their content.',
  },
  transient: {
    label: 'a part of the gateway was unavailable',
    hint: 'The client should try again after the time in Retry-After.',
  },
  exception: {
    label: 'a failure of the gateway',
    hint: 'Nothing was stored. Give the operator the request id, which is in the log of the gateway.',
  },
  timeout: { label: 'the request did not arrive in time', hint: 'Check the connection between client and gateway.' },
  'too-large': {
    label: 'the body is larger than the limit',
    hint: 'Send it in parts: the answer contains the limit.',
  },
  'unsupported-media-type': {
    label: 'the Content-Type is not supported',
    hint: 'FHIR: application/fhir+json, a patch application/json-patch+json. HL7: text/plain or application/hl7-v2.',
  },
  'not-acceptable': { label: 'the Accept header is not supported', hint: 'Accept application/fhir+json.' },
  'method-not-allowed': {
    label: 'the method is not supported at this address',
    hint: 'Use a method from the header Allow.',
  },
} as const satisfies Readonly<Record<string, Described>>;

/** R4's IssueTypes, as the FHIR surface uses them. */
export const FHIR_ISSUES = {
  structure: {
    label: 'the structure is not valid R4',
    hint: 'Check the element: in R4 it does not exist there, or has another type.',
    consoleHint: 'The workbench checks a resource.',
  },
  required: {
    label: 'a required element is missing',
    hint: 'Send it.',
    consoleHint: 'The workbench checks a resource.',
  },
  value: { label: 'the value cannot be used here', hint: 'Check the format of this value in R4; the answer names it.' },
  invariant: {
    label: 'a rule of R4 is broken',
    hint: 'The answer names the rule.',
    consoleHint: 'The workbench checks a resource.',
  },
  'code-invalid': { label: 'the code is not in the required value set', hint: 'Use a code of the value set of R4.' },
  'not-supported': {
    label: 'it is not supported here',
    hint: 'The CapabilityStatement (/fhir/metadata) lists what is supported. Prefer: handling=lenient ignores unknown search parameters.',
  },
  'not-found': {
    label: 'the site has no resource with this id',
    hint: 'The gateway assigns ids, and a site sees only its own: search by identifier first.',
  },
  duplicate: { label: 'a resource occurs twice in one request', hint: 'Send each resource once in a bundle.' },
  'multiple-matches': {
    label: 'the condition matches several resources',
    hint: 'Use a precise condition: system and value of an identifier.',
  },
  conflict: {
    label: 'another request changed the resource concurrently',
    hint: 'Read it again and repeat the change; If-Match prevents lost updates.',
  },
  'too-costly': {
    label: 'the request exceeds a limit of cost',
    hint: 'Request less at a time: the answer contains the limit.',
  },
  'too-long': { label: 'it is larger than the limit', hint: 'Send it in parts: the answer contains the limit.' },
  'business-rule': {
    label: 'the content cannot be stored as sent',
    hint: 'The answer contains the reason.',
    consoleHint: 'The workbench checks a resource.',
  },
  invalid: { label: 'the content does not parse', hint: 'Send R4 JSON in UTF-8.' },
} as const satisfies Readonly<Record<string, Described>>;

/** For failures without an issue. */
const FHIR_FAILURES = {
  'precondition-failed': {
    label: 'a precondition in the headers failed',
    hint: 'The resource has another version: read it again, and send its ETag in If-Match.',
  },
  malformed: { label: 'the content does not parse', hint: 'Send R4 JSON in UTF-8.' },
} as const satisfies Readonly<Record<string, Described>>;

/** Table 0357. For messages the reason is the sentence of the ERR segment. */
const HL7_REFUSALS = {
  '100': {
    label: 'the order of segments',
    hint: 'Send the segments in the order of the message structure of HL7 v2.5.1.',
  },
  '101': {
    label: 'a required field',
    hint: 'The sender must fill in the field.',
    consoleHint: 'The message is in Messages, with the field marked.',
  },
  '102': {
    label: 'the type of a field',
    hint: 'The sender must write the field in the format of its type.',
    consoleHint: 'The message is in Messages, with the field marked.',
  },
  '103': {
    label: 'a code of a table',
    hint: 'The sender must use a code of the table.',
    consoleHint: 'The message is in Messages, with the field marked.',
  },
  '200': {
    label: 'the type of the message',
    hint: 'ADT, ORU, OUL, MDM, PPR, ORM and OML are supported; the key can store other types, except queries.',
  },
  '201': {
    label: 'the event of the message',
    hint: 'The documentation page HL7 senders lists the events of each type.',
  },
  '202': { label: 'the processing id', hint: 'The accepted processing ids are a setting of the site and of the key.' },
  '203': { label: 'the version of HL7', hint: 'Versions 2.2 to 2.8.2 are supported.' },
  '204': {
    label: 'an unknown identifier',
    hint: null,
    consoleHint: 'The message is in Messages, with the identifier marked and the problem described.',
  },
  '205': {
    label: 'the patient',
    hint: null,
    consoleHint: 'The message is in Messages, with the reason why its patient was rejected.',
  },
  '206': { label: 'a record that is locked', hint: 'The sender must send it again.' },
  '207': {
    label: 'the gateway could not process it',
    hint: null,
    consoleHint: 'The message is in Messages, which shows if the gateway retries it.',
  },
  // For a whole batch: none of its messages is stored.
  'broken-batch': {
    label: 'the envelope of a batch',
    hint: 'No message of the batch was stored. Correct its FHS, BHS, BTS and FTS, and send all of it again.',
  },
  'batch-too-long': {
    label: 'the number of messages in a batch',
    hint: 'No message of the batch was stored. Send several batches: the reason names the limit.',
  },
} as const satisfies Readonly<Record<string, Described>>;

/** The answer to a refused token request. */
export const tokenRefusal = (code: RefusalCode): TokenRefusal => TOKEN_REFUSALS[code];

const DESCRIBED: ReadonlyMap<string, Described> = new Map<string, Described>([
  ...Object.entries(TOKEN_REFUSALS),
  ...Object.entries(MLLP_REFUSALS),
  ...Object.entries(BEARER_REFUSALS),
  ...Object.entries(FHIR_ISSUES),
  ...Object.entries(FHIR_FAILURES),
  ...Object.entries(HL7_REFUSALS),
]);

const consoleHintOf = ({ hint, consoleHint }: Described): string =>
  [hint, consoleHint].filter((each) => each != null).join(' ');

/** All results of `hintFor`. */
export const HINTS: readonly string[] = [...DESCRIBED.values()].map(consoleHintOf);

/** @param code an unknown code is its own label */
export const labelFor = (code: string): string => DESCRIBED.get(code)?.label ?? code;

/**
 * @param code as stored with a refusal, perhaps by another release
 * @returns sentences for the console, or null for an unknown code
 */
export function hintFor(code: string): string | null {
  const described = DESCRIBED.get(code);
  return described === undefined ? null : consoleHintOf(described);
}

/** @returns `hintFor` without its sentences about the console; null if nothing is left */
export const clientHintFor = (code: string): string | null => DESCRIBED.get(code)?.hint ?? null;

/** The reason for refusing a token request. A caller sees it only after its signature has been verified. */
export interface Reason {
  readonly code: RefusalCode;
  /** A sentence; received values in it are shortened, with control characters escaped. */
  readonly reason: string;
  /** True if the checked value is missing. */
  readonly isMissing?: boolean;
}
