/**
 * The environment, parsed once at the door: every problem is listed at once, and a surface whose base URL is missing is
 * "not configured" rather than an error (edge/README.md, Addresses and configuration).
 */
import * as z from 'zod';

import { addressRanges, baseUrl, ConfigError, givenVariables, jsonText, problemsOf } from '../shared/environment.ts';
import { es256PrivateJwk } from '../shared/es256-jwk.ts';
import { isLoopbackHost, parseRange } from '../shared/ip.ts';
import { ALL_PERMISSIONS, type GroupGrant } from './admin/staff/permissions.ts';

/** The six names that the console shows, spelt as deployments have them (edge/README.md, Addresses and configuration). */
export const ENDPOINT_NAMES = [
  'INTEGRATION_OAUTH_PUBLIC_BASE_URL',
  'INTEGRATION_FHIR_PUBLIC_BASE_URL',
  'INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL',
  'INTEGRATION_HL7_MTTP_DOMAIN',
  'INTEGRATION_HL7_MTTP_PORT',
  'INTEGRATION_DOCS_URL',
] as const;
export type EndpointName = (typeof ENDPOINT_NAMES)[number];

/** A private JWKS that signs access tokens: the first key signs, all are published. */
export const signingRing = z.object({ keys: z.array(es256PrivateJwk).min(1) });
export type SigningRing = z.infer<typeof signingRing>;

const publicJwk = z.looseObject({ kty: z.string(), kid: z.string().min(1) });

const siteId = z.uuid().toLowerCase();

/** A sidecar's public key. */
const sidecarKey = publicJwk.extend({
  /** It speaks for senders of these addresses only; left out: all. */
  ranges: z
    .array(z.string().refine((text) => parseRange(text) !== undefined, 'must be IP addresses or CIDR ranges'))
    .min(1)
    .optional(),
  /** And for these sites only; left out: all. */
  sites: z.array(siteId).min(1).optional(),
});
export type SidecarKey = z.infer<typeof sidecarKey>;

/** What the groups of the staff's provider stand for. `*` is every permission, also those that later releases have. */
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

const bytes = (fallback: number) => z.coerce.number().int().min(1024).default(fallback);

const ADDRESSES = {
  INTEGRATION_OAUTH_PUBLIC_BASE_URL: baseUrl.optional(),
  INTEGRATION_FHIR_PUBLIC_BASE_URL: baseUrl.optional(),
  INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: baseUrl.optional(),
  INTEGRATION_HL7_MTTP_DOMAIN: z.string().min(1).optional(),
  INTEGRATION_HL7_MTTP_PORT: z.coerce.number().int().min(1).max(65535).optional(),
  INTEGRATION_DOCS_URL: baseUrl.optional(),
  /** The console's own. */
  ADMIN_PUBLIC_BASE_URL: baseUrl.optional(),
};

const DATABASE = {
  /** Neon's (or any PostgreSQL's) connection string. */
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// connection string'),
  /** Where the Neon driver posts to, when that is not the host's own `/sql`: the local stack's endpoint. */
  DATABASE_FETCH_ENDPOINT: baseUrl.optional(),
};

/** Deno only, where the database is no Neon: how it is spoken to over TCP. */
const DATABASE_OVER_TCP = {
  /** Connections at most, of this process. */
  DATABASE_CONNECTIONS: z.coerce.number().int().min(1).max(1_000).default(16),
  /** `unnamed` behind a pooler in transaction mode that cannot keep prepared statements apart (PgBouncer before 1.21). */
  DATABASE_STATEMENTS: z.enum(['prepared', 'unnamed']).default('prepared'),
};

/** Deno only: where the program listens, and how long what is under way has at its end. */
const PROGRAM = {
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(1).max(65535).default(8000),
  SHUTDOWN_GRACE_SECONDS: z.coerce.number().min(0).default(25),
};

/** One secret, or several to rotate. */
const secrets = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{43,}(?:,[A-Za-z0-9_-]{43,})*$/,
    'must be at least 32 random bytes, base64url; several with commas',
  )
  .transform((text) => text.split(','));

const SECRETS = {
  TOKEN_SIGNING_KEYS: jsonText.pipe(signingRing),
  /** The public JWKS of the MLLP sidecars. Absent: no sidecar is let in. */
  MLLP_SIDECAR_KEYS: jsonText.pipe(z.looseObject({ keys: z.array(sidecarKey).min(1) })).optional(),
  /** What page cursors and the console's cookies and tokens are sealed with: the first seals, all open. */
  GATEWAY_SECRET: secrets,
  /** Whoever brings one of these may read /metrics. Absent: there is none. */
  METRICS_TOKEN: secrets.optional(),
};

