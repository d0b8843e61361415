/**
 * Parses the sidecar's environment once. All problems are listed together, without values, because one of them is a private
 * key.
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
import { type Es256PrivateJwk, es256PrivateJwk } from '../shared/es256-jwk.ts';
import { MAX_HL7_MESSAGE_BYTES, MLLP_DEFAULTS } from '../shared/mllp-contract.ts';
import { findingText } from '../shared/finding-text.ts';

const port = (fallback: number) => z.coerce.number().int().min(0).max(65535).default(fallback);
const count = (fallback: number) => z.coerce.number().int().positive().default(fallback);
const seconds = (fallback: number) =>
  z.coerce
    .number()
    .positive()
    .max(86_400)
    .default(fallback)
    .transform((value) => value * 1000);

/** One row per variable: its rule, and its description for `edge/docs/configuration.md` (npm run generate). */
const environment = z.object({
  MLLP_HOST: z.string().min(1).optional().describe('Address to listen on, if not every interface.'),
  MLLP_PORT: port(MLLP_DEFAULTS.port).describe(
    'Port to listen on. 0 takes a free one, which the log event `mllp.listening` names.',
  ),
  EDGE_URL: baseUrl.describe('Base URL of the gateway: any of its hosts.'),
  SIDECAR_PRIVATE_KEY: jsonText
    .pipe(es256PrivateJwk)
    .describe('Private ES256 JWK with a `kid`; the gateway has its public half. Secret.'),
  SIDECAR_NAME: z.string().min(1).max(255).default('mllp-sidecar').describe('How the console names this sidecar.'),
  HEALTH_HOST: z.string().min(1).default('127.0.0.1').describe('Address of `/healthz`, `/readyz` and `/metrics`.'),
  HEALTH_PORT: port(9575).describe('Port of `/healthz`, `/readyz` and `/metrics`.'),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('`debug`, `info`, `warn` or `error`. No level logs a byte of a message.'),

  MLLP_TLS_CERT_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('Certificate for TLS 1.2 or later. SIGHUP reads the files again.'),
  MLLP_TLS_KEY_FILE: z.string().min(1).optional().describe('Private key of the certificate.'),
  MLLP_TLS_CLIENT_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('CA of client certificates. With it senders need one.'),
  MLLP_TLS_CLIENT_AUTH: z
    .enum(['require', 'request'])
    .default('require')
    .describe(
      '`request` also accepts senders without a certificate; a certificate of another CA is rejected either way.',
    ),
  MLLP_PROXY_PROTOCOL_FROM: addressRanges.describe(
    'Balancers that must send a PROXY v1 or v2 header. The header is rejected from any other address.',
  ),

  MLLP_MAX_CONNECTIONS: count(4096).describe('Connections in all.'),
  MLLP_MAX_CONNECTIONS_PER_ADDRESS: count(512).describe('Connections of one address.'),
  MLLP_MAX_UNFINISHED_FRAMES_PER_ADDRESS: count(128).describe(
    'Connections of one address in the middle of a frame. Above that, the connection with the oldest frame is closed.',
  ),
  MLLP_MAX_FRAME_BYTES: count(MAX_HL7_MESSAGE_BYTES).describe('Largest frame, in bytes. A larger one is answered AR.'),
  MLLP_MAX_HELD_BYTES: count(256 * 1024 * 1024).describe('Bytes that all connections may hold before reads pause.'),
  MLLP_MAX_HELD_BYTES_PER_ADDRESS: count(192 * 1024 * 1024).describe(
    'Bytes that the connections of one address may hold before reads pause.',
  ),
  MLLP_MAX_MESSAGES_PER_SECOND_PER_ADDRESS: count(2000).describe('A faster address waits; nothing is rejected.'),
  MLLP_IDLE_TIMEOUT_SECONDS: seconds(MLLP_DEFAULTS.idleSeconds).describe(
    'An idle connection is closed after this time.',
  ),
  MLLP_FRAME_TIMEOUT_SECONDS: seconds(MLLP_DEFAULTS.frameSeconds).describe(
    'A frame must be complete within this time.',
  ),
  MLLP_OPENING_TIMEOUT_SECONDS: seconds(MLLP_DEFAULTS.openingSeconds).describe(
    'TLS handshake and PROXY header must be complete within this time.',
  ),
  MLLP_FIRST_FRAME_TIMEOUT_SECONDS: seconds(60).describe(
    "A connection without a complete frame is closed after this time, while more than half of all connections, or of its address's, are in use.",
  ),
  FORWARD_RETRY_SECONDS: seconds(MLLP_DEFAULTS.retrySeconds).describe(
    'How long a message is tried again while the gateway is away. Then the connection is closed without an ACK.',
  ),
  FORWARD_ATTEMPT_TIMEOUT_SECONDS: seconds(15).describe('How long one attempt may take.'),
  FORWARD_CONCURRENCY: count(64).describe('Messages that are forwarded at one time, over all connections.'),
  SHUTDOWN_GRACE_SECONDS: seconds(25).describe('After SIGTERM: how long messages in progress may take.'),
});

/** Every variable that the sidecar reads, with its rule and its description. */
export const SIDECAR_VARIABLES: Readonly<Record<string, z.ZodType>> = environment.shape;

