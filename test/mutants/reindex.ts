/** Seeded defects of reindexing: another site is touched, or a later write is lost. */
import type { Mutant } from './mutant.ts';

const REINDEX = ['test/integration/store/reindex.test.ts'];

export const REINDEXING: readonly Mutant[] = [
  {
    name: 'resource_reindex: an update in between is lost',
    file: 'migrations/functions/resource_reindex.sql',
    find: ' and c.version = r.version for no key update',
    replace: ' for no key update',
    tests: REINDEX,
  },
  {
    name: 'resource_reindex: an update under way is lost',
    file: 'migrations/functions/resource_reindex.sql',
    find: ' and c.version = r.version for no key update',
    replace: ' and c.version = r.version',
    tests: REINDEX,
  },
  {
    name: 'resource_reindex: a patient of another site',
    file: 'migrations/functions/resource_reindex.sql',
    find: "where p.site_id = p_site and p.type = 'Patient'",
    replace: "where p.type = 'Patient'",
    tests: REINDEX,
  },
  {
    name: 'resource_reindex: the patient of a resource of another site',
    file: 'migrations/functions/resource_reindex.sql',
    find: 'where c.site_id = p_site and c.type = r.type and c.id = r.id and c.patient_id',
    replace: 'where c.type = r.type and c.id = r.id and c.patient_id',
    tests: REINDEX,
  },
  {
    name: 'reindex: resources of other sites',
    file: 'edge/store/search/reindex.ts',
    find: 'where r.site_id = $1::uuid and (r.type, r.id) >',
    replace: 'where $1::uuid is not null and (r.type, r.id) >',
    tests: REINDEX,
  },
  {
    name: 'reindex: a step begins where the last one began',
    file: 'edge/fhir/search/reindex.ts',
    find: 'cursor: last === undefined ? cursor : { type: last.type, id: last.id },',
    replace: 'cursor,',
    tests: REINDEX,
  },
  {
    name: 'resource_reindex: numbers that are lost stay lost',
    file: 'migrations/functions/resource_reindex.sql',
    find: 'if r.known is not null then',
    replace: 'if false then',
    tests: REINDEX,
  },
  {
    name: 'resource_reindex: what is stored counts as what a message has said',
    file: 'migrations/functions/resource_reindex.sql',
    find: "false, 'client', r.known",
    replace: "false, 'message', r.known",
    tests: REINDEX,
  },
  {
    name: 'patient_rows_write: a number that was only listed leads once its patient is written again',
    file: 'migrations/functions/patient_rows_write.sql',
    find: 'where is_message or p_is_new or not exists (',
    replace: 'where true or p_is_new or not exists (',
    tests: REINDEX,
  },
];
