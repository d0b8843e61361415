/**
 * Parses the gateway's environment once. All problems are listed together. A surface without a base URL is "not
 * configured", which is not an error (edge/docs/behaviour.md, Addresses and configuration).
 */
import * as z from 'zod';

import {
  addressRanges,
  baseUrl,
  ConfigError,
  givenVariables,
  jsonText,
  misspeltOf,
  problemsOf,
} from '../shared/environment.ts';
import { es256PrivateJwk } from '../shared/es256-jwk.ts';
import { isLoopbackHost, parseRange } from '../shared/ip.ts';
import { MAX_HL7_MESSAGE_BYTES } from '../shared/mllp-contract.ts';
import { findingText } from '../shared/finding-text.ts';
import { POSTGRES_URL } from '../shared/postgres-url.ts';
import { ALL_PERMISSIONS, type GroupGrant } from './permissions.ts';

/** The six names that the console shows, with the spelling of deployments (edge/docs/behaviour.md, Addresses and configuration). */
export const ENDPOINT_NAMES = [
  'INTEGRATION_OAUTH_PUBLIC_BASE_URL',
  'INTEGRATION_FHIR_PUBLIC_BASE_URL',
  'INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL',
  'INTEGRATION_HL7_MTTP_DOMAIN',
  'INTEGRATION_HL7_MTTP_PORT',
  'INTEGRATION_DOCS_URL',
] as const;
export type EndpointName = (typeof ENDPOINT_NAMES)[number];

/** A private JWKS for access tokens: the first key signs, all are published. */
export const signingRing = z.object({ keys: z.array(es256PrivateJwk).min(1) });
export type SigningRing = z.infer<typeof signingRing>;

const publicJwk = z.looseObject({ kty: z.string(), kid: z.string().min(1) });

const siteId = z.uuid().toLowerCase();

/** The public key of an MLLP sidecar. */
export const sidecarKey = publicJwk.extend({
  /** The addresses of the senders that the sidecar may forward for; absent means all. */
  ranges: z
    .array(z.string().refine((text) => parseRange(text) !== undefined, 'must be IP addresses or CIDR ranges'))
    .min(1)
    .optional(),
  /** The sites that the sidecar may forward for; absent means all. */
  sites: z.array(siteId).min(1).optional(),
});
export type SidecarKey = z.infer<typeof sidecarKey>;

/** Grants by groups of the staff's provider. `*` includes the permissions of later releases. */
const groupGrants = z
  .record(
    z.string().min(1),
    z
      .strictObject({
        site: z.union([siteId.transform((site) => [site]), z.array(siteId).min(1)]),
        permissions: z.union([
          z.literal('*').transform(() => [...ALL_PERMISSIONS]),
          z.array(z.enum(ALL_PERMISSIONS)).min(1),
        ]),
      })
      .transform(({ site: sites, permissions }): GroupGrant => ({ sites, permissions })),
  )
  .transform((groups): ReadonlyMap<string, GroupGrant> => new Map(Object.entries(groups)));

const ON_DENO = 'Deno only (on Workers in `wrangler.toml`), a minute: ';
const perMinute = (fallback: number) => z.coerce.number().int().positive().default(fallback);
const bytes = (fallback: number) => z.coerce.number().int().min(1024).default(fallback);

/** One row per variable: its rule, and its description for `edge/docs/configuration.md` (npm run generate). */
const ADDRESSES = {
  INTEGRATION_OAUTH_PUBLIC_BASE_URL: baseUrl.optional().describe('Base URL of the token service.'),
  INTEGRATION_FHIR_PUBLIC_BASE_URL: baseUrl.optional().describe('Base URL of the FHIR API, without `/fhir`.'),
  INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: baseUrl.optional().describe('Base URL of HL7 over HTTP, without `/hl7`.'),
  INTEGRATION_HL7_MTTP_DOMAIN: z.string().min(1).optional().describe('Host at which MLLP senders reach the sidecars.'),
  INTEGRATION_HL7_MTTP_PORT: z.coerce
    .number()
    .int()
    .min(1)
    .max(65535)
    .optional()
    .describe('Port at which MLLP senders reach the sidecars.'),
  INTEGRATION_DOCS_URL: baseUrl.optional().describe('Address of the API reference. The gateway serves one at `/docs`.'),
  ADMIN_PUBLIC_BASE_URL: baseUrl.optional().describe('Base URL of the console, without `/admin`.'),
};

