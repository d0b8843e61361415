/** What every page of the console needs. */
import type { Deps } from '../../deps.ts';
import type { Access } from '../staff/access.ts';

/** Without the database: pages use the one that Access returns, which asserts the session in the same transaction. */
export type AdminDeps = Omit<Deps, 'database'>;

export interface Console {
  readonly deps: AdminDeps;
  readonly access: Access;
}
