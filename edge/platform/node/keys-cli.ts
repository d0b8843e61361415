/**
 * `npm run keys`: makes a deployment's keys and secrets, and rotates the ring of signing keys (oauth/ring-rotation.ts). The
 * ring is read from TOKEN_SIGNING_KEYS or standard input. Results are printed to standard output, next steps to standard
 * error.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';

import { exportJWK, exportPKCS8, generateKeyPair } from 'jose';

import { SIDECAR_TOKEN_ALGORITHM } from '../../../shared/mllp-contract.ts';
import { sidecarKey as publicSidecarKey, type SidecarKey, type SigningRing, signingRing } from '../../config.ts';
import { newRing, publishKey, retireOthers, signWithNewest, type Step } from '../../oauth/ring-rotation.ts';
import { parseOptions, runProgram, UsageError } from './program.ts';

/** Every JWT library supports it (RFC 7518 §3.1). */
const CLIENT_ALGORITHM = 'ES256';

const USAGE = `usage: npm run -s keys -- new              > ring.json
       npm run -s keys -- publish < old.json > ring.json, or: publish gateway.env
       npm run -s keys -- sign    < old.json > ring.json, or: sign gateway.env
       npm run -s keys -- retire  < old.json > ring.json, or: retire gateway.env
       npm run -s keys -- sidecar [--ranges 10.1.0.0/16,…] [--sites ID,…] > sidecar.env
       npm run -s keys -- secret             > secret.txt
       npm run -s keys -- client FOLDER      makes FOLDER/private.pem and FOLDER/jwks.json
       npm run -s keys -- deployment FOLDER  makes all secrets of a new deployment on Workers: edge.json and sidecar.env
       npm run -s keys -- box FOLDER [HOST]  makes FOLDER/gateway.env for your own machine (edge/platform/compose.yaml)

\`sidecar\` with \`--ranges\` or \`--sites\` makes a key for senders at these addresses and of these sites only.

\`deployment\` copies DATABASE_URL and ADMIN_OIDC_CLIENT_SECRET from the environment if they are set. It never overwrites
files.

\`box\` with HOST sets the public addresses to https://HOST, and without it to this machine.

The ring is read and replaced in the file, or read from TOKEN_SIGNING_KEYS, or else from standard input. Then:
       npx wrangler secret put TOKEN_SIGNING_KEYS < ring.json
`;

interface Made {
  readonly output: string;
  readonly notes: readonly string[];
}

const made = ({ ring, next }: Step): Made => ({
  output: JSON.stringify(ring),
  notes: [`keys: ${ring.keys.map(({ kid }, at) => (at === 0 ? `${kid} (signs)` : kid)).join(', ')}`, `next: ${next}`],
});

type SidecarLimits = Pick<SidecarKey, 'ranges' | 'sites'>;

/** Both halves of a sidecar's key as JSON: for the sidecar's environment, and for the edge, with the limits of the key. */
async function sidecarKey(
  limits: SidecarLimits = {},
): Promise<{ readonly ownKey: string; readonly knownKeys: string }> {
  const { privateKey } = await generateKeyPair(SIDECAR_TOKEN_ALGORITHM, { extractable: true });
  const privateJwk = { ...(await exportJWK(privateKey)), kid: `sidecar-${randomUUID().slice(0, 8)}` };
  const { d: _, ...publicJwk } = privateJwk;
  return { ownKey: JSON.stringify(privateJwk), knownKeys: JSON.stringify({ keys: [{ ...publicJwk, ...limits }] }) };
}

const LIMITED = { ranges: { type: 'string' }, sites: { type: 'string' } } as const;

/** The limits of a sidecar's key, as the options name them. @throws where the gateway would reject them */
function sidecarLimits(args: readonly string[]): SidecarLimits {
  const { values } = parseOptions({ args: [...args], options: LIMITED });
  const limits = Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list.split(',')]));
  const { success, error } = publicSidecarKey.pick({ ranges: true, sites: true }).safeParse(limits);
  if (success) return limits;
  throw new Error(error.issues.map(({ path: [name], message }) => `--${String(name)}: ${message}`).join('\n'));
}

