/** Seeded defects of bulk exports: what is not as of its moment, and what is shown to whom it must not be. */
import type { Mutant } from './mutant.ts';

const STORE = ['test/integration/store/bulk-export.test.ts'];
const APART = ['test/integration/store/isolation.test.ts'];
const FHIR = ['test/contract/fhir.test.ts'];
const ONLY_DENO = 'on deno.*bulk data';
const STEP = 'migrations/functions/bulk_export_step.sql';
const VERSION = 'migrations/functions/resource_version_at.sql';

export const BULK: readonly Mutant[] = [
  {
    name: 'bulk: what is still being written is not waited for',
    file: STEP,
    find: 'if pg_snapshot_xmin(pg_current_snapshot())::text::bigint < e.begun_by then',
    replace: 'if false then',
    tests: STORE,
  },
  {
    name: 'bulk: a writer reads the clock before it can be seen',
    file: 'migrations/functions/write_time.sql',
    find: '  writer xid8 := pg_current_xact_id();\n',
    replace: '',
    tests: STORE,
  },
  {
    name: 'bulk: writers between the id and the moment',
    file: 'migrations/functions/bulk_export_begin.sql',
    find: 'if pg_current_xact_id_if_assigned() is not null then',
    replace: 'if false then',
    tests: STORE,
  },
  {
    name: 'bulk: the millisecond of the moment is in no export',
    file: 'edge/store/bulk-export.ts',
    find: ` - interval '1 millisecond'`,
    replace: '',
    tests: STORE,
  },
  {
    name: 'bulk: what was written later is in it',
    file: VERSION,
    find: 'p_patient where p_last_updated < p_at',
    replace: 'p_patient where true',
    tests: STORE,
  },
  {
    name: 'bulk: not the newest version of before',
    file: VERSION,
    find: 'order by h.version desc',
    replace: 'order by h.version',
    tests: FHIR,
    only: ONLY_DENO,
  },
  {
    name: 'bulk: a version of another site',
    file: VERSION,
    find: 'and h.site_id = p_site and',
    replace: 'and',
    tests: APART,
  },
  {
    name: 'bulk: a page of every site',
    file: 'edge/store/bulk-export.ts',
    find: 'const key = `c.site_id = ${ofSite} and',
    replace: 'const key = `',
    tests: APART,
  },
  {
    name: 'bulk: two who ask at once find files twice',
    file: STEP,
    find: '     for update skip locked;',
    replace: ';',
    tests: STORE,
  },
  {
    name: 'bulk: an export is of every key of the site',
    file: 'edge/store/bulk-export.ts',
    find: ' and e.client_id = ${client}`;',
    replace: " and ${client} <> ''`;",
    tests: FHIR,
    only: ONLY_DENO,
  },
  {
    name: 'bulk: a file needs no scope',
    file: 'edge/fhir/bulk/file.ts',
    find: '    requireScopes(caller, file.types.map(readScope));\n',
    replace: '',
    tests: FHIR,
    only: ONLY_DENO,
  },
  {
    name: 'bulk: a cancelled export is read to its end',
    file: 'edge/fhir/bulk/file.ts',
    find: 'if (standing === undefined) throw noExport();',
    replace: '',
    tests: FHIR,
    only: ONLY_DENO,
  },
  {
    name: 'bulk: a revoked token reads to the end',
    file: 'edge/fhir/bulk/file.ts',
    find: '      assertCaller(caller),\n',
    replace: "      assertCaller({ ...caller, tokenId: '' }),\n",
    tests: FHIR,
    only: ONLY_DENO,
  },
  {
    name: 'bulk: handling=lenient drops the filter by patient',
    file: 'edge/fhir/bulk/parameters.ts',
    find: `if (name === 'patient') throw`,
    replace: `if (name === 'patient' && !isLenient) throw`,
    tests: FHIR,
    only: ONLY_DENO,
  },
  {
    name: 'bulk: an export of patients has what is of nobody',
    file: 'edge/store/bulk-export.ts',
    find: `file.of_patients && type !== 'Patient' ?`,
    replace: 'false ?',
    tests: FHIR,
    only: ONLY_DENO,
  },
  {
    name: 'bulk: a file that was shown is not in the audit',
    file: 'edge/store/bulk-export.ts',
    find: 'when f.number is not null and',
    replace: 'when false and',
    tests: FHIR,
    only: ONLY_DENO,
  },
  {
    name: 'bulk: exports outlive the patient who was erased',
    file: 'migrations/functions/patient_erase.sql',
    find: '    delete from bulk_export x where x.site_id = p_site;\n',
    replace: '',
    tests: ['test/integration/store/patient-erasure.test.ts'],
  },
  {
    name: 'bulk: who looks for a patient in the audit finds no exports',
    file: 'edge/store/admin-audit.ts',
    find: "`a.action = 'export'`",
    replace: "'false'",
    tests: ['test/contract/admin-audit.test.ts'],
  },
];
