/** The login that the gateway connects with: a member of the application's role that owns nothing. */
import type { Client } from 'pg';

import { PLANS_OFF, STATEMENT_TIMEOUT } from '../shared/login-settings.ts';
import { APPLICATION_ROLE } from './role.ts';

/**
 * Creates the login of a connection string, or gives an existing login the password, the membership and the time limit.
 *
 * @throws an Error, and changes nothing, if row-level security would not apply to the login
 */
export async function makeLogin(client: Client, connectionString: string): Promise<void> {
  const { username, password } = URL.canParse(connectionString)
    ? new URL(connectionString)
    : { username: '', password: '' };
  const name = decodeURIComponent(username);
  if (name === '')
    throw new Error(
      'LOGIN_URL names no user: expected postgres://user:password@host/database, where a special character of the ' +
        'password is percent-encoded, such as %2F for /',
    );
  const { rows } = await client.query<{ isOwner: boolean; isFree: boolean; isMember: boolean }>(
    `select pg_has_role(oid, current_user, 'member') as "isOwner", rolsuper or rolbypassrls as "isFree",
            pg_has_role(oid, $2, 'member') as "isMember"
     from pg_roles where rolname = $1`,
    [name, APPLICATION_ROLE],
  );
  const [present] = rows;
  if (present !== undefined && (present.isOwner || present.isFree))
    throw new Error(
      `LOGIN_URL: ${name} is an owner or an administrator, so row-level security would not apply. Choose another name.`,
    );
  const login = client.escapeIdentifier(name);
  const secret = password === '' ? '' : `password ${client.escapeLiteral(decodeURIComponent(password))}`;
  await client.query(`${present === undefined ? 'create' : 'alter'} role ${login} login ${secret}`);
  if (!present?.isMember) await client.query(`grant ${APPLICATION_ROLE} to ${login}`);
  await client.query(`alter role ${login} set statement_timeout = '${STATEMENT_TIMEOUT}'`);
  for (const setting of PLANS_OFF) await client.query(`alter role ${login} set ${setting} = off`);
}