/** The key as two lines of an environment file. */
async function newSidecarKey(args: readonly string[]): Promise<Made> {
  const { ownKey, knownKeys } = await sidecarKey(sidecarLimits(args));
  const lines = [`SIDECAR_PRIVATE_KEY='${ownKey}'`, `MLLP_SIDECAR_KEYS='${knownKeys}'`];
  return {
    output: lines.join('\n'),
    notes: [
      "next: put the first line into the sidecar's environment, and store the value of the second as a secret of the edge",
    ],
  };
}

/** 32 random bytes, for page cursors and the console's sessions. */
const randomSecret = (): string => randomBytes(32).toString('base64url');

const newSecret = (): Made => ({
  output: randomSecret(),
  notes: [
    'next: use it as a password, as METRICS_TOKEN or as GATEWAY_SECRET; append another GATEWAY_SECRET behind the existing one',
    '      first (edge/docs/operate.md)',
  ],
});

interface SecretFile {
  readonly name: string;
  readonly text: string;
  readonly mode: number;
}

/** The caller's folder: npm runs scripts in the repository. */
const folderOf = (given: string): string => resolve(process.env['INIT_CWD'] ?? '', given);

/** Writes nothing if one of the files exists. A folder that is created here is ignored by Git. */
async function writeNew(folder: string, files: readonly SecretFile[]): Promise<string> {
  const paths = files.map(({ name }) => join(folder, name));
  const present = paths.find((path) => existsSync(path));
  if (present !== undefined) throw new Error(`${present} already exists: nothing was changed`);
  const made = await mkdir(folder, { recursive: true });
  if (made !== undefined) await writeFile(join(folder, '.gitignore'), '*\n');
  for (const { name, text: content, mode } of files) await writeFile(join(folder, name), content, { mode, flag: 'wx' });
  return paths.join('\n');
}

/** Lines of an environment file that a shell, Docker Compose and systemd read alike. */
const environmentLines = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join('');

/** The address of a gateway on its own machine: the port of edge/platform/compose.yaml. */
const OWN_MACHINE = 'http://127.0.0.1:8000';

/** @throws for anything but a host name, which is copied into URLs and the proxy's configuration */
function boxAddress(host: string | undefined): string {
  if (host === undefined) return OWN_MACHINE;
  if (!/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]*[a-z0-9]$/.test(host))
    throw new Error(`${host} is not a host name: expected one such as gateway.example.org, without https:// and path`);
  return `https://${host}`;
}

/** A proxy beside the gateway, and that of edge/platform/compose.yaml. */
const BOX_PROXIES = '127.0.0.1,172.30.57.10';

