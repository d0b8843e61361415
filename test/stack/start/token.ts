/**
 * Prints credentials for a command. `npm run -s token [client]` prints an access token for a client of the running local
 * stack, `npm run -s assertion [client]` the signed client assertion with which the client requests one. `npm run -s token admin`
 * prints the Bearer token of an administrator for `/admin/api`.
 */
import { runProgram, UsageError } from '../../../edge/platform/node/program.ts';
import { clientAssertion, getToken } from '../services/client.ts';
import { connectionError, readStack } from './local.ts';

const USAGE = `usage: npm run -s token [CLIENT|admin]
       npm run -s assertion [CLIENT]            default: demo`;

await runProgram(USAGE, async () => {
  const [what, name = 'demo'] = process.argv.slice(2);
  const { adminToken, clients, oauthBaseUrl } = await readStack();
  if (what === 'token' && name === 'admin') {
    process.stdout.write(adminToken);
    return;
  }
  const client = clients.find((candidate) => candidate.name === name);
  if (client === undefined)
    throw new UsageError(`no client ${name}; there are ${clients.map((each) => each.name).join(', ')}`);
  try {
    process.stdout.write(
      what === 'assertion'
        ? await clientAssertion(client, `${oauthBaseUrl}/oauth2/token`)
        : await getToken(oauthBaseUrl, client),
    );
  } catch (error) {
    throw connectionError(error);
  }
});
