/**
 * Why a request can be refused or fail, on every surface: for each check a stable code and what administrators read of it, and for
 * a token request what its caller is told. Nothing else decides what a refused token request tells to whom (edge/docs/behaviour.md,
 * Token service).
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
  client: { label: 'the client', hint: 'Set iss and sub to the Client ID of the API key.', ...CONSTANT },
  jwks: {
    label: 'the JWKS',
    hint: 'Look at the JWKS of the API key: it has to be reachable and to hold a usable public key.',
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

/** The two reasons why an MLLP message has no API key; its sender gets an ACK (edge/docs/behaviour.md, MLLP). */
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

/** Of requests with an access token, over FHIR and HL7 alike (RFC 6750 §3.1), and of what no surface has another word for. */
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
    hint: 'Send less at once: wait for as long as Retry-After says, and do not repeat what was refused for its content.',
  },
  transient: {
    label: 'a part of the gateway was away',
    hint: 'The client tries again by itself, as Retry-After says.',
  },
  exception: {
    label: 'a fault of the gateway',
    hint: 'Nothing was stored. Tell the operator the request id: it stands in the log of the gateway.',
  },
  timeout: { label: 'the request did not arrive in time', hint: 'Look at the connection between client and gateway.' },
  'too-large': {
    label: 'the body is larger than the limit',
    hint: 'Send it in parts: the answer named the limit.',
  },
  'unsupported-media-type': {
    label: 'the Content-Type cannot be read',
    hint: 'FHIR: application/fhir+json, a patch application/json-patch+json. HL7: text/plain or application/hl7-v2.',
  },
  'not-acceptable': { label: 'the Accept cannot be served', hint: 'Accept application/fhir+json.' },
  'method-not-allowed': {
    label: 'the method is not one of this address',
    hint: 'Use one of those in the header Allow.',
  },
} as const satisfies Readonly<Record<string, Described>>;

/** R4's IssueTypes as this surface gives them. */
export const FHIR_ISSUES = {
  structure: {
    label: 'it has not the shape that R4 gives it',
    hint: 'Look at the element: R4 has none of this name there, or of another type. The workbench checks a resource.',
  },
  required: { label: 'an element that must be there is missing', hint: 'Send it. The workbench checks a resource.' },
  value: { label: 'the value cannot be used here', hint: 'Look at how R4 writes such a value; the answer said which.' },
  invariant: {
    label: 'a rule of R4 does not hold',
    hint: 'The answer named the rule. The workbench checks a resource.',
  },
  'code-invalid': { label: 'the code is not in the required value set', hint: 'Use a code of the value set of R4.' },
  'not-supported': {
    label: 'it is not supported here',
    hint: 'The CapabilityStatement (/fhir/metadata) says what is; Prefer: handling=lenient leaves out unknown search parameters.',
  },
  'not-found': {
    label: 'there is nothing of this id in the site',
    hint: 'Ids are made here, and those of other sites are not found: search by identifier first.',
  },
  duplicate: { label: 'the same thing twice in one request', hint: 'Send each resource once in a bundle.' },
  'multiple-matches': {
    label: 'the condition fits several',
    hint: 'Make the condition precise: system and value of an identifier.',
  },
  conflict: {
    label: 'somebody else changed it at that moment',
    hint: 'Read it again and repeat the change; with If-Match nothing is overwritten unseen.',
  },
  'too-costly': {
    label: 'the request is more than one may cost',
    hint: 'Ask for less at once: the answer named the limit.',
  },
  'too-long': { label: 'it is larger than the limit', hint: 'Send it in parts: the answer named the limit.' },
  'business-rule': {
    label: 'it cannot be kept as it is',
    hint: 'The answer says why. The workbench checks a resource.',
  },
  invalid: { label: 'it cannot be read', hint: 'Send JSON in UTF-8, as R4 has it.' },
} as const satisfies Readonly<Record<string, Described>>;

/** Its kinds of failure where there is no issue. */
const FHIR_FAILURES = {
  'precondition-failed': {
    label: 'a condition in the headers does not hold',
    hint: 'Another version is the current one: read it again, and send its ETag in If-Match.',
  },
  malformed: { label: 'it cannot be read', hint: 'Send JSON in UTF-8, as R4 has it.' },
} as const satisfies Readonly<Record<string, Described>>;

/** Table 0357: of messages the sentence of the ERR segment is the reason. */
const HL7_REFUSALS = {
  '100': {
    label: 'the order of segments',
    hint: 'Send the segments in the order of the message structure of HL7 v2.5.1.',
  },
  '101': {
    label: 'a required field',
    hint: 'Let the sender value the field. The message is in Messages, with the field marked.',
  },
  '102': {
    label: 'the type of a field',
    hint: 'Let the sender write the field as its type has it. The message is in Messages, with the field marked.',
  },
  '103': {
    label: 'a code of a table',
    hint: 'Let the sender use a code of the table. The message is in Messages, with the field marked.',
  },
  '200': { label: 'the type of the message', hint: 'ADT, ORU^R01 and MDM are served; the key can keep other types.' },
  '201': { label: 'the event of the message', hint: 'Of ORU R01 and of MDM T01 to T11 are served.' },
  '202': { label: 'the processing id', hint: 'Processing ids that are taken are set with the site or the key.' },
  '203': { label: 'the version of HL7', hint: 'Versions 2.2 to 2.8.2 are read.' },
  '204': {
    label: 'an unknown number',
    hint: 'The message is in Messages: it marks the number and says what is wrong with it.',
  },
  '205': {
    label: 'the patient',
    hint: 'The message is in Messages: it says why its patient was not accepted.',
  },
  '206': { label: 'a record that is locked', hint: 'Let the sender send it again.' },
  '207': {
    label: 'the gateway could not process it',
    hint: 'The message is in Messages: it says whether the gateway tries it again by itself.',
  },
  // Of a batch as a whole: none of its messages is stored.
  'broken-batch': {
    label: 'the envelope of a batch',
    hint: 'Nothing of the batch was stored. Mend its FHS, BHS, BTS and FTS as the reason says, and send all of it again.',
  },
  'batch-too-long': {
    label: 'the number of messages in a batch',
    hint: 'Nothing of the batch was stored. Send several batches: the reason names the limit.',
  },
} as const satisfies Readonly<Record<string, Described>>;

/** What the caller of a refused token request is told and how. */
export const tokenRefusal = (code: RefusalCode): TokenRefusal => TOKEN_REFUSALS[code];

const DESCRIBED: ReadonlyMap<string, Described> = new Map<string, Described>([
  ...Object.entries(TOKEN_REFUSALS),
  ...Object.entries(MLLP_REFUSALS),
  ...Object.entries(BEARER_REFUSALS),
  ...Object.entries(FHIR_ISSUES),
  ...Object.entries(FHIR_FAILURES),
  ...Object.entries(HL7_REFUSALS),
]);

/** All that `hintFor` returns. */
export const HINTS: readonly string[] = [...DESCRIBED.values()].map(({ hint }) => hint);

/** @param code any; one that is not known is its own label */
export const labelFor = (code: string): string => DESCRIBED.get(code)?.label ?? code;

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
