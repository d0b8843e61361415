/** `npm run -s token [client]`: an access token for a client of the running local stack, to paste into a command. */
import { readFile } from 'node:fs/promises';

import { getToken } from './client.ts';
import { STACK_FILE, type StackDescription } from './local.ts';

const name = process.argv[2] ?? 'demo';
const stack = JSON.parse(await readFile(STACK_FILE, 'utf8')) as StackDescription;
const client = stack.clients.find((candidate) => candidate.name === name);
if (client === undefined) {
  process.stderr.write(`no client ${name}; there are ${stack.clients.map((each) => each.name).join(', ')}\n`);
  process.exit(1);
}
process.stdout.write(await getToken(stack.oauthBaseUrl, client));
