/** The local stack's addresses and files: ports from the environment, everything it keeps below `.local`. */
import { readFile } from 'node:fs/promises';

import type { JWK } from 'jose';

import { UsageError } from '../../../edge/platform/node/program.ts';
import { ROOT } from '../services/build.ts';

/** `LOCAL_FOLDER` puts a second stack beside the first. */
export const LOCAL_FOLDER = process.env['LOCAL_FOLDER'] ?? `${ROOT}.local`;
export const STACK_FILE = `${LOCAL_FOLDER}/stack.json`;

/** Defaults that other programs seldom use, one next to the other. */
const DEFAULT_PORTS = {
  EDGE_PORT: 28080,
  OIDC_PORT: 28081,
  MLLP_PORT: 28082,
  SIDECAR_HEALTH_PORT: 28083,
  POSTGRES_PORT: 28084,
  NEON_PORT: 28085,
  WEBHOOK_PORT: 28086,
} as const;
export type Ports = Readonly<Record<keyof typeof DEFAULT_PORTS, number>>;

/** @throws an Error naming every variable that is not a port */
export function readPorts(env: NodeJS.ProcessEnv): Ports {
  const ports = { ...DEFAULT_PORTS } as Record<keyof typeof DEFAULT_PORTS, number>;
  const problems: string[] = [];
  for (const name of Object.keys(DEFAULT_PORTS) as (keyof typeof DEFAULT_PORTS)[]) {
    const given = env[name];
    if (given === undefined || given === '') continue;
    const port = Number(given);
    if (!Number.isInteger(port) || port < 1 || port > 65535) problems.push(`${name} is not a port: ${given}`);
    ports[name] = port;
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return ports;
}

export interface StackClient {
  readonly name: string;
  readonly site: string;
  readonly clientId: string;
  readonly privateJwk: JWK;
  readonly status: 'active' | 'disabled';
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  readonly protocols: readonly string[];
}

/** `.local/stack.json`: what programs that try the stack read. */
export interface StackDescription {
  readonly oauthBaseUrl: string;
  readonly fhirBaseUrl: string;
  readonly hl7HttpBaseUrl: string;
  readonly adminUrl: string;
  readonly docsUrl: string;
  readonly mllp: { readonly host: string; readonly port: number };
  /** The page that shows the received alerts and notifications. */
  readonly webhookUrl: string;
  readonly databaseUrl: string;
  readonly admin: { readonly username: string; readonly password: string };
  /** May look at everything and change nothing. */
  readonly reader: { readonly username: string; readonly password: string };
  /** A Bearer token for `/admin/api` of an administrator of `site`. */
  readonly adminToken: string;
  /** The same for `otherSite`. */
  readonly otherAdminToken: string;
  readonly site: string;
  readonly otherSite: string;
  readonly clients: readonly StackClient[];
}

const START = 'start the gateway with npm start first';

/** The description of the running stack. @throws UsageError if it was never started */
export async function readStack(): Promise<StackDescription> {
  try {
    return JSON.parse(await readFile(STACK_FILE, 'utf8')) as StackDescription;
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
    throw new UsageError(`${STACK_FILE} does not exist: ${START}`);
  }
}

/** The error of a connection to the stack. */
export function connectionError(error: unknown): unknown {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return isCode(cause, 'ECONNREFUSED') ? new UsageError(`the gateway does not answer: ${START}`) : error;
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