/** The staff's OpenID provider. */
const STAFF = {
  ADMIN_OIDC_ISSUER: baseUrl.optional(),
  ADMIN_OIDC_CLIENT_ID: z.string().min(1).optional(),
  ADMIN_OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  /** The `aud` of the provider's access tokens for `/admin/api`; default `{ADMIN_PUBLIC_BASE_URL}/admin/api`. */
  ADMIN_OIDC_AUDIENCE: z.string().min(1).optional(),
  /** The claims of the provider that say which site somebody sees and what they may do there. */
  ADMIN_OIDC_SITE_CLAIM: z.string().min(1).default('site'),
  ADMIN_OIDC_PERMISSIONS_CLAIM: z.string().min(1).default('permissions'),
  /** Or by groups: their claim, and what each stands for here, `{ "group": { "site": id or list, "permissions": list or "*" } }`. */
  ADMIN_OIDC_GROUPS_CLAIM: z.string().min(1).default('groups'),
  ADMIN_OIDC_GROUPS: jsonText.pipe(groupGrants).optional(),
  /** How long refused and failed requests are collected before one statement writes them; a Worker may go on for 30 s. */
  ADMIN_REFUSALS_SECONDS: z.coerce.number().positive().max(25).default(5),
  /** What a sign-in asks the provider for; some give a refresh token only for `offline_access`. */
  ADMIN_OIDC_SCOPE: z
    .string()
    .regex(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, 'must be scopes with one space between')
    .refine((scope) => scope.split(' ').includes('openid'), 'must contain openid')
    .default('openid profile'),
};

const LIMITS = {
  FHIR_MAX_BODY_BYTES: bytes(2 * 1024 * 1024),
  HL7_MAX_MESSAGE_BYTES: bytes(1024 * 1024),
  /** Deno only (Workers take theirs from wrangler.toml): requests a minute. */
  RATE_LIMIT_TOKEN_PER_CLIENT: z.coerce.number().int().positive().default(60),
  RATE_LIMIT_TOKEN_PER_ADDRESS: z.coerce.number().int().positive().default(300),
  RATE_LIMIT_ADMIN_PER_ADDRESS: z.coerce.number().int().positive().default(600),
  RATE_LIMIT_PER_KEY: z.coerce.number().int().positive().default(6000),
  /** Deno only (Workers: [triggers] in wrangler.toml): how often background work is looked for. */
  JOB_TICK_SECONDS: z.coerce.number().positive().default(60),
};

/** Which searches FHIR recognizes: those that are listed, or US Core's too (edge/README.md, FHIR). */
export const SEARCH_SETS = ['listed', 'us-core'] as const;
export type SearchSet = (typeof SEARCH_SETS)[number];

const FHIR = {
  FHIR_SEARCH: z.enum(SEARCH_SETS).default('listed'),
};

const TRUST = {
  /** Deno only: the proxies whose X-Forwarded-For says where a request comes from. */
  TRUSTED_PROXIES: addressRanges,
  /** Local and test stacks only: JWKS URIs at loopback may be fetched, e.g. `127.0.0.1`. */
  JWKS_TRUSTED_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(',').filter((host) => host !== '')),
};

/** Everything the gateway needs. */
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
/** The names of all variables that the gateway looks at. */
export const VARIABLES: readonly string[] = Object.keys(gateway.shape);
/** What a command needs that writes API keys: it signs no token and seals no cookie. */
const command = z.object({ ...ADDRESSES, ...DATABASE, ...TRUST });

export type Config = z.infer<typeof gateway>;
export type CommandConfig = z.infer<typeof command>;
export type Addresses = Pick<Config, keyof typeof ADDRESSES>;
export type PublicJwk = z.infer<typeof publicJwk>;

/** Parses what a schema asks for; other variables are not looked at. */
const reader =
  <Schema extends z.ZodType>(schema: Schema) =>
  (env: Readonly<Record<string, unknown>>): z.infer<Schema> => {
    const given = givenVariables(env);
    const parsed = schema.safeParse(given);
    if (parsed.success) return parsed.data;
    throw new ConfigError(problemsOf(given, parsed.error));
  };

/**
 * The gateway's configuration.
 *
 * @param env names to values; an empty value counts as absent
 * @throws ConfigError naming every variable that is missing or wrong, never a value
 */
export const readConfig = reader(gateway);

/** The configuration of `npm run admin` and its like; else as `readConfig`. */
export const readCommandConfig = reader(command);

const PUBLIC_ADDRESSES = [
  'INTEGRATION_OAUTH_PUBLIC_BASE_URL',
  'INTEGRATION_FHIR_PUBLIC_BASE_URL',
  'INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL',
  'ADMIN_PUBLIC_BASE_URL',
  'INTEGRATION_DOCS_URL',
] as const satisfies readonly (keyof Addresses)[];

/** The base URLs of the surfaces that clients and staff call. */
export function surfaceUrls(config: Addresses): string[] {
  return [
    config.INTEGRATION_OAUTH_PUBLIC_BASE_URL,
    config.INTEGRATION_FHIR_PUBLIC_BASE_URL,
    config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL,
    config.ADMIN_PUBLIC_BASE_URL,
  ].filter((url) => url !== undefined);
}

/** The names of public addresses that are http: whatever is sent there can be read on its way. Loopback is this machine. */
export function plainAddresses(config: Addresses): string[] {
  return PUBLIC_ADDRESSES.filter((name) => {
    const url = config[name];
    return url !== undefined && url.startsWith('http:') && !isLoopbackHost(new URL(url).hostname);
  });
}

/** Every address that is ours: nothing of a client's may be fetched from there. */
export function ownUrls(config: Addresses): string[] {
  const { INTEGRATION_DOCS_URL: docs } = config;
  return docs === undefined ? surfaceUrls(config) : [...surfaceUrls(config), docs];
}
