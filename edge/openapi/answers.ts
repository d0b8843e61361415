/**
 * The failures of operations: each kind with its status, headers and next step, from the table of the surfaces. A new kind does
 * not compile without an entry here.
 */
import type { FaultKind } from '../../shared/fault.ts';
import { FHIR_JSON } from '../fhir/media-type.ts';
import { FAULT_STATUS } from '../http/fault-status.ts';
import { type HeaderName, headersOf, ref, type ResponseObject, type Schema, text } from './model.ts';

/** `bug`: a fault of the gateway. */
export type Kind = FaultKind | 'bug';

export const STATUS_OF: Readonly<Record<Kind, number>> = { ...FAULT_STATUS, bug: 500 };

/** The meaning of a failure on all surfaces, and what to do. */
export const MEANING: Readonly<Record<Kind, { readonly meaning: string; readonly next: string }>> = {
  malformed: { meaning: 'The request cannot be read, or contains something unknown.', next: 'Change the request.' },
  invalid: { meaning: 'The content of the request is rejected.', next: 'Change the content.' },
  unauthenticated: {
    meaning:
      'The token is missing or not valid here: it expired, was revoked, or is for another surface. Or its key is disabled, or no longer has the audience or its protocol.',
    next: 'Get a new token. If it is rejected too, ask the administrator of the key.',
  },
  forbidden: {
    meaning: 'The token lacks a scope, or its API key has lost it.',
    next: 'Request a token with the scopes in `WWW-Authenticate`.',
  },
  'not-found': {
    meaning: 'The site of the token has no such resource or address.',
    next: 'Do not repeat the request.',
  },
  'method-not-allowed': { meaning: 'The address does not support this method.', next: 'Use a method of `Allow`.' },
  'not-acceptable': {
    meaning: 'The gateway cannot return the format of `Accept` or `_format`.',
    next: 'Request JSON.',
  },
  timeout: { meaning: 'The body did not arrive within 30 s.', next: 'Send it again faster.' },
  conflict: { meaning: 'A simultaneous request changed the same data.', next: 'Send the request again.' },
  'precondition-failed': {
    meaning: 'A condition is not fulfilled: another version, or several matching resources.',
    next: 'Read the resource, and decide again.',
  },
  'too-large': { meaning: 'The body is too large.', next: 'Send less, or several requests.' },
  'unsupported-media-type': {
    meaning: 'The Content-Type, or its charset or encoding, is not supported.',
    next: 'Change it.',
  },
  throttled: { meaning: 'Too many requests.', next: 'Wait for `Retry-After` seconds.' },
  unavailable: {
    meaning: 'A part of the gateway is unreachable.',
    next: 'Send it again after `Retry-After` seconds. In rare cases a write was stored: create with `If-None-Exist`.',
  },
  bug: { meaning: 'The gateway has a fault. Nothing was stored.', next: 'Report the `X-Request-Id`.' },
};

const HEADERS: Readonly<Partial<Record<Kind, readonly HeaderName[]>>> = {
  // For a token that is sent in two ways at once.
  malformed: ['WWW-Authenticate'],
  unauthenticated: ['WWW-Authenticate'],
  forbidden: ['WWW-Authenticate'],
  'method-not-allowed': ['Allow'],
  throttled: ['Retry-After'],
  unavailable: ['Retry-After'],
};

interface Body {
  readonly mediaType: string;
  readonly schema: Schema;
}

/** The body of a failure on each surface. */
const BODIES = {
  Fhir: { mediaType: FHIR_JSON, schema: ref('OperationOutcome') },
  Oauth: { mediaType: 'application/json', schema: ref('OauthError') },
  Hl7: { mediaType: 'text/plain', schema: { ...text, description: 'An HL7 acknowledgement, or a sentence.' } },
  Problem: { mediaType: 'application/problem+json', schema: ref('Problem') },
} as const satisfies Readonly<Record<string, Body>>;
export type Format = keyof typeof BODIES;

const KINDS = Object.keys(MEANING) as Kind[];
const nameOf = (format: Format, kind: Kind): string => `${format}.${kind}`;

/** The failures of a surface, for `components.responses`; 428 is the console's alone (RFC 6585 §3). */
export function failures(format: Format): Readonly<Record<string, ResponseObject>> {
  const { mediaType, schema } = BODIES[format];
  return Object.fromEntries(
    KINDS.map((kind) => [
      nameOf(format, kind),
      {
        description: `${MEANING[kind].meaning} ${MEANING[kind].next}`,
        headers: headersOf('X-Request-Id', ...(HEADERS[kind] ?? [])),
        content: { [mediaType]: { schema } },
      },
    ]),
  );
}

/** The failures of an operation by status, as references. */
export function failuresOf(format: Format, kinds: readonly Kind[]): Readonly<Record<string, ResponseObject>> {
  const sorted = [...new Set(kinds)].toSorted((a, b) => STATUS_OF[a] - STATUS_OF[b]);
  return Object.fromEntries(
    sorted.map((kind) => [STATUS_OF[kind], { $ref: `#/components/responses/${nameOf(format, kind)}` }]),
  );
}

/** The failures of each request, of requests with a token, and of requests with a body. */
export const ALWAYS: readonly Kind[] = ['malformed', 'throttled', 'unavailable', 'bug'];
export const WITH_TOKEN: readonly Kind[] = ['unauthenticated', 'forbidden'];
export const WITH_BODY: readonly Kind[] = ['timeout', 'too-large', 'unsupported-media-type'];
