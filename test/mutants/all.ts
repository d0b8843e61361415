/** Every seeded defect, by the room it is in. `npm run mutants -- <room or word>` runs a part. */
import { ADMIN } from './admin.ts';
import { ALERTS } from './alerts.ts';
import { AUDIT } from './audit.ts';
import { BENCH } from './bench.ts';
import { BULK } from './bulk.ts';
import { COST } from './cost.ts';
import { FHIR } from './fhir.ts';
import { HL7 } from './hl7.ts';
import { JOB_RUNNER } from './jobs.ts';
import { MIGRATIONS } from './migrations.ts';
import { METRICS } from './metrics.ts';
import type { Mutant } from './mutant.ts';
import { OAUTH } from './oauth.ts';
import { ORDER } from './order.ts';
import { PATCHES } from './patch.ts';
import { PLATFORM } from './platform.ts';
import { REFERENCE } from './reference.ts';
import { REINDEXING } from './reindex.ts';
import { SHARED } from './shared.ts';
import { SIDECAR } from './sidecar.ts';
import { SORTS } from './sort.ts';
import { SQL } from './sql.ts';
import { US_CORE } from './us-core.ts';
import { WALL_DEFECTS } from './wall.ts';

/**
 * Where a condition on the site is not here, nobody could see it missing: a Client ID is unique in all sites, and so is
 * what is found by it, and a token's `jti` is random.
 */
export const MUTANTS: Readonly<Record<string, readonly Mutant[]>> = {
  shared: SHARED,
  sidecar: SIDECAR,
  platform: PLATFORM,
  sql: SQL,
  migrations: MIGRATIONS,
  jobs: JOB_RUNNER,
  oauth: OAUTH,
  admin: ADMIN,
  audit: AUDIT,
  bench: BENCH,
  bulk: BULK,
  cost: COST,
  metrics: METRICS,
  alerts: ALERTS,
  fhir: FHIR,
  patch: PATCHES,
  sort: SORTS,
  reference: REFERENCE,
  reindex: REINDEXING,
  'us-core': US_CORE,
  hl7: HL7,
  order: ORDER,
  wall: WALL_DEFECTS,
};
