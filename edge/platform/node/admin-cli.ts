/**
 * `npm run admin`: the first steps of a deployment, without a browser and without SQL. Sites are made here only; keys are
 * made by the rules of the console, looked at by the same checks.
 */
import { readFile } from 'node:fs/promises';
import { lookup } from 'node:dns/promises';
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';

import { Fault } from '../../../shared/fault.ts';
import { isTimeZone } from '../../../shared/hl7/zone.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { type Config, readConfig } from '../../config.ts';
import { listKeys } from '../../store/admin-key.ts';
import { createSite, listSites } from '../../store/site.ts';
import { type CommandDatabase, connectDatabase } from './database.ts';
import { viewFindings, viewKey } from '../../admin/keys/view.ts';
import { changeKey, createKey } from '../../admin/keys/keys.ts';
import { PERMISSIONS, toActor, type Actor } from '../../admin/staff/permissions.ts';

const USAGE = `Usage, with DATABASE_URL in the environment:

  npm run admin -- site create --name NAME [--time-zone Europe/Berlin] [--processing-ids P,T]
  npm run admin -- site list
  npm run admin -- key create --site ID --name NAME (--jwks FILE | --jwks-uri URL) [--scopes LIST] [--audiences LIST]
                     [--protocols LIST] [--ttl 300] [--allowed-ips LIST] [--sender-application MSH-3]
                     [--sender-facility MSH-4]
  npm run admin -- key list --site ID
  npm run admin -- key disable|enable --site ID --client-id svc-…

Lists have commas between. What is answered is JSON.
`;

const OPTIONS = {
  site: { type: 'string' },
  name: { type: 'string' },
  'time-zone': { type: 'string' },
  'processing-ids': { type: 'string' },
  'client-id': { type: 'string' },
  jwks: { type: 'string' },
  'jwks-uri': { type: 'string' },
  scopes: { type: 'string' },
  audiences: { type: 'string' },
  protocols: { type: 'string' },
  ttl: { type: 'string' },
  'allowed-ips': { type: 'string' },
  'sender-application': { type: 'string' },
  'sender-facility': { type: 'string' },
} as const;
type Options = { readonly [Name in keyof typeof OPTIONS]?: string | undefined };

class UsageError extends Error {}

function need(options: Options, name: keyof Options): string {
  const value = options[name];
  if (value === undefined || value.trim() === '') throw new UsageError(`--${name} is needed`);
  return value;
}

/** The runtime of a command. */
interface CommandDeps {
  readonly config: Config;
  readonly database: CommandDatabase;
  readonly fetch: typeof fetch;
  readonly resolveHost: (hostname: string) => Promise<readonly string[]>;
}

async function connect(): Promise<CommandDeps> {
  // A key is made without signing a token or sealing a cookie: these need not be there, but what is there must be right.
  const unsigned = { kty: 'EC', crv: 'P-256', x: '', y: '', d: '', kid: 'none' };
  const absent = { TOKEN_SIGNING_KEYS: JSON.stringify({ keys: [unsigned] }), GATEWAY_SECRET: 'x'.repeat(43) };
  const config = readConfig({ ...absent, ...process.env });
  return {
    config,
    database: await connectDatabase(config.DATABASE_URL),
    fetch,
    resolveHost: async (hostname) =>
      (await lookup(hostname, { all: true }).catch(() => [])).map(({ address }) => address),
  };
}

/** Whoever runs this may do everything; the history names the account of the machine. */
const operator = (site: string): Actor =>
  toActor({ sub: 'npm run admin', name: userInfo().username, site, permissions: Object.keys(PERMISSIONS) });

type Command = (deps: CommandDeps, options: Options) => Promise<unknown>;

const setStatus =
  (status: 'active' | 'disabled'): Command =>
  async (deps, options) => {
    const actor = operator(need(options, 'site'));
    const { key } = await changeKey(deps, actor, need(options, 'client-id'), [], { status });
    return viewKey(key);
  };

const COMMANDS: Readonly<Record<string, Command>> = {
  async 'site create'({ database }, options) {
    const timeZone = options['time-zone'] ?? null;
    if (timeZone !== null && !isTimeZone(timeZone)) throw new UsageError(`--time-zone ${timeZone} is not an IANA name`);
    const site = { id: uuidv7(Date.now()), name: need(options, 'name'), timeZone };
    const processingIds = (options['processing-ids'] ?? 'P').split(',').map((id) => id.trim());
    await database.run(createSite({ ...site, processingIds }));
    return { site: site.id, name: site.name, timeZone, processingIds };
  },
  async 'site list'({ database }) {
    const sites = await database.run(listSites());
    return sites.map(({ site_id: site, name, time_zone: timeZone }) => ({ site, name, timeZone }));
  },
  async 'key create'(deps, options) {
    const actor = operator(need(options, 'site'));
    const file = options.jwks;
    const { key, findings } = await createKey(deps, actor, {
      name: need(options, 'name'),
      jwks: file === undefined ? null : await readFile(file, 'utf8'),
      jwksUri: options['jwks-uri'] ?? null,
      tokenTtlSeconds: Number(options.ttl ?? '300'),
      allowedScopes: options.scopes ?? '',
      allowedAudiences: options.audiences ?? '',
      protocols: options.protocols ?? '',
      allowedIps: options['allowed-ips'] ?? '',
      hl7SenderApplication: options['sender-application'] ?? null,
      hl7SenderFacility: options['sender-facility'] ?? null,
    });
    return { ...viewKey(key), jwksFindings: viewFindings(findings) };
  },
  async 'key list'({ database }, options) {
    const site = operator(need(options, 'site')).site;
    const rows = await database.run(listKeys(site, { text: '', status: '', protocol: '' }, null, 10_000));
    return rows.map(({ client_id: clientId, name, status, protocols }) => ({ clientId, name, status, protocols }));
  },
  'key disable': setStatus('disabled'),
  'key enable': setStatus('active'),
};

/** What to say of a failure: each finding on a line of its own, by the field's name. */
function explain(error: unknown): string {
  if (error instanceof Fault) {
    const issues = error.issues.map(({ at, message }) => `  ${at ?? ''}: ${message}\n`);
    return `${error.message}\n${issues.join('')}`;
  }
  return error instanceof UsageError ? `${error.message}\n\n${USAGE}` : `${String(error)}\n`;
}

async function main(): Promise<unknown> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  const name = positionals.join(' ');
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new UsageError(name === '' ? 'what shall be done?' : `there is no ${name}`);
  const deps = await connect();
  try {
    return await command(deps, values);
  } finally {
    await deps.database.close();
  }
}

try {
  process.stdout.write(`${JSON.stringify(await main(), null, 2)}\n`);
} catch (error) {
  process.stderr.write(explain(error));
  process.exitCode = 1;
}