const DATABASE = {
  DATABASE_URL: z
    .string()
    .regex(POSTGRES_URL, 'must be a postgres:// connection string')
    .describe("Connection string of the gateway's login. Secret."),
  DATABASE_FETCH_ENDPOINT: baseUrl
    .optional()
    .describe('URL for the queries of the Neon driver, if it is not the address of the connection string.'),
};

const DATABASE_OVER_TCP = {
  DATABASE_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(16)
    .describe('Deno only: the most connections of one process to PostgreSQL.'),
  DATABASE_STATEMENTS: z
    .enum(['prepared', 'unnamed'])
    .default('prepared')
    .describe('Deno only: `unnamed` behind PgBouncer before 1.21 in transaction mode, else `prepared`.'),
};

const PROGRAM = {
  HOST: z.string().min(1).default('127.0.0.1').describe('Deno only: the address to listen on.'),
  PORT: z.coerce.number().int().min(1).max(65535).default(8000).describe('Deno only: the port to listen on.'),
  SHUTDOWN_GRACE_SECONDS: z.coerce
    .number()
    .min(0)
    .default(25)
    .describe('Deno only: how long requests in progress may take after SIGTERM.'),
  SHUTDOWN_DRAIN_SECONDS: z.coerce
    .number()
    .min(0)
    .default(0)
    .describe(
      'Deno only: after SIGTERM, how long requests are still accepted while `/healthz` and `/readyz` answer 503, so that a proxy leaves the process first.',
    ),
  GATEWAY_VERSION: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Deno only: the version in `/readyz` and `gateway_info`, such as a commit, if not that of `package.json`.',
    ),
};

/** One secret, or several during a rotation. */
const secrets = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{43,}(?:,[A-Za-z0-9_-]{43,})*$/,
    'must be at least 32 random bytes, base64url; several with commas',
  )
  .transform((text) => text.split(','));

const SECRETS = {
  TOKEN_SIGNING_KEYS: jsonText
    .pipe(signingRing)
    .describe('Private JWKS of the access tokens: the first key signs, all are published. Secret.'),
  MLLP_SIDECAR_KEYS: jsonText
    .pipe(z.looseObject({ keys: z.array(sidecarKey).min(1) }))
    .optional()
    .describe(
      'Public JWKS of the MLLP sidecars. `ranges` and `sites` of a key limit the senders that it may forward for. Without a JWKS the gateway accepts no sidecar.',
    ),
  GATEWAY_SECRET: secrets.describe(
    'Seals page cursors and console sessions: 32 random bytes, base64url. With several, separated by commas, the first seals and all open. Secret.',
  ),
  METRICS_TOKEN: secrets
    .optional()
    .describe('Bearer token for `/metrics`, made like `GATEWAY_SECRET`. Without it `/metrics` is 404. Secret.'),
};

