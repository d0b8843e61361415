/**
 * A database made ready as an operator does it (edge/docs/deploy.md): the owner migrates it and makes the login that the
 * gateway connects by.
 */
import { migrate } from '../../../migrations/run.ts';

const LOGIN = 'gateway_edge';

/** The application's connection string to the owner's database; the login has the owner's password. */
export function asApplication(ownerUrl: string): string {
  const url = new URL(ownerUrl);
  url.username = LOGIN;
  return url.href;
}

/** @returns the application's connection string */
export async function prepareDatabase(ownerUrl: string): Promise<string> {
  const login = asApplication(ownerUrl);
  await migrate(ownerUrl, { login });
  return login;
}
