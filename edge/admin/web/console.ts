/** What every page of the console is made with. */
import type { Deps } from '../../deps.ts';
import type { Access } from '../staff/access.ts';
import type { Workbench } from '../workbench/workbench.ts';

export interface Console {
  readonly deps: Deps;
  readonly workbench: Workbench;
  readonly access: Access;
}
