/**
 * The application's role: what a login must be a member of to be the gateway's (edge/docs/deploy.md). It
 * owns nothing. What it may do with the tables of a release stands in the numbered files; here is what it may do with what
 * the runner makes.
 */
import type { Client } from 'pg';
import type { FunctionFile } from './files.ts';

/** Fixed, since policies and grants name it; the login, which an operator makes, may have any name. */
export const APPLICATION_ROLE = 'gateway_app';

/** Roles belong to the whole server: another database there may have made it, or make it at this moment. */
const MAKE_ROLE = `do $$
begin
  if not exists (select from pg_roles where rolname = '${APPLICATION_ROLE}') then
    create role ${APPLICATION_ROLE} nologin;
  end if;
exception when duplicate_object or unique_violation then
  null;
end $$`;

/** @throws an Error of PostgreSQL when the role is not there and the owner may not create roles */
export async function makeRole(client: Client): Promise<void> {
  await client.query(MAKE_ROLE);
  await client.query(`grant usage on schema public to ${APPLICATION_ROLE}`);
}

/** It asks what the schema has, and calls our functions, which nobody else may: some of them act with the owner's rights. */
export async function grantSchema(client: Client, functions: readonly FunctionFile[]): Promise<void> {
  await client.query(`grant select on schema_migration, schema_function to ${APPLICATION_ROLE}`);
  if (functions.length === 0) return;
  const names = functions.map((file) => file.function).join(', ');
  await client.query(`revoke execute on function ${names} from public`);
  await client.query(`grant execute on function ${names} to ${APPLICATION_ROLE}`);
}