/** Makes the one file of settings and secrets for PostgreSQL, the gateway, the sidecar and the proxy on one machine. */
async function newBox(folder = '', host?: string): Promise<Made> {
  if (folder === '') throw new UsageError('name a folder for the file: npm run -s keys -- box FOLDER');
  const base = boxAddress(host);
  const password = randomSecret();
  const { ownKey, knownKeys } = await sidecarKey();
  const { ring } = await newRing(Date.now());
  const text = [
    '# All settings of a gateway on your own machine: edge/docs/deploy.md, On your own machine. They contain secrets.',
    '# Other variables of edge/docs/configuration.md may be added.',
    '',
    '# Public addresses',
    environmentLines({
      INTEGRATION_OAUTH_PUBLIC_BASE_URL: base,
      INTEGRATION_FHIR_PUBLIC_BASE_URL: base,
      INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: base,
      INTEGRATION_HL7_MTTP_DOMAIN: new URL(base).hostname,
      INTEGRATION_HL7_MTTP_PORT: '2575',
    }),
    "# The console needs your staff's OpenID provider. Remove the # of these lines and fill in the values.",
    environmentLines({
      ADMIN_PUBLIC_BASE_URL: base,
      ADMIN_OIDC_ISSUER: 'https://login.example.org/realms/staff',
      ADMIN_OIDC_CLIENT_ID: 'integration-gateway',
      ADMIN_OIDC_CLIENT_SECRET: '',
    }).replaceAll(/^(?=.)/gm, '#'),
    "# The proxy: its host name, and its certificate. `internal` is an authority of the proxy's own; an e-mail address",
    '# gets a public certificate (ACME); two paths are the files of a certificate, in the folder BOX_CERTIFICATES.',
    environmentLines({
      BOX_HOST: host ?? 'localhost',
      BOX_TLS: 'internal',
      TRUSTED_PROXIES: BOX_PROXIES,
      // The proxy asks once a second.
      SHUTDOWN_DRAIN_SECONDS: '3',
    }),
    '# PostgreSQL. The passwords are those of Docker Compose, DATABASE_URL is for a gateway without containers.',
    environmentLines({
      BOX_OWNER_PASSWORD: randomSecret(),
      BOX_GATEWAY_PASSWORD: password,
      DATABASE_URL: `postgres://gateway_edge:${password}@127.0.0.1:5432/gateway`,
    }),
    '# Secrets',
    environmentLines({
      TOKEN_SIGNING_KEYS: JSON.stringify(ring),
      GATEWAY_SECRET: randomSecret(),
      METRICS_TOKEN: randomSecret(),
      MLLP_SIDECAR_KEYS: knownKeys,
      SIDECAR_PRIVATE_KEY: ownKey,
    }),
  ].join('\n');
  const output = await writeNew(folderOf(folder), [{ name: 'gateway.env', text, mode: 0o600 }]);
  return {
    output,
    notes: ['next: edge/docs/deploy.md, On your own machine; store the file with your other secrets too'],
  };
}

/**
 * Makes all secrets of a deployment on Workers: those of the edge in a file for Wrangler, and the sidecar's. The connection
 * string and the OpenID provider's secret are copied from the environment.
 */
async function newDeployment(given = ''): Promise<Made> {
  if (given === '') throw new UsageError('name a folder for the files: npm run -s keys -- deployment FOLDER');
  const { DATABASE_URL, ADMIN_OIDC_CLIENT_SECRET } = process.env;
  const { ownKey, knownKeys } = await sidecarKey();
  const { ring } = await newRing(Date.now());
  const edge = {
    ...(DATABASE_URL ? { DATABASE_URL } : {}),
    TOKEN_SIGNING_KEYS: JSON.stringify(ring),
    GATEWAY_SECRET: randomSecret(),
    METRICS_TOKEN: randomSecret(),
    MLLP_SIDECAR_KEYS: knownKeys,
    ...(ADMIN_OIDC_CLIENT_SECRET ? { ADMIN_OIDC_CLIENT_SECRET } : {}),
  };
  const output = await writeNew(folderOf(given), [
    { name: 'edge.json', text: `${JSON.stringify(edge, null, 2)}\n`, mode: 0o600 },
    // Without quotes, which `docker run --env-file` would keep; systemd's EnvironmentFile accepts both.
    { name: 'sidecar.env', text: `SIDECAR_PRIVATE_KEY=${ownKey}\n`, mode: 0o600 },
  ]);
  const lacking = ['DATABASE_URL', 'ADMIN_OIDC_CLIENT_SECRET'].filter((name) => !Object.hasOwn(edge, name));
  return {
    output,
    notes: [
      ...(lacking.length === 0 ? [] : [`left out, since the environment has none: ${lacking.join(', ')}`]),
      `next: npx wrangler deploy --secrets-file ${join(given, 'edge.json')}`,
      '      (sidecar.env is the sidecar’s environment);',
      '      then store the files with your other secrets, and delete them here',
    ],
  };
}

/**
 * Makes a key pair for a client without a tool. The private half is in a file that only its owner can read, the public
 * half is the JWKS to register with an API key.
 */
