/**
 * The members of an API key, one a row: column, schema, texts, form field and command option. HL7 ingest reads
 * the members whose columns begin with `hl7_` (`SenderSettings`). edge/admin/keys/rules.ts has the rules that involve several
 * members, the JWKS or the database.
 */
import * as z from 'zod';

import { CHARSETS } from '../../shared/hl7/charset.ts';
import { type Json, printJson } from '../../shared/json.ts';
import { AUDIENCES, PROTOCOLS } from '../../shared/oauth/audience.ts';
import { USABLE_KEYS } from '../../shared/oauth/jwks.ts';
import { scopesOf } from '../../shared/oauth/scope.ts';
import { ALL_RESOURCE_TYPES } from '../../shared/resource-type.ts';
import { columnsOf, member, type Members, type RecordOf } from './member.ts';
import {
  charset,
  choices,
  list,
  name,
  oneOf,
  optional,
  optionalLines,
  optionalText,
  optionalInteger,
  PROCESSING_IDS,
  processingIds,
  several,
  timeZone,
  truth,
} from './schemas.ts';
import { holdsPrivateKey } from './redact.ts';
import { checkIpRange } from './ip-range.ts';
import { checkSubscriptionHost } from './subscription-host.ts';
import { tlsSubject } from './tls-subject.ts';
import { DAYS } from './watched-hours.ts';

const MIN_TTL_SECONDS = 60;
const MAX_TTL_SECONDS = 3600;
/** MSH-3 and MSH-4 are HD, 227 characters (HL7 v2.5.1 §2.15.9.3). */
const MAX_SENDER_CHARACTERS = 227;

/** The protocols of a new key without any. */
export const DEFAULT_PROTOCOLS = ['fhir'];

const MAX_CONTACT_CHARACTERS = 500;
const MAX_NOTES_CHARACTERS = 4000;

/** A namespace (HD.1), or a URI. */
const MAX_AUTHORITY_CHARACTERS = 1000;

