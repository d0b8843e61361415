/** What every page of the console is made with. */
import type { Deps } from '../../deps.ts';
import type { Access } from '../staff/access.ts';
import type { Workbench } from '../workbench/workbench.ts';

/** Without the database: a page asks it as its visitor may (Access), so that none is shown to a session that has ended. */
export type AdminDeps = Omit<Deps, 'database'>;

export interface Console {
  readonly deps: AdminDeps;
  readonly workbench: Workbench;
  readonly access: Access;
}