/** Pairs of variables of which the first requires the second. The schema would check pairs only after everything else. */
const NEEDS: readonly (readonly [string, string])[] = [
  ['MLLP_TLS_CERT_FILE', 'MLLP_TLS_KEY_FILE'],
  ['MLLP_TLS_KEY_FILE', 'MLLP_TLS_CERT_FILE'],
  ['MLLP_TLS_CLIENT_CA_FILE', 'MLLP_TLS_CERT_FILE'],
  // Without a CA no sender would need a certificate.
  ['MLLP_TLS_CLIENT_AUTH', 'MLLP_TLS_CLIENT_CA_FILE'],
];

/** The prefixes of the sidecar's variables. */
const SIDECAR_PREFIX = /^(?:MLLP|FORWARD)_/;
/** A variable of the edge, which `npm run keys -- sidecar` prints beside the sidecar's key. */
const EDGE_VARIABLE = 'MLLP_SIDECAR_KEYS';

/** Named as in the environment. `…_SECONDS` contain milliseconds after parsing (the transform is in `seconds`). */
type Environment = z.infer<typeof environment>;

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string | undefined;
  readonly clientAuth: 'require' | 'request';
}

export interface SidecarConfig {
  readonly host: string | undefined;
  readonly port: number;
  readonly edgeUrl: string;
  readonly name: string;
  readonly privateKey: Es256PrivateJwk;
  readonly healthHost: string;
  readonly healthPort: number;
  readonly logLevel: Environment['LOG_LEVEL'];
  readonly tls: TlsFiles | undefined;
  readonly proxyProtocolFrom: readonly string[];
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly maxUnfinishedFramesPerAddress: number;
  readonly maxFrameBytes: number;
  readonly maxHeldBytes: number;
  readonly maxHeldBytesPerAddress: number;
  readonly maxMessagesPerSecond: number;
  readonly idleTimeoutMs: number;
  readonly frameTimeoutMs: number;
  readonly openingTimeoutMs: number;
  readonly firstFrameTimeoutMs: number;
  readonly retryMs: number;
  readonly attemptTimeoutMs: number;
  readonly concurrency: number;
  readonly shutdownGraceMs: number;
  /** A sentence for each variable that is probably a misspelt one of the sidecar's. */
  readonly misspelt: readonly string[];
}

/**
 * @param env an empty value counts as absent
 * @throws ConfigError that names every missing or wrong variable, without values
 */
export function readSidecarConfig(env: Readonly<Record<string, string | undefined>>): SidecarConfig {
  const given = givenVariables(env);
  const parsed = environment.safeParse(given, { error: findingText });
  const misspelt = misspeltOf(given, Object.keys(environment.shape));
  const problems = [
    ...problemsOf(given, parsed.error),
    ...NEEDS.filter(([name, other]) => given[name] !== undefined && given[other] === undefined).map(
      ([name, other]) => `${other} is missing: ${name} needs it`,
    ),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError([...new Set([...problems, ...misspelt.values()])]);
  const value = parsed.data;
  return {
    host: value.MLLP_HOST,
    port: value.MLLP_PORT,
    edgeUrl: value.EDGE_URL,
    name: value.SIDECAR_NAME,
    privateKey: value.SIDECAR_PRIVATE_KEY,
    healthHost: value.HEALTH_HOST,
    healthPort: value.HEALTH_PORT,
    logLevel: value.LOG_LEVEL,
    tls: tlsFiles(value),
    proxyProtocolFrom: value.MLLP_PROXY_PROTOCOL_FROM,
    maxConnections: value.MLLP_MAX_CONNECTIONS,
    maxConnectionsPerAddress: value.MLLP_MAX_CONNECTIONS_PER_ADDRESS,
    maxUnfinishedFramesPerAddress: value.MLLP_MAX_UNFINISHED_FRAMES_PER_ADDRESS,
    maxFrameBytes: value.MLLP_MAX_FRAME_BYTES,
    maxHeldBytes: value.MLLP_MAX_HELD_BYTES,
    maxHeldBytesPerAddress: value.MLLP_MAX_HELD_BYTES_PER_ADDRESS,
    maxMessagesPerSecond: value.MLLP_MAX_MESSAGES_PER_SECOND_PER_ADDRESS,
    idleTimeoutMs: value.MLLP_IDLE_TIMEOUT_SECONDS,
    frameTimeoutMs: value.MLLP_FRAME_TIMEOUT_SECONDS,
    openingTimeoutMs: value.MLLP_OPENING_TIMEOUT_SECONDS,
    firstFrameTimeoutMs: value.MLLP_FIRST_FRAME_TIMEOUT_SECONDS,
    retryMs: value.FORWARD_RETRY_SECONDS,
    attemptTimeoutMs: value.FORWARD_ATTEMPT_TIMEOUT_SECONDS,
    concurrency: value.FORWARD_CONCURRENCY,
    shutdownGraceMs: value.SHUTDOWN_GRACE_SECONDS,
    misspelt: [
      ...misspelt.values(),
      ...Object.keys(given)
        .filter((name) => SIDECAR_PREFIX.test(name) && name !== EDGE_VARIABLE)
        .filter((name) => !Object.hasOwn(environment.shape, name) && !misspelt.has(name))
        .map((name) => `${name} is not a setting`),
    ],
  };
}

function tlsFiles(value: Environment): TlsFiles | undefined {
  const { MLLP_TLS_CERT_FILE: certFile, MLLP_TLS_KEY_FILE: keyFile } = value;
  if (certFile === undefined || keyFile === undefined) return undefined;
  return {
    certFile,
    keyFile,
    clientCaFile: value.MLLP_TLS_CLIENT_CA_FILE,
    clientAuth: value.MLLP_TLS_CLIENT_AUTH,
  };
}