const STAFF = {
  ADMIN_OIDC_ISSUER: baseUrl.optional().describe("Issuer of the staff's OpenID provider."),
  ADMIN_OIDC_CLIENT_ID: z.string().min(1).optional().describe("The console's client id at the provider."),
  ADMIN_OIDC_CLIENT_SECRET: z.string().min(1).optional().describe("The console's client secret. Secret."),
  ADMIN_OIDC_AUDIENCE: z
    .string()
    .min(1)
    .optional()
    .describe("`aud` of the provider's access tokens for `/admin/api`, if not `{ADMIN_PUBLIC_BASE_URL}/admin/api`."),
  ADMIN_OIDC_SITE_CLAIM: z.string().min(1).default('site').describe("Claim that lists a person's sites."),
  ADMIN_OIDC_PERMISSIONS_CLAIM: z
    .string()
    .min(1)
    .default('permissions')
    .describe("Claim that lists a person's permissions."),
  ADMIN_OIDC_GROUPS_CLAIM: z.string().min(1).default('groups').describe("Claim that lists a person's groups."),
  ADMIN_OIDC_GROUPS: jsonText
    .pipe(groupGrants)
    .optional()
    .describe(
      'Sites and permissions of each group, as JSON: `{ "group": { "site": id or list, "permissions": list or "*" } }`.',
    ),
  // A Worker may continue for 30 s after its answer.
  ADMIN_REFUSALS_SECONDS: z.coerce
    .number()
    .positive()
    .max(25)
    .default(5)
    .describe('How long rejected and failed requests are collected before one statement writes them.'),
  ADMIN_OIDC_SCOPE: z
    .string()
    .regex(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, 'must be scopes with one space between')
    .refine((scope) => scope.split(' ').includes('openid'), 'must contain openid')
    .default('openid profile')
    .describe('Scopes of a sign-in. Some providers give a refresh token only for `offline_access`.'),
};

const LIMITS = {
  FHIR_MAX_BODY_BYTES: bytes(2 * 1024 * 1024).describe('Largest body of a FHIR request, in bytes.'),
  HL7_MAX_MESSAGE_BYTES: bytes(MAX_HL7_MESSAGE_BYTES).describe(
    'Largest HL7 message, in bytes. Set `MLLP_MAX_FRAME_BYTES` of the sidecar to the same value.',
  ),
  HL7_MAX_TEXT_BYTES: bytes(1024 * 1024).describe(
    'Largest HL7 message without its documents (base64 in OBX-5 of type ED), in bytes.',
  ),
  MAX_HELD_BYTES: bytes(64 * 1024 * 1024).describe(
    'Memory that large requests and answers of an isolate or process need at once, in bytes. Further ones wait 10 s, then they are 503.',
  ),
  RATE_LIMIT_TOKEN_PER_CLIENT: perMinute(60).describe(`${ON_DENO}token requests of one client.`),
  RATE_LIMIT_TOKEN_PER_ADDRESS: perMinute(300).describe(`${ON_DENO}token requests of one address.`),
  RATE_LIMIT_ADMIN_PER_ADDRESS: perMinute(600).describe(`${ON_DENO}requests of one address to the console.`),
  RATE_LIMIT_PER_KEY: perMinute(6000).describe(`${ON_DENO}FHIR and HL7 requests of one API key.`),
  JOB_TICK_SECONDS: z.coerce
    .number()
    .positive()
    .default(60)
    .describe('Deno only: seconds between two checks for background jobs. On Workers `[triggers]` of `wrangler.toml`.'),
};

/** The sets of search parameters that FHIR can serve (edge/docs/behaviour.md, FHIR). */
const SEARCH_SETS = ['listed', 'us-core'] as const;
export type SearchSet = (typeof SEARCH_SETS)[number];

/** The profiles that FHIR can check (edge/docs/behaviour.md, FHIR, Profiles). */
const PROFILE_SETS = ['none', 'us-core'] as const;
export type ProfileSet = (typeof PROFILE_SETS)[number];

const SWITCH = z
  .enum(['on', 'off'])
  .default('off')
  .transform((value) => value === 'on');

const FHIR = {
  FHIR_SEARCH: z
    .enum(SEARCH_SETS)
    .default('listed')
    .describe("Search parameters: `listed`, or `us-core` for US Core's as well."),
  FHIR_PROFILES: z
    .enum(PROFILE_SETS)
    .default('none')
    .describe('`us-core`: writes are checked against the profiles of US Core 6.1.0 in `meta.profile`.'),
  FHIR_GROUPS: SWITCH.describe('`on`: the type Group, its scopes, and the export of a Group.'),
  FHIR_PROVENANCE: SWITCH.describe(
    '`on`: the type Provenance, which says who made each version of a resource, and its scope.',
  ),
  FHIR_SUBSCRIPTIONS: SWITCH.describe(
    '`on`: Subscriptions, for API keys with subscription hosts, and the change feed of their sites.',
  ),
};