async function newClientKey(folder = ''): Promise<Made> {
  if (folder === '') throw new UsageError('name a folder for the two files: npm run -s keys -- client FOLDER');
  const { privateKey, publicKey } = await generateKeyPair(CLIENT_ALGORITHM, { extractable: true });
  const kid = `client-${randomUUID().slice(0, 8)}`;
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: CLIENT_ALGORITHM, use: 'sig' };
  const output = await writeNew(folderOf(folder), [
    { name: 'private.pem', text: await exportPKCS8(privateKey), mode: 0o600 },
    { name: 'jwks.json', text: `${JSON.stringify({ keys: [jwk] }, null, 2)}\n`, mode: 0o644 },
  ]);
  return {
    output,
    notes: [
      `kid: ${kid}; put it into the header of each assertion, with alg ${CLIENT_ALGORITHM}`,
      'next: keep private.pem with the client only; paste jwks.json into the console or pass it to',
      '      npm run -s admin -- key create --jwks FILE',
    ],
  };
}

/** @param given secret, so an error does not show it */
function parseRing(given: string): SigningRing {
  try {
    return signingRing.parse(JSON.parse(given));
  } catch {
    throw new Error(
      'the input is not a ring of signing keys: pass the value of TOKEN_SIGNING_KEYS (edge/docs/operate.md, Rotate the signing keys)',
    );
  }
}

const readRing = async (): Promise<SigningRing> =>
  parseRing(process.env['TOKEN_SIGNING_KEYS'] ?? (process.stdin.isTTY ? '' : await text(process.stdin)));

/** The ring in an environment file. */
// oxlint-disable-next-line gateway/linear-expression -- the operator's own file
const RING_LINE = /^TOKEN_SIGNING_KEYS='?(.*?)'?$/m;

/** Replaces a file atomically, with its owner and its mode: a program that starts now reads the old or the new one. */
async function replaceFile(path: string, content: string): Promise<void> {
  const { mode, uid, gid } = await stat(path);
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, content, { mode, flag: 'wx' });
  await chown(temporary, uid, gid);
  await rename(temporary, path);
}

/** One step of a rotation, of the ring in an environment file or else of the one in the input. */
async function rotate(step: (ring: SigningRing) => Step | Promise<Step>, file: string | undefined): Promise<Made> {
  if (file === undefined) return made(await step(await readRing()));
  const path = await realpath(folderOf(file));
  const content = await readFile(path, 'utf8');
  const [line, ring = ''] = RING_LINE.exec(content) ?? [];
  if (line === undefined) throw new Error(`${path} has no line TOKEN_SIGNING_KEYS='…'`);
  const { output, notes } = made(await step(parseRing(ring)));
  await replaceFile(
    path,
    content.replace(line, () => `TOKEN_SIGNING_KEYS='${output}'`),
  );
  return { output: path, notes };
}

const COMMANDS: Readonly<Record<string, (...args: readonly (string | undefined)[]) => Promise<Made>>> = {
  new: async () => made(await newRing(Date.now())),
  publish: (file) => rotate((ring) => publishKey(ring, Date.now()), file),
  sign: (file) => rotate(signWithNewest, file),
  retire: (file) => rotate(retireOthers, file),
  secret: async () => newSecret(),
  client: newClientKey,
  deployment: newDeployment,
  box: newBox,
};

/** The most arguments of a command, if it has any. */
const MOST_ARGUMENTS: Readonly<Record<string, number>> = {
  publish: 1,
  sign: 1,
  retire: 1,
  client: 1,
  deployment: 1,
  box: 2,
};

/** @throws UsageError: a folder `--out` would be in the repository, and hold a private key */
function run(name: string, args: string[]): Promise<Made> {
  if (name === 'sidecar') return newSidecarKey(args);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined)
    throw new UsageError(name === '' ? 'name a command' : `the command ${name} does not exist`);
  const { positionals } = parseOptions({ args, options: {}, allowPositionals: true });
  const extra = positionals[MOST_ARGUMENTS[name] ?? 0];
  if (extra !== undefined) throw new UsageError(`${name} does not have the argument ${extra}`);
  return command(...positionals);
}

await runProgram(USAGE, async () => {
  const [name = '', ...args] = process.argv.slice(2);
  const { output, notes } = await run(name, args);
  process.stdout.write(`${output}\n`);
  process.stderr.write(`${notes.join('\n')}\n`);
});
