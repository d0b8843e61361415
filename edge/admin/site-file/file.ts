/**
 * The file of a site: settings, source addresses, API keys and subscriptions by the members of their forms, live rules and live
 * code tables. It never has a secret: API keys have public keys only. An export leaves the webhook out, because chat services put a secret in its address.
 */
import * as z from 'zod';

import { isJsonObject, type Json } from '../../../shared/json.ts';
import { publicMembersOf } from '../../../shared/oauth/jwks.ts';
import { KEY_MEMBERS } from '../../members/api-key.ts';
import { recordChange } from '../../members/member.ts';
import { isUnredacted } from '../../members/redact.ts';
import { textOf } from '../../members/input.ts';
import { senderRules } from '../../members/sender-rules.ts';
import { MAX_TABLES } from '../../store/admin-code-table.ts';
import { newTable } from '../code-tables/tables.ts';
import { SITE_MEMBERS } from '../settings/record.ts';
import { fileSubscription } from './match-subscriptions.ts';

export const FORMAT = 1;
/** Also of a site: a larger one is administered by its forms and by `/admin/api/api-keys`. */
export const MAX_KEYS = 2000;
const MAX_ADDRESSES = 1000;
export const MAX_FILE_SUBSCRIPTIONS = 2000;
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

const address = z.strictObject({
  range: z.string({ error: 'is required: an address, a CIDR range or *' }),
  senderApplication: z.string().optional(),
  senderFacility: z.string().optional(),
  tlsSubject: z.string().optional(),
});

/** A code table, by its name. */
const codeTable = z.strictObject({
  name: newTable.shape.name,
  csv: z.string({ error: 'must be a text, or null to switch the table off' }).nullable().optional(),
});

/** The schema of a file without the members of its records, each of which is checked separately. */
export const siteFile = z.strictObject({
  format: z.literal(FORMAT, { error: `must be ${FORMAT}, the format of this gateway` }),
  site: z.uuid({ error: 'must be the id of the site' }).optional(),
  settings: z.record(z.string(), z.unknown(), { error: 'must be an object with settings' }).optional(),
  addresses: z.array(address).max(MAX_ADDRESSES, `at most ${MAX_ADDRESSES} addresses`).optional(),
  apiKeys: z
    .array(z.looseObject({ clientId: z.string().optional(), name: z.string({ error: 'is required' }).optional() }), {
      error: 'must be a list of API keys',
    })
    .max(MAX_KEYS, `at most ${MAX_KEYS} API keys`)
    .optional(),
  subscriptions: z
    .array(z.record(z.string(), z.unknown()), { error: 'must be a list of subscriptions' })
    .max(MAX_FILE_SUBSCRIPTIONS, `at most ${MAX_FILE_SUBSCRIPTIONS} subscriptions`)
    .optional(),
  codeTables: z
    .array(codeTable, { error: 'must be a list of code tables' })
    .max(MAX_TABLES, `at most ${MAX_TABLES} code tables`)
    .optional(),
});
export type SiteFile = z.infer<typeof siteFile>;

/** The complete schema, for editors and the API reference. */
export const documentedFile = siteFile.extend({
  site: z.uuid().optional().meta({ description: 'The id of the site. A file of another site is rejected.' }),
  settings: recordChange(SITE_MEMBERS).optional().meta({
    description:
      'Settings that are left out stay. Entries of assigningAuthorities and codeSystems that are left out stay too.',
  }),
  addresses: z
    .array(address)
    .max(MAX_ADDRESSES)
    .optional()
    .meta({ description: 'Source addresses of MLLP. Only the operator (npm run admin) can add them.' }),
  apiKeys: z
    .array(
      recordChange(KEY_MEMBERS).extend({
        clientId: z
          .string()
          .optional()
          .meta({ description: 'Finds the API key, also to rename it. Without it, the name finds it.' }),
        rules: senderRules.optional().meta({
          description:
            'The live rules for its messages, in the order in which they are applied. Rules that are left out stay.',
        }),
      }),
    )
    .max(MAX_KEYS)
    .optional()
    .meta({ description: 'API keys that are left out stay. Members that are left out stay too.' }),
  subscriptions: z.array(fileSubscription.partial()).max(MAX_FILE_SUBSCRIPTIONS).optional().meta({
    description:
      'API key, type, filter and address find a subscription. Subscriptions and members that are left out stay.',
  }),
  codeTables: z
    .array(
      codeTable.extend({
        csv: codeTable.shape.csv.meta({
          description:
            'The rows of the live version, each in a line. Null: no version is live. Left out: the rows stay.',
        }),
        csvFile: z.string().optional().meta({
          description: 'Instead of csv: the name of a file beside this one, which npm run admin reads.',
        }),
      }),
    )
    .max(MAX_TABLES)
    .optional()
    .meta({ description: 'The name finds a code table. Code tables that are left out stay.' }),
});

/** The JSON Schema of a file. */
export const fileSchema = (): z.core.JSONSchema.JSONSchema =>
  z.toJSONSchema(documentedFile, { io: 'input', unrepresentable: 'any' });

/** Settings whose value may be a secret: never exported, and shown without their path. */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set(['alertWebhook']);

const LABELS = ['kid', 'use', 'alg', 'key_ops'] as const;

/** The public members and the labels of each key. */
function publicJwks(jwks: unknown): unknown {
  const { data } = z.object({ keys: z.array(z.custom<Json>()) }).safeParse(jwks);
  if (data === undefined) return null;
  const keys = data.keys.flatMap((jwk) => {
    if (!isJsonObject(jwk)) return [];
    const labels = LABELS.flatMap((name) => (jwk[name] === undefined ? [] : [[name, jwk[name]] as const]));
    return [{ ...publicMembersOf(jwk), ...Object.fromEntries(labels) }];
  });
  return { keys };
}

function exportedMember(name: string, value: unknown): unknown {
  if (name === 'jwks') return value === null ? null : publicJwks(value);
  return typeof value !== 'string' || isUnredacted(name, textOf(value)) ? value : null;
}

/** The answered members of a record as a file has them. */
export const exportedMembers = (members: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members)
      .filter(([name]) => !SECRET_SETTINGS.has(name))
      .map(([name, value]) => [name, exportedMember(name, value)]),
  );