const HOURS = /^(?:[01]\d|2[0-3]):[0-5]\d-(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/;
const hours = optionalText(20)
  .transform((given) => given?.replaceAll(/\s|\u2013/g, (character) => (character === '\u2013' ? '-' : '')) ?? null)
  .refine((given) => given === null || (HOURS.test(given) && given.slice(0, 5) !== given.slice(6)), {
    error: 'must be two times with a dash between them, such as 07:00-18:30, or empty for all day',
  });

/** For a message whose person contradicts the patient record of its identifier. */
const IDENTITY_CHECKS = ['warn', 'refuse-results', 'refuse'] as const;
/** For a message of a type that the gateway does not map. */
const UNSUPPORTED_TYPES = ['refuse', 'keep'] as const;

const text = z.string();
const texts = z.array(text);

/** The sections of the form, in its order. */
export const KEY_SECTIONS = [
  { name: 'name' },
  {
    name: 'keys',
    title: 'Public keys',
    lead:
      "Give the address of the client's JWKS, or its public keys; never a private key. A key for MLLP only needs them too, " +
      'so that it can get more rights later.',
  },
  { name: 'grants', title: 'Its rights' },
  { name: 'mllp', title: 'HL7 over MLLP only' },
  {
    name: 'hl7',
    title: 'How its HL7 messages are read',
    lead: 'Empty fields use the settings of the site. Set only what is different for this sender.',
  },
  {
    name: 'judged',
    title: 'How its HL7 messages are checked',
    lead: 'Identification of patients, rejected messages, and acknowledgements. The defaults are safe for most senders.',
  },
  {
    name: 'silence',
    title: 'When its silence is an alert',
    lead: 'For senders that send regularly. Hours and days are in the time zone of the site.',
  },
  {
    name: 'people',
    title: 'For people',
    lead: 'Tokens contain none of this.',
  },
] as const;

const PASTED_KEY = { error: 'must not have a private key: it is now compromised, make a new key pair' };
const holdsNoKey = (given: string | null): boolean => given === null || !holdsPrivateKey(given);

/** The inline JWKS as stored text; null for none. */
function jwksText(given: unknown): string | null {
  if (given === null || given === undefined) return null;
  if (typeof given === 'string') return given.trim() === '' ? null : given.trim();
  return printJson(given as Json);
}

/** A stored JWKS as it is answered; a text that is not JSON, which only a person can have stored, unchanged. */
function parsedJwks(stored: unknown): unknown {
  if (typeof stored !== 'string') return stored;
  try {
    return JSON.parse(stored);
  } catch {
    return stored;
  }
}

export const KEY_MEMBERS = {
  name: member({
    column: 'name',
    schema: name,
    answer: text,
    label: 'Name',
    hint: 'A label that only the console shows.',
    section: 'name',
    input: { kind: 'text', required: true },
    flag: { name: 'name', value: 'NAME' },
  }),
  status: member({
    column: 'status',
    schema: z.enum(['active', 'disabled'], { error: 'must be active or disabled' }),
    initial: 'active',
    answer: z.enum(['active', 'disabled']),
    label: 'Status',
    hint: 'A disabled key gets no tokens, and its current tokens are rejected.',
  }),
  jwksUri: member({
    column: 'jwks_uri',
    ...optional(
      z
        .string({ error: 'must be a text, or null' })
        .trim()
        .transform((given) => (given === '' ? null : given))
        .nullable(),
    ),
    label: 'JWKS URI',
    hint: 'Either this or the inline JWKS: an https address at a public host of the client. Best for key rotation.',
    section: 'keys',
    input: { kind: 'text', type: 'url', mono: true },
    flag: { name: 'jwks-uri', value: 'URL' },
  }),
  jwks: member({
    column: 'jwks',
    schema: z
      .unknown()
      .meta({ type: ['object', 'string', 'null'] })
      .transform(jwksText),
    initial: null,
    answer: z.looseObject({ keys: z.array(z.looseObject({ kty: text })) }).nullable(),
    view: parsedJwks,
    label: 'Inline JWKS',
    hint: `Either this or the JWKS URI: a JWKS, a JWK, or a public key or certificate in PEM (${USABLE_KEYS}). It is stored as a JWKS.`,
    section: 'keys',
    input: {
      kind: 'lines',
      rows: 8,
      print: (jwks) => (typeof jwks === 'string' ? jwks : JSON.stringify(jwks, null, 2)),
    },
    flag: { name: 'jwks', value: 'FILE', from: 'file' },
  }),
  tokenTtlSeconds: member({
    column: 'token_ttl_seconds',
    schema: z
      .number({ error: `is required: a whole number from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}` })
      .int(`must be a whole number from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}`)
      .min(MIN_TTL_SECONDS, `must be at least ${MIN_TTL_SECONDS}`)
      .max(MAX_TTL_SECONDS, `must be at most ${MAX_TTL_SECONDS}`),
    answer: z.number().int(),
    label: 'Token TTL (seconds)',
    hint: `Lifetime of an access token: ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}.`,
    section: 'grants',
    input: { kind: 'number', min: MIN_TTL_SECONDS, max: MAX_TTL_SECONDS },
    suggested: 300,
    flag: { name: 'ttl', value: 'SECONDS' },
  }),
  allowedScopes: member({
    column: 'allowed_scopes',
    ...several(choices('a scope', scopesOf(ALL_RESOURCE_TYPES))),
    label: 'Allowed scopes',
    hint: 'A token can have only these scopes. Without any, no token is issued. HL7 over HTTP needs write on Patient, Observation and DocumentReference.',
    none: 'none: no token is issued',
    section: 'grants',
    input: { kind: 'scopes' },
    flag: { name: 'scopes', value: 'LIST' },
  }),
  allowedAudiences: member({
    column: 'allowed_audiences',
    ...several(choices('an audience', AUDIENCES)),
    label: 'Allowed audiences',
    hint: 'The audiences of tokens. The first applies to requests without an audience. None chosen: all that the protocols allow.',
    none: 'all that the protocols allow',
    section: 'grants',
    input: { kind: 'choices', values: AUDIENCES },
    flag: { name: 'audiences', value: 'LIST' },
  }),
  patientMatch: member({
    column: 'patient_match',
    ...truth(false),
    label: 'Patient/$match',
    hint:
      'The client may ask which patients a person may be (POST Patient/$match, with the scope system/Patient.read). The ' +
      'gateway compares by the same rules as for HL7 messages. Switch it on only for a client that registers patients.',
    section: 'grants',
    input: { kind: 'switch', yes: 'the client may match patients' },
    flag: { name: 'patient-match', value: 'yes|no' },
  }),
  subscriptionHosts: member({
    column: 'subscription_hosts',
    ...several(list(checkSubscriptionHost)),
    label: 'Subscription hosts',
    hint: 'The hosts to which the gateway may post notifications of the client’s subscriptions, separated by commas. Empty: the client may not subscribe.',
    none: 'the client may not subscribe',
    section: 'grants',
    flag: { name: 'subscription-hosts', value: 'LIST' },
  }),
  protocols: member({
    column: 'protocols',
    schema: choices('a protocol', PROTOCOLS),
    initial: DEFAULT_PROTOCOLS,
    answer: texts,
    label: 'Protocols',
    hint: 'The FHIR API (fhir), HL7 over HTTP (hl7), HL7 over MLLP (hl7-mllp).',
    section: 'grants',
    input: { kind: 'choices', values: PROTOCOLS },
    flag: { name: 'protocols', value: 'LIST' },
  }),
  allowedIps: member({
    column: 'allowed_ips',
    ...several(list(checkIpRange)),
    label: 'Allowed IPs',
    hint: 'Addresses or CIDR ranges, separated by commas, among those that the operator assigned to the site; * for all of them. Required for hl7-mllp.',
    section: 'mllp',
    flag: { name: 'allowed-ips', value: 'LIST' },
  }),
  hl7SenderApplication: member({
    column: 'hl7_sender_application',
    ...optional(optionalText(MAX_SENDER_CHARACTERS)),
    label: 'HL7 sender application',
    hint: 'If set, the first component of MSH-3 of MLLP messages must be equal to it.',
    section: 'mllp',
    flag: { name: 'sender-application', value: 'MSH-3' },
  }),
  hl7SenderFacility: member({
    column: 'hl7_sender_facility',
    ...optional(optionalText(MAX_SENDER_CHARACTERS)),
    label: 'HL7 sender facility',
    hint: 'If set, the first component of MSH-4 of MLLP messages must be equal to it.',
    section: 'mllp',
    flag: { name: 'sender-facility', value: 'MSH-4' },
  }),
  tlsSubject: member({
    column: 'tls_subject',
    ...optional(tlsSubject),
    label: 'TLS subject',
    hint:
      'If set, the sender needs a client certificate with this subject (C=DE, O=Hospital, CN=lab), as ' +
      '`openssl x509 -noout -subject` prints it. The order counts.',
    section: 'mllp',
    input: { kind: 'text', mono: true },
    flag: { name: 'tls-subject', value: 'SUBJECT' },
  }),
  hl7TimeZone: member({
    column: 'hl7_time_zone',
    ...optional(timeZone),
    label: 'HL7 time zone',
    hint: 'The time zone of times without an offset (20261121083000): an IANA name, such as Europe/Berlin.',
    none: "the site's",
    section: 'hl7',
    flag: { name: 'hl7-time-zone', value: 'ZONE' },
  }),
  hl7DefaultCharset: member({
    column: 'hl7_default_charset',
    ...optional(charset),
    label: 'HL7 character set',
    hint: 'The character set of messages with an empty MSH-18. If ä or é in names is wrong, set the character set of this sender.',
    none: "the site's",
    section: 'hl7',
    input: { kind: 'select', values: CHARSETS, none: "the site's" },
    flag: { name: 'hl7-charset', value: 'NAME' },
  }),
  hl7ProcessingIds: member({
    column: 'hl7_processing_ids',
    schema: processingIds.nullable().transform((ids) => (ids === null || ids.length === 0 ? null : ids)),
    initial: null,
    answer: texts.nullable(),
    label: 'HL7 processing ids',
    hint: 'The accepted values of MSH-11: P production, T training, D debugging. Other messages are rejected (AR). None chosen: those of the site.',
    none: "the site's",
    section: 'hl7',
    input: { kind: 'choices', values: PROCESSING_IDS },
    flag: { name: 'hl7-processing-ids', value: 'LIST' },
  }),
  silentAfterMinutes: member({
    column: 'silent_after_minutes',
    ...optionalInteger(5, 10_080),
    label: 'Silent after (minutes)',
    hint:
      'An alert fires when this key has sent no HL7 message for so many minutes, counted within the hours below. Choose ' +
      'about three times the longest usual pause. The next message resolves the alert.',
    none: 'never',
    section: 'silence',
    flag: { name: 'silent-after', value: 'MINUTES' },
  }),
  silentHours: member({
    column: 'silent_hours',
    ...optional(hours),
    label: 'Silence counts between',
    hint: 'The hours in which messages are expected, such as 07:00-18:30; 22:00-06:00 ends on the next day.',
    none: 'all day',
    section: 'silence',
    flag: { name: 'silent-hours', value: 'FROM-TO' },
  }),
  silentDays: member({
    column: 'silent_days',
    ...several(choices('a day', DAYS)),
    label: 'Silence counts on',
    hint: 'The days on which these hours begin. None chosen: every day.',
    none: 'every day',
    section: 'silence',
    input: { kind: 'choices', values: DAYS },
    flag: { name: 'silent-days', value: 'LIST' },
  }),
  hl7DefaultAuthority: member({
    column: 'hl7_default_authority',
    ...optional(
      optionalText(MAX_AUTHORITY_CHARACTERS).refine((given) => given === null || !/[\^&]/.test(given), {
        error: ({ input }) =>
          `${JSON.stringify(input)} has components: give only the namespace (HOSP) or only the URI (urn:oid:…)`,
      }),
    ),
    label: 'HL7 default authority',
    hint:
      'The assigning authority of patient identifiers without one (PID-3.4 and PID-3.6 empty): the namespace, as other ' +
      'messages of the hospital have it, or its URI. Without it the authority is the sending facility (MSH-4). Set it if ' +
      'other senders send the same identifiers with their authority, so that all find the same patient.',
    none: 'the sending facility (MSH-4)',
    section: 'judged',
    flag: { name: 'hl7-default-authority', value: 'NAME' },
  }),
  hl7IdentityCheck: member({
    column: 'hl7_identity_check',
    ...oneOf(IDENTITY_CHECKS, 'refuse-results'),
    label: 'HL7 identity check',
    hint:
      'For a message whose identifier finds the patient record of another person. The person differs if family name and birth ' +
      'date differ, or the birth date is of another generation. So do three differences among family name, first given name, ' +
      'birth date and sex. With warn, the message is applied with a warning (W 205 patient-differs). With refuse-results, results and ' +
      'documents are an error (AE 205). An ADT is applied with the warning, because it corrects names and dates, except for a ' +
      'newborn with the identifier of the mother. With refuse, an ADT is an error too. Two differences only cause the warning with each choice.',
    section: 'judged',
    input: {
      kind: 'one',
      options: [
        { value: 'warn', label: 'warn: apply all messages with a warning' },
        { value: 'refuse-results', label: 'refuse-results: results and documents are an error' },
        { value: 'refuse', label: 'refuse: every message is an error' },
      ],
    },
    flag: { name: 'hl7-identity-check', value: 'warn|refuse-results|refuse' },
  }),
  hl7Strict: member({
    column: 'hl7_strict',
    ...truth(false),
    label: 'HL7 strict',
    hint:
      'Without strict, a harmless field that is not valid (a birth date of 00000000, an unknown code) is skipped with a ' +
      'warning. It then does not block the feed. With strict it is an error (AE), and nothing is stored: for testing a ' +
      'new interface.',
    section: 'judged',
    input: { kind: 'switch', yes: 'a field that is not valid is an error' },
    flag: { name: 'hl7-strict', value: 'yes|no' },
  }),
  hl7UnsupportedTypes: member({
    column: 'hl7_unsupported_types',
    ...oneOf(UNSUPPORTED_TYPES, 'refuse'),
    label: 'HL7 types that are not supported',
    hint:
      'For messages of types without FHIR resources (SIU, DFT, VXU, RDE …). With refuse, they are rejected (AR 200). ' +
      'With keep, they are stored and accepted (AA with I 200), for a sender that stops at a rejection and must send them.',
    section: 'judged',
    input: {
      kind: 'one',
      options: [
        { value: 'refuse', label: 'refuse: rejected (AR)' },
        { value: 'keep', label: 'keep: stored and accepted (AA)' },
      ],
    },
    flag: { name: 'hl7-unsupported-types', value: 'refuse|keep' },
  }),
  hl7AcceptAck: member({
    column: 'hl7_accept_ack',
    ...truth(false),
    label: 'HL7 accept acknowledgement',
    hint:
      'For MLLP senders in enhanced mode that request both acknowledgements (MSH-15 and MSH-16) and read two. Most senders ' +
      'read one, and would take the second for the answer to their next message: leave it off for them.',
    section: 'judged',
    input: {
      kind: 'switch',
      yes: 'send the accept acknowledgement (CA, CE, CR) in a frame before the application acknowledgement',
    },
    flag: { name: 'hl7-accept-ack', value: 'yes|no' },
  }),
  hl7Information: member({
    column: 'hl7_information',
    ...truth(true),
    label: 'HL7 information (ERR-4 I)',
    hint:
      'Acknowledgements contain information that needs no action, such as segments without FHIR resources (ERR of severity ' +
      'I). Switch it off for a sender that reads any ERR as a failure. Errors and warnings are still sent, and the console ' +
      'shows all of them.',
    section: 'judged',
    input: { kind: 'switch', yes: 'send information (ERR with severity I)' },
    flag: { name: 'hl7-information', value: 'yes|no' },
  }),
  contact: member({
    column: 'contact',
    ...optional(optionalText(MAX_CONTACT_CHARACTERS).refine(holdsNoKey, PASTED_KEY)),
    label: 'Contact',
    hint: 'The contact for this integration: a name, a telephone number, an address. The page for the integrator shows it too.',
    section: 'people',
    flag: { name: 'contact', value: 'TEXT' },
  }),
  notes: member({
    column: 'notes',
    ...optional(optionalLines(MAX_NOTES_CHARACTERS).refine(holdsNoKey, PASTED_KEY)),
    label: 'Notes',
    hint: 'Only the console shows them. Do not enter patient data.',
    section: 'people',
    input: { kind: 'lines', rows: 3, print: (given) => (typeof given === 'string' ? given : '') },
    flag: { name: 'notes', value: 'TEXT' },
  }),
} as const satisfies Members;

export type KeyRecord = RecordOf<typeof KEY_MEMBERS>;
export const KEY_COLUMNS = columnsOf(KEY_MEMBERS);

/** The members that say how messages of the key are read, as `hl7_sender` returns them. */
export type Hl7KeyRecord = Pick<KeyRecord, Extract<keyof KeyRecord, `hl7_${string}`>>;