const TRUST = {
  TRUSTED_PROXIES: addressRanges.describe(
    'Deno only: addresses or CIDR ranges of the proxies whose `X-Forwarded-For` names the caller.',
  ),
  JWKS_TRUSTED_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(',').filter((host) => host !== ''))
    .describe('For local and test stacks only: loopback hosts from which a JWKS URI may be fetched.'),
};

const gateway = z.object({
  ...ADDRESSES,
  ...DATABASE,
  ...DATABASE_OVER_TCP,
  ...PROGRAM,
  ...SECRETS,
  ...STAFF,
  ...FHIR,
  ...LIMITS,
  ...TRUST,
});
/** Every variable that the gateway reads, with its rule and its description. */
export const VARIABLES: Readonly<Record<string, z.ZodType>> = gateway.shape;
/** The variables of commands that write API keys: they sign no tokens and seal no cookies. */
const command = z.object({ ...ADDRESSES, ...DATABASE, ...TRUST });

export type Config = z.infer<typeof gateway>;
export type CommandConfig = z.infer<typeof command>;
export type Addresses = Pick<Config, keyof typeof ADDRESSES>;

/** Parses the variables of a schema and ignores others. */
const reader =
  <Schema extends z.ZodType>(schema: Schema) =>
  (env: Readonly<Record<string, unknown>>): z.infer<Schema> => {
    const given = givenVariables(env);
    const parsed = schema.safeParse(given, { error: findingText });
    if (parsed.success) return parsed.data;
    throw new ConfigError([...problemsOf(given, parsed.error), ...misspeltVariables(given)]);
  };

/** A sentence for each variable that is nearly the name of one of the gateway's that has no value. */
export const misspeltVariables = (env: Readonly<Record<string, unknown>>): string[] => [
  ...misspeltOf(givenVariables(env), Object.keys(VARIABLES)).values(),
];

/**
 * The gateway's configuration.
 *
 * @param env an empty value counts as absent
 * @throws ConfigError that names every missing or wrong variable, without values
 */
export const readConfig = reader(gateway);

/** The configuration of `npm run admin` and similar commands; otherwise like `readConfig`. */
export const readCommandConfig = reader(command);

const PUBLIC_ADDRESSES = [
  'INTEGRATION_OAUTH_PUBLIC_BASE_URL',
  'INTEGRATION_FHIR_PUBLIC_BASE_URL',
  'INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL',
  'ADMIN_PUBLIC_BASE_URL',
  'INTEGRATION_DOCS_URL',
] as const satisfies readonly (keyof Addresses)[];

/** The base URLs of the surfaces for clients and staff. */
export function surfaceUrls(config: Addresses): string[] {
  return [
    config.INTEGRATION_OAUTH_PUBLIC_BASE_URL,
    config.INTEGRATION_FHIR_PUBLIC_BASE_URL,
    config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL,
    config.ADMIN_PUBLIC_BASE_URL,
  ].filter((url) => url !== undefined);
}

/** The variables whose public address is http and not loopback: an attacker on the network could read the traffic. */
export function plainAddresses(config: Addresses): string[] {
  return PUBLIC_ADDRESSES.filter((name) => {
    const url = config[name];
    return url !== undefined && url.startsWith('http:') && !isLoopbackHost(new URL(url).hostname);
  });
}

/** The gateway's own addresses, from which nothing may be fetched for a client. */
export function ownUrls(config: Addresses): string[] {
  const { INTEGRATION_DOCS_URL: docs } = config;
  return docs === undefined ? surfaceUrls(config) : [...surfaceUrls(config), docs];
}
