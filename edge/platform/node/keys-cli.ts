/**
 * `npm run keys`: makes a deployment's keys and secrets, and turns the ring of signing keys (oauth/ring-rotation.ts).
 * A ring comes from TOKEN_SIGNING_KEYS or standard input. What was made goes to standard output, what to do next to
 * standard error.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import process from 'node:process';
import { text } from 'node:stream/consumers';

import { exportJWK, generateKeyPair } from 'jose';

import { SIDECAR_TOKEN_ALGORITHM } from '../../../shared/mllp-contract.ts';
import { type SigningRing, signingRing } from '../../config.ts';
import { newRing, publishKey, retireOthers, signWithNewest, type Step } from '../../oauth/ring-rotation.ts';

const USAGE = `usage: npm run -s keys -- new              > ring.json
       npm run -s keys -- publish < old.json > ring.json
       npm run -s keys -- sign    < old.json > ring.json
       npm run -s keys -- retire  < old.json > ring.json
       npm run -s keys -- sidecar            > sidecar.env
       npm run -s keys -- secret             > secret.txt

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

async function readRing(): Promise<SigningRing> {
  const given = process.env['TOKEN_SIGNING_KEYS'] ?? (process.stdin.isTTY ? '' : await text(process.stdin));
  try {
    return signingRing.parse(JSON.parse(given));
  } catch {
    // What was read is secret: it is not shown.
    throw new Error('the input is not a ring of signing keys, as `new` makes it');
  }
}

const COMMANDS: Readonly<Record<string, () => Promise<Made>>> = {
  new: async () => made(await newRing(Date.now())),
  publish: async () => made(await publishKey(await readRing(), Date.now())),
  sign: async () => made(signWithNewest(await readRing())),
  retire: async () => made(retireOthers(await readRing())),
  sidecar: newSidecarKey,
  secret: async () => newSecret(),
};

const name = process.argv[2] ?? '';
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  try {
    const { output, notes } = await command();
    process.stdout.write(`${output}\n`);
    process.stderr.write(`${notes.join('\n')}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
