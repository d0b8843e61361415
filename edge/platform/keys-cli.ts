/**
 * `npm run keys`: makes the ring of signing keys and turns it (oauth/ring-rotation.ts). The ring comes from standard
 * input or TOKEN_SIGNING_KEYS, the new one goes to standard output, what to do next to standard error.
 */
import process from 'node:process';
import { text } from 'node:stream/consumers';

import {
  newRing,
  publishKey,
  retireOthers,
  type SigningRing,
  signingRing,
  signWithNewest,
  type Step,
} from '../oauth/ring-rotation.ts';

const USAGE = `usage: npm run -s keys -- new              > ring.json
       npm run -s keys -- publish < old.json > ring.json
       npm run -s keys -- sign    < old.json > ring.json
       npm run -s keys -- retire  < old.json > ring.json

Without a redirected input the ring is read from TOKEN_SIGNING_KEYS. Then:
       npx wrangler secret put TOKEN_SIGNING_KEYS < ring.json
`;

async function readRing(): Promise<SigningRing> {
  const given = process.env['TOKEN_SIGNING_KEYS'] ?? (process.stdin.isTTY ? '' : await text(process.stdin));
  try {
    return signingRing.parse(JSON.parse(given));
  } catch {
    // What was read is secret: it is not shown.
    throw new Error('the input is not a ring of signing keys, as `new` makes it');
  }
}

const COMMANDS: Readonly<Record<string, () => Promise<Step>>> = {
  new: () => newRing(Date.now()),
  publish: async () => publishKey(await readRing(), Date.now()),
  sign: async () => signWithNewest(await readRing()),
  retire: async () => retireOthers(await readRing()),
};

const name = process.argv[2] ?? '';
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  try {
    const { ring, next } = await command();
    process.stdout.write(`${JSON.stringify(ring)}\n`);
    process.stderr.write(`keys: ${ring.keys.map(({ kid }, at) => (at === 0 ? `${kid} (signs)` : kid)).join(', ')}\n`);
    process.stderr.write(`next: ${next}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
