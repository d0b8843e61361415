/**
 * What is answered beside what was asked for: of each kind of failure its status, its headers and what to do, from the table
 * that the surfaces themselves answer by. A kind that is new does not compile until it is told here.
 */
import type { FaultKind } from '../../shared/fault.ts';
import { FHIR_JSON } from '../fhir/media-type.ts';
import { FAULT_STATUS } from '../http/fault-status.ts';
import { type HeaderName, headersOf, ref, type ResponseObject, type Schema, text } from './model.ts';

/** `bug`: a fault of ours. */
export type Kind = FaultKind | 'bug';

export const STATUS_OF: Readonly<Record<Kind, number>> = { ...FAULT_STATUS, bug: 500 };

/** What a failure means, whatever the surface, and what to do. */
export const MEANING: Readonly<Record<Kind, { readonly means: string; readonly next: string }>> = {
  malformed: { means: 'The request cannot be read, or asks for what is not known.', next: 'Change the request.' },
  invalid: { means: 'It was read and is refused for its content.', next: 'Change the content.' },
  unauthenticated: {
    means:
      'No token, or one that is not valid here: expired, revoked, of another surface, of a key that is disabled or no longer has the audience or its protocol.',
    next: 'Get a new token; if that does not help, ask the administrator of the key.',
  },
  forbidden: {
    means: 'The token lacks a scope, or its API key has lost it.',
    next: 'Ask for the scopes that `WWW-Authenticate` names.',
  },
  'not-found': { means: 'There is none, or not in the site of the token.', next: 'Do not send it again.' },
  'method-not-allowed': { means: 'The address does not take this method.', next: 'Use one of `Allow`.' },
  'not-acceptable': { means: 'What `Accept` or `_format` wants cannot be served.', next: 'Ask for JSON.' },
  timeout: { means: 'The body did not arrive within 30 s.', next: 'Send it again, faster.' },
  conflict: { means: 'Others changed the same at that moment.', next: 'Send it again.' },
  'precondition-failed': {
    means: 'A condition does not hold: another version, or several resources match.',
    next: 'Read what is there, and decide anew.',
  },
  'too-large': { means: 'The body is too large.', next: 'Send less, or several.' },
  'unsupported-media-type': {
    means: 'The Content-Type, or its charset or encoding, is not taken.',
    next: 'Change it.',
  },
  throttled: { means: 'Too many requests.', next: 'Wait as long as `Retry-After` says, in seconds.' },
  unavailable: {
    means: 'A part of the gateway cannot be reached; nothing was stored.',
    next: 'Send it again after `Retry-After` seconds.',
  },
  bug: { means: 'A fault of the gateway; nothing was stored.', next: 'Report the `X-Request-Id`.' },
};

const HEADERS: Readonly<Partial<Record<Kind, readonly HeaderName[]>>> = {
  // Of a token that is sent in two ways at once.
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

/** How each surface says what went wrong. */
export const BODIES = {
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
        description: `${MEANING[kind].means} ${MEANING[kind].next}`,
        headers: headersOf('X-Request-Id', ...(HEADERS[kind] ?? [])),
        content: { [mediaType]: { schema } },
      },
    ]),
  );
}

/** Of an operation: its failures by status, as references. */
export function failuresOf(format: Format, kinds: readonly Kind[]): Readonly<Record<string, ResponseObject>> {
  const sorted = [...new Set(kinds)].toSorted((a, b) => STATUS_OF[a] - STATUS_OF[b]);
  return Object.fromEntries(
    sorted.map((kind) => [STATUS_OF[kind], { $ref: `#/components/responses/${nameOf(format, kind)}` }]),
  );
}

/** What may become of any request, and of one with a token or a body. */
export const ALWAYS: readonly Kind[] = ['malformed', 'throttled', 'unavailable', 'bug'];
export const WITH_TOKEN: readonly Kind[] = ['unauthenticated', 'forbidden'];
export const WITH_BODY: readonly Kind[] = ['timeout', 'too-large', 'unsupported-media-type'];
