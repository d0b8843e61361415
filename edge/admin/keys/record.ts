/**
 * The API key as one table of members. What a member may be, where it is kept, how it is shown, set and told stands here
 * and nowhere else; rules that need several members, the JWKS or the database stand in rules.ts.
 */
import { z } from 'zod';

import { CHARSETS } from '../../../shared/hl7/charset.ts';
import { type Json, printJson } from '../../../shared/json.ts';
import { AUDIENCES, PROTOCOLS } from '../../../shared/oauth/audience.ts';
import { USABLE_KEYS } from '../../../shared/oauth/jwks.ts';
import { SCOPES } from '../../../shared/oauth/scope.ts';
import { columnsOf, member, type Members, type RecordOf } from '../record/member.ts';
import {
  charset,
  choices,
  list,
  name,
  optionalText,
  PROCESSING_IDS,
  processingIds,
  timeZone,
} from '../record/schemas.ts';
import { checkIpRange } from './ip-range.ts';

const MIN_TTL_SECONDS = 60;
const MAX_TTL_SECONDS = 3600;
/** MSH-3 and MSH-4 are HD, 227 characters (HL7 v2.5.1 §2.15.9.3). */
const MAX_SENDER_CHARACTERS = 227;

/** What a new key may use when it names no protocol. */
export const DEFAULT_PROTOCOLS = ['fhir'];

const text = z.string();
const texts = z.array(text);

/** The parts of the form, in its order. */
export const KEY_SECTIONS = [
  { name: 'name' },
  {
    name: 'keys',
    title: 'Public keys',
    lead: "Either the address of the client's JWKS, or the JWKS itself. Never a private key.",
  },
  { name: 'grants', title: 'What it may do' },
  { name: 'mllp', title: 'HL7 over MLLP only' },
  {
    name: 'hl7',
    title: 'How its HL7 messages are read',
    lead: 'Leave these empty to use the settings of the site. Set what this sender does otherwise.',
  },
] as const;

/** The inline JWKS as the text that is stored; null for none. */
function jwksText(given: unknown): string | null {
  if (given === null || given === undefined) return null;
  if (typeof given === 'string') return given.trim() === '' ? null : given.trim();
  return printJson(given as Json);
}

/** A stored JWKS as it is answered. What was put into the database by hand and is no JSON is shown as it is. */
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
    hint: 'A label for people, shown in the console only.',
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
    hint: 'A disabled key gets no token, and those it has no longer work.',
  }),
  jwksUri: member({
    column: 'jwks_uri',
    schema: z
      .string({ error: 'must be a text, or null' })
      .trim()
      .transform((given) => (given === '' ? null : given))
      .nullable(),
    initial: null,
    answer: text.nullable(),
    label: 'JWKS URI',
    hint: 'Either this or the JWKS itself: https, at a public host of the client; best when keys are rotated.',
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
    hint: `Either this or the JWKS URI: the JSON document with its "keys" array (${USABLE_KEYS}).`,
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
    hint: `How long an access token lives: ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}.`,
    section: 'grants',
    input: { kind: 'number', min: MIN_TTL_SECONDS, max: MAX_TTL_SECONDS },
    suggested: 300,
    flag: { name: 'ttl', value: 'SECONDS' },
  }),
  allowedScopes: member({
    column: 'allowed_scopes',
    schema: choices('a scope', SCOPES),
    initial: [],
    answer: texts,
    label: 'Allowed scopes',
    hint: 'Only these can appear on a token; without any, no token is issued. HL7 over HTTP needs write on Patient, Observation and DocumentReference.',
    none: 'none: no token is issued',
    section: 'grants',
    input: { kind: 'scopes' },
    flag: { name: 'scopes', value: 'LIST' },
  }),
  allowedAudiences: member({
    column: 'allowed_audiences',
    schema: choices('an audience', AUDIENCES),
    initial: [],
    answer: texts,
    label: 'Allowed audiences',
    hint: 'What a token may be issued for. The first is used when a request names none; none chosen: whatever the protocols allow.',
    none: 'what the protocols allow',
    section: 'grants',
    input: { kind: 'choices', values: AUDIENCES },
    flag: { name: 'audiences', value: 'LIST' },
  }),
  protocols: member({
    column: 'protocols',
    schema: choices('a protocol', PROTOCOLS),
    initial: DEFAULT_PROTOCOLS,
    answer: texts,
    label: 'Protocols',
    hint: 'What the key may use: the FHIR API, HL7 over HTTP, HL7 over MLLP.',
    section: 'grants',
    input: { kind: 'choices', values: PROTOCOLS },
    flag: { name: 'protocols', value: 'LIST' },
  }),
  allowedIps: member({
    column: 'allowed_ips',
    schema: list(checkIpRange),
    initial: [],
    answer: texts,
    label: 'Allowed IPs',
    hint: 'Addresses or CIDR ranges with commas between, or * for any; needed for hl7-mllp.',
    section: 'mllp',
    input: { kind: 'list' },
    flag: { name: 'allowed-ips', value: 'LIST' },
  }),
  hl7SenderApplication: member({
    column: 'hl7_sender_application',
    schema: optionalText(MAX_SENDER_CHARACTERS),
    initial: null,
    answer: text.nullable(),
    label: 'HL7 sender application',
    hint: 'If set, MSH-3 of MLLP messages must be exactly this.',
    section: 'mllp',
    input: { kind: 'text' },
    flag: { name: 'sender-application', value: 'MSH-3' },
  }),
  hl7SenderFacility: member({
    column: 'hl7_sender_facility',
    schema: optionalText(MAX_SENDER_CHARACTERS),
    initial: null,
    answer: text.nullable(),
    label: 'HL7 sender facility',
    hint: 'If set, MSH-4 of MLLP messages must be exactly this.',
    section: 'mllp',
    input: { kind: 'text' },
    flag: { name: 'sender-facility', value: 'MSH-4' },
  }),
  hl7TimeZone: member({
    column: 'hl7_time_zone',
    schema: timeZone,
    initial: null,
    answer: text.nullable(),
    label: 'HL7 time zone',
    hint: 'The zone of the clock that writes times without an offset (20261121083000), by its IANA name, such as Europe/Berlin.',
    none: "the site's",
    section: 'hl7',
    input: { kind: 'text' },
    flag: { name: 'hl7-time-zone', value: 'ZONE' },
  }),
  hl7DefaultCharset: member({
    column: 'hl7_default_charset',
    schema: charset,
    initial: null,
    answer: text.nullable(),
    label: 'HL7 character set',
    hint: 'How the bytes of a message are read whose MSH-18 is empty. If the ä or é of a name comes out wrong, set what this sender really writes.',
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
    hint: 'Which MSH-11 is taken: P production, T training, D debugging. A message with another is rejected (AR). None chosen: those of the site.',
    none: "the site's",
    section: 'hl7',
    input: { kind: 'choices', values: PROCESSING_IDS },
    flag: { name: 'hl7-processing-ids', value: 'LIST' },
  }),
} as const satisfies Members;

/** The members that an administrator sets, by their columns' names. */
export type KeyRecord = RecordOf<typeof KEY_MEMBERS>;
export const KEY_COLUMNS = columnsOf(KEY_MEMBERS);
