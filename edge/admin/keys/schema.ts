/**
 * The API key record as administrators send it (spec.md, "API key record"): what each member may be. Rules that need
 * several members, the JWKS or the database stand in key-rules.ts.
 */
import { z } from 'zod';

import { AUDIENCES, PROTOCOLS } from '../../../shared/oauth/audience.ts';
import { SCOPES } from '../../../shared/oauth/scope.ts';
import { checkIpRange } from './ip-range.ts';

export const MIN_TTL_SECONDS = 60;
export const MAX_TTL_SECONDS = 3600;
const MAX_NAME_CHARACTERS = 200;
const MAX_LIST_ITEMS = 200;
/** MSH-3 and MSH-4 are HD, 227 characters (HL7 v2.5.1 §2.15.9.3). */
const MAX_SENDER_CHARACTERS = 227;
// oxlint-disable-next-line no-control-regex
const NO_CONTROLS = /^[^\u0000-\u001f\u007f]*$/;

/** A list, or one text with commas, each item once and without white space around it. */
const list = (checkItem: (item: string) => string | undefined) =>
  z
    .union([z.array(z.string()), z.string()], { error: 'must be a list of texts, or one text with commas' })
    .transform((given, context) => {
      const texts = typeof given === 'string' ? given.split(',') : given;
      const items = [...new Set(texts.map((text) => text.trim()).filter((text) => text !== ''))];
      if (items.length > MAX_LIST_ITEMS) context.addIssue({ code: 'custom', message: `at most ${MAX_LIST_ITEMS}` });
      for (const item of items) {
        const message = checkItem(item);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      }
      return items;
    });

const choice = (what: string, known: readonly string[]) => (item: string) =>
  known.includes(item) ? undefined : `${JSON.stringify(item)} is not ${what}: choose from ${known.join(', ')}`;

const choices = (what: string, known: readonly string[], description: string) =>
  list(choice(what, known)).meta({ description: `${description} One or more of ${known.join(', ')}.` });

const sender = (field: string) =>
  z
    .string({ error: 'must be a text, or null' })
    .max(MAX_SENDER_CHARACTERS, `at most ${MAX_SENDER_CHARACTERS} characters`)
    .regex(NO_CONTROLS, 'must not have control characters')
    .transform((text) => (text.trim() === '' ? null : text.trim()))
    .nullable()
    .meta({ description: `If set, ${field} of MLLP messages must match.` });

export const keyMembers = {
  name: z
    .string({ error: 'is required: a label for people' })
    .trim()
    .min(1, 'is required: a label for people')
    .max(MAX_NAME_CHARACTERS, `at most ${MAX_NAME_CHARACTERS} characters`)
    .regex(NO_CONTROLS, 'must not have control characters')
    .meta({ description: 'A label for people, shown in the console only.' }),
  status: z.enum(['active', 'disabled'], { error: 'must be active or disabled' }),
  jwksUri: z
    .string({ error: 'must be a text, or null' })
    .trim()
    .transform((text) => (text === '' ? null : text))
    .nullable()
    .meta({ description: 'HTTPS URL of the JWKS; either this or jwks.' }),
  jwks: z.unknown().meta({
    type: ['object', 'string', 'null'],
    description: 'The JWKS itself, as an object or as its text; either this or jwksUri.',
  }),
  tokenTtlSeconds: z
    .number({ error: `is required: a whole number from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}` })
    .int(`must be a whole number from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}`)
    .min(MIN_TTL_SECONDS, `must be at least ${MIN_TTL_SECONDS}`)
    .max(MAX_TTL_SECONDS, `must be at most ${MAX_TTL_SECONDS}`)
    .meta({ description: 'Lifetime of issued access tokens.' }),
  allowedScopes: choices('a scope', SCOPES, 'Only these can appear on a granted token.'),
  allowedAudiences: choices(
    'an audience',
    AUDIENCES,
    'What tokens may be issued for; empty: whatever the protocols allow.',
  ),
  protocols: choices('a protocol', PROTOCOLS, 'What the key may use.'),
  allowedIps: list(checkIpRange).meta({
    description: 'Addresses, CIDR ranges or *, from which MLLP messages are taken; MLLP only.',
  }),
  hl7SenderApplication: sender('MSH-3'),
  hl7SenderFacility: sender('MSH-4'),
};

/** What creates a key: only what is required must be there. */
export const newKey = z.strictObject({
  ...keyMembers,
  status: keyMembers.status.default('active'),
  jwksUri: keyMembers.jwksUri.default(null),
  jwks: keyMembers.jwks.default(null),
  allowedScopes: keyMembers.allowedScopes.default([]),
  allowedAudiences: keyMembers.allowedAudiences.default([]),
  protocols: keyMembers.protocols.default([]),
  allowedIps: keyMembers.allowedIps.default([]),
  hl7SenderApplication: keyMembers.hl7SenderApplication.default(null),
  hl7SenderFacility: keyMembers.hl7SenderFacility.default(null),
});
export type NewKey = z.infer<typeof newKey>;

/** The two members of which one must be there, from whatever was sent. */
export const jwksMembers = z
  .object({ jwksUri: z.string().trim().nullable().catch(null), jwks: z.unknown() })
  .catch({ jwksUri: null, jwks: null });

/** What changes a key (RFC 7396): the members that change; null takes an optional one away. */
export const keyChange = z.strictObject(keyMembers).partial();
export type KeyChange = z.infer<typeof keyChange>;

const text = z.string();
/** A key as it is answered. */
export const apiKey = z.object({
  clientId: text.meta({ description: '`svc-` and a UUID: the `iss` of assertions.' }),
  name: text,
  status: keyMembers.status,
  jwksUri: text.nullable(),
  jwks: z.looseObject({ keys: z.array(z.looseObject({ kty: text })) }).nullable(),
  tokenTtlSeconds: z.number().int(),
  allowedScopes: z.array(text),
  allowedAudiences: z.array(text),
  protocols: z.array(text),
  allowedIps: z.array(text),
  hl7SenderApplication: text.nullable(),
  hl7SenderFacility: text.nullable(),
  version: z.number().int().meta({ description: 'Also the ETag, in quotes.' }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  lastRefusalAt: z.iso.datetime().nullable(),
});

/** What was found in a JWKS, key by key. */
export const jwksFinding = z.object({
  kid: text.nullable(),
  type: text,
  size: z.number().int().meta({ description: 'Bits; 0 when unknown.' }),
  use: text.nullable(),
  usable: z.boolean(),
  reason: text.nullable().meta({ description: 'Why it is not usable.' }),
});
