/**
 * Prints credentials for a command. `npm run -s token [client]` prints an access token for a client of the running local
 * stack, `npm run -s assertion [client]` the signed client assertion with which the client requests one. `npm run -s token admin`
 * prints the Bearer token of an administrator for `/admin/api`.
 */
import { readFile } from 'node:fs/promises';

import { helpOn } from '../../../edge/platform/node/program.ts';
import { clientAssertion, getToken } from '../services/client.ts';
import { STACK_FILE, type StackDescription } from './local.ts';

helpOn('usage: npm run -s token [CLIENT|admin]\n       npm run -s assertion [CLIENT]            default: demo');

const [what, name = 'demo'] = process.argv.slice(2);
const stack = JSON.parse(await readFile(STACK_FILE, 'utf8')) as StackDescription;
if (what === 'token' && name === 'admin') {
  process.stdout.write(stack.adminToken);
  process.exit(0);
}
const client = stack.clients.find((candidate) => candidate.name === name);
if (client === undefined) {
  process.stderr.write(`no client ${name}; there are ${stack.clients.map((each) => each.name).join(', ')}\n`);
  process.exit(1);
}
process.stdout.write(
  what === 'assertion'
    ? await clientAssertion(client, `${stack.oauthBaseUrl}/oauth2/token`)
    : await getToken(stack.oauthBaseUrl, client),
);
