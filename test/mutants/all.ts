/** Every seeded defect, by the room it is in. `npm run mutants -- <room or word>` runs a part. */
import type { Mutant } from './mutant.ts';
import { PLATFORM } from './platform.ts';
import { SHARED } from './shared.ts';
import { SIDECAR } from './sidecar.ts';
import { SQL } from './sql.ts';

export const MUTANTS: Readonly<Record<string, readonly Mutant[]>> = {
  shared: SHARED,
  sidecar: SIDECAR,
  platform: PLATFORM,
  sql: SQL,
};
