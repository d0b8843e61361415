/** The dependencies of the console's pages. */
import type { Deps } from '../../deps.ts';
import type { Access } from '../staff/access.ts';
import type { SealedQueries } from './sealed-query.ts';

/** Without the database: pages use the database of Access, which asserts the session in each transaction. */
export type AdminDeps = Omit<Deps, 'database'>;

export interface Console {
  readonly deps: AdminDeps;
  readonly access: Access;
  readonly queries: SealedQueries;
}
