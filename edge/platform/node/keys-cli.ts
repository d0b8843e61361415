/**
 * `npm run keys`: makes a deployment's keys and secrets, and turns the ring of signing keys (oauth/ring-rotation.ts).
 * A ring comes from TOKEN_SIGNING_KEYS or standard input. What was made goes to standard output, what to do next to
 * standard error.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';

import { exportJWK, exportPKCS8, generateKeyPair } from 'jose';

import { SIDECAR_TOKEN_ALGORITHM } from '../../../shared/mllp-contract.ts';
import { type SigningRing, signingRing } from '../../config.ts';
import { newRing, publishKey, retireOthers, signWithNewest, type Step } from '../../oauth/ring-rotation.ts';
import { helpOn } from './program.ts';

/** What every JWT library has (RFC 7518 §3.1). */
const CLIENT_ALGORITHM = 'ES256';

const USAGE = `usage: npm run -s keys -- new              > ring.json
       npm run -s keys -- publish < old.json > ring.json
       npm run -s keys -- sign    < old.json > ring.json
       npm run -s keys -- retire  < old.json > ring.json
       npm run -s keys -- sidecar            > sidecar.env
       npm run -s keys -- secret             > secret.txt
       npm run -s keys -- client FOLDER      makes FOLDER/private.pem and FOLDER/jwks.json

The ring is read from TOKEN_SIGNING_KEYS where that is set, else from standard input. Then:
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

/** A sidecar's key pair, as the two lines of environment that the sidecar and the edge take. */
async function newSidecarKey(): Promise<Made> {
  const { privateKey } = await generateKeyPair(SIDECAR_TOKEN_ALGORITHM, { extractable: true });
  const privateJwk = { ...(await exportJWK(privateKey)), kid: `sidecar-${randomUUID().slice(0, 8)}` };
  const { d: _, ...publicJwk } = privateJwk;
  const lines = [
    `SIDECAR_PRIVATE_KEY='${JSON.stringify(privateJwk)}'`,
    `MLLP_SIDECAR_KEYS='${JSON.stringify({ keys: [publicJwk] })}'`,
  ];
  return {
    output: lines.join('\n'),
    notes: ["next: the first line is the sidecar's environment, the value of the second a secret of the edge"],
  };
}

/** 32 random bytes: the key of page cursors and of the console's sessions. */
const newSecret = (): Made => ({
  output: randomBytes(32).toString('base64url'),
  notes: ['next: store this as the secret GATEWAY_SECRET; another one ends sessions and pages under way'],
});

/**
 * A client's key pair, for a client that has no tool of its own: the private half in a file that only its owner reads,
 * the public half as the JWKS that is registered with an API key. A file that is there already stays.
 */
async function newClientKey(folder = ''): Promise<Made> {
  if (folder === '') throw new Error('name a folder for the two files: npm run -s keys -- client FOLDER');
  // npm runs scripts in the repository, whoever calls from wherever.
  const path = resolve(process.env['INIT_CWD'] ?? '', folder);
  const { privateKey, publicKey } = await generateKeyPair(CLIENT_ALGORITHM, { extractable: true });
  const kid = `client-${randomUUID().slice(0, 8)}`;
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: CLIENT_ALGORITHM, use: 'sig' };
  const files = [
    { name: join(path, 'private.pem'), text: await exportPKCS8(privateKey), mode: 0o600 },
    { name: join(path, 'jwks.json'), text: `${JSON.stringify({ keys: [jwk] }, null, 2)}\n`, mode: 0o644 },
  ];
  await mkdir(path, { recursive: true });
  for (const { name, text: content, mode } of files) {
    await writeFile(name, content, { mode, flag: 'wx' }).catch((cause: unknown) => {
      throw new Error(`${name} is there already, or cannot be written: nothing was changed`, { cause });
    });
  }
  return {
    output: files.map(({ name }) => name).join('\n'),
    notes: [
      `kid: ${kid}, which the header of each assertion names, with alg ${CLIENT_ALGORITHM}`,
      'next: private.pem stays with the client and goes nowhere else; jwks.json is pasted into the console or given to',
      '      npm run -s admin -- key create --jwks FILE',
    ],
  };
}

async function readRing(): Promise<SigningRing> {
  const given = process.env['TOKEN_SIGNING_KEYS'] ?? (process.stdin.isTTY ? '' : await text(process.stdin));
  try {
    return signingRing.parse(JSON.parse(given));
  } catch {
    // What was read is secret: it is not shown.
    throw new Error('the input is not a ring of signing keys, as `new` makes it');
  }
}

const COMMANDS: Readonly<Record<string, (argument: string | undefined) => Promise<Made>>> = {
  new: async () => made(await newRing(Date.now())),
  publish: async () => made(await publishKey(await readRing(), Date.now())),
  sign: async () => made(signWithNewest(await readRing())),
  retire: async () => made(retireOthers(await readRing())),
  sidecar: () => newSidecarKey(),
  secret: async () => newSecret(),
  client: newClientKey,
};

helpOn(USAGE);
const name = process.argv[2] ?? '';
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  try {
    const { output, notes } = await command(process.argv[3]);
    process.stdout.write(`${output}\n`);
    process.stderr.write(`${notes.join('\n')}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
