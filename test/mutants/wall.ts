/** Seeded defects of the second wall: roles, policies, and functions that act for the owner. */
import type { Mutant } from './mutant.ts';

const WALL = ['test/integration/wall/second-wall.test.ts'];
const POLICIES = 'migrations/0020_row_security.sql';

export const WALL_DEFECTS: readonly Mutant[] = [
  {
    name: 'wall: a policy that lets all rows through',
    file: POLICIES,
    find: "gateway_app using (site_id = nullif(current_setting(%L, true), %L)::uuid)',",
    replace: "gateway_app using (%L <> %L)',",
    tests: WALL,
  },
  {
    name: 'wall: a table without a policy',
    file: POLICIES,
    find: "'patient_trait', 'study', 'report',",
    replace: "'patient_trait', 'study',",
    tests: WALL,
  },
  {
    name: 'wall: a view of every site',
    file: POLICIES,
    find: "select * from patient_search where site_id = nullif(current_setting('gateway.site', true), '')::uuid;",
    replace: 'select * from patient_search;',
    tests: WALL,
  },
  {
    name: 'wall: jobs of every site',
    file: POLICIES,
    find: 'alter table job enable row level security;',
    replace: '',
    tests: WALL,
  },
  {
    name: 'wall: the audit may be changed',
    file: 'migrations/0017_roles.sql',
    find: 'grant select, insert on audit to',
    replace: 'grant select, insert, update on audit to',
    tests: WALL,
  },
  {
    name: 'wall: what came in a message may be changed',
    file: 'migrations/0017_roles.sql',
    find: 'update (outcome, ack, errors, has_failed) on hl7_message',
    replace: 'update on hl7_message',
    tests: WALL,
  },
  {
    name: 'wall: anybody calls what acts for the owner',
    file: 'migrations/role.ts',
    find: 'await client.query(`revoke execute on function ${names} from public`);',
    replace: '',
    tests: WALL,
  },
  {
    name: 'wall: what acts for the owner finds tables elsewhere',
    file: 'migrations/functions/client_find.sql',
    find: 'set search_path = public, pg_temp\n',
    replace: '',
    tests: WALL,
  },
  {
    name: 'wall: a login that the wall does not hold is ready',
    file: 'edge/probes.ts',
    find: 'if (!isWalled)',
    replace: 'if (!isWalled && missing.length > 0)',
    tests: ['test/integration/probes.test.ts'],
  },
];
