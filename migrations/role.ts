/**
 * The application's role, of which the gateway's login must be a member (edge/docs/deploy.md). It owns nothing. The numbered
 * files grant rights on their tables; this file grants rights on the objects that the runner creates.
 */
import type { Client } from 'pg';
import type { FunctionFile } from './files.ts';

/** Fixed, since policies and grants name it; the operator's login may have any name. */
export const APPLICATION_ROLE = 'gateway_app';

/** Roles belong to the server: another database may have created it, or may create it concurrently. */
const MAKE_ROLE = `do $$
begin
  if not exists (select from pg_roles where rolname = '${APPLICATION_ROLE}') then
    create role ${APPLICATION_ROLE} nologin;
  end if;
exception when duplicate_object or unique_violation then
  null;
end $$`;

/** @throws PostgreSQL's error if the role does not exist and the owner may not create roles */
export async function makeRole(client: Client): Promise<void> {
  await client.query(MAKE_ROLE);
  await client.query(`grant usage on schema public to ${APPLICATION_ROLE}`);
}

/** The role may read the state of the schema and call the functions. No other role may: some act with the owner's rights. */
export async function grantSchema(client: Client, functions: readonly FunctionFile[]): Promise<void> {
  await client.query(`grant select on schema_migration, schema_function to ${APPLICATION_ROLE}`);
  if (functions.length === 0) return;
  const names = functions.map((file) => file.function).join(', ');
  await client.query(`revoke execute on function ${names} from public`);
  await client.query(`grant execute on function ${names} to ${APPLICATION_ROLE}`);
}
