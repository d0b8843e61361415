/** Seeded defects of the audit: an access without its row, or a row that does not say whom it concerned. */
import type { Mutant } from './mutant.ts';

const HL7 = ['test/integration/hl7/audit.test.ts'];
const FHIR = ['test/contract/fhir.test.ts'];
const LOOK_UPS = ['test/integration/store/look-ups.test.ts'];
const WHOLE = ['test/integration/store/whole.test.ts'];
const ONLY_DENO = 'on deno.*audit';

export const AUDIT: readonly Mutant[] = [
  {
    name: 'a number finds the patients of other sites',
    file: 'edge/store/admin-audit.ts',
    find: 'where n.site_id = ${ofSite} and n.value',
    replace: 'where ${ofSite} is not null and n.value',
    tests: ['test/integration/store/admin-isolation.test.ts'],
    only: 'the audit of a number',
  },
  {
    name: 'whose audit was read by a number is not on record',
    file: 'edge/store/admin-audit.ts',
    find: "where audit_note(array['audit-viewed Patient ' || x.id])",
    replace: 'where x.id is not null',
    tests: ['test/contract/admin-audit.test.ts'],
    only: 'on deno.*is searched',
  },
  {
    name: 'a message that is stored has no row',
    file: 'migrations/functions/hl7_take.sql',
    find: '  ignored := audit_add(p_site, m.audit);\n',
    replace: '',
    tests: HL7,
  },
  {
    name: 'the workbench shows what is stored to whoever makes a message up',
    file: 'edge/hl7/ingest/dry-run.ts',
    find: 'if (sent?.was_sent === true) {',
    replace: 'if (sent !== undefined) {',
    tests: HL7,
  },
  {
    name: 'a search has the row after its page too',
    file: 'edge/store/page.ts',
    find: 's.place <= ${reader.limit}',
    replace: 's.place > 0',
    tests: FHIR,
    only: ONLY_DENO,
  },
  {
    name: 'a read of one statement has no row',
    file: 'migrations/functions/fhir_read.sql',
    find: 'if is_shown then',
    replace: 'if false then',
    tests: WHOLE,
  },
  {
    name: 'a read of one statement has a row also where nothing is shown',
    file: 'migrations/functions/fhir_read.sql',
    find: 'if is_shown then',
    replace: 'if true then',
    tests: WHOLE,
  },
  {
    name: 'a search of one statement has the row after its page too',
    file: 'migrations/functions/fhir_find.sql',
    find: 'elsif shown is null or cardinality(shown) < p_limit then',
    replace: 'else',
    tests: WHOLE,
  },
  {
    name: 'a search of a patient with a great many finds what another patient has',
    file: 'migrations/functions/fhir_find.sql',
    find: 'from step s where s.of_patient = s.with_token limit',
    replace: 'from step s limit',
    tests: WHOLE,
  },
  {
    name: 'a search of a patient with a great many stops where two of them follow each other',
    file: 'migrations/functions/fhir_find.sql',
    find: 't.id >= s.of_patient and t.id > s.with_token',
    replace: 't.id > s.of_patient and t.id > s.with_token',
    tests: WHOLE,
  },
  {
    name: 'whom an access concerned is looked for among all',
    file: 'edge/store/admin-audit.ts',
    find: 'select * from audit_here where cardinality',
    replace: 'select * from audit where cardinality',
    tests: LOOK_UPS,
  },
  {
    name: 'a result of a patient is looked for among all of the patient',
    file: 'migrations/functions/hl7_known.sql',
    find: "where t.type in ('Observation', 'DiagnosticReport') offset 0) k",
    replace: "where t.type in ('Observation', 'DiagnosticReport')) k",
    tests: LOOK_UPS,
  },
  {
    name: 'a write of one statement has no row',
    file: 'migrations/functions/fhir_write.sql',
    find: "nullif(current_setting('gateway.audit', true), '')",
    replace: 'null',
    tests: WHOLE,
  },
  {
    name: 'an access to a resource does not say whom it is about',
    file: 'migrations/functions/audit_write.sql',
    find: 'then word[3:3] else word[4:4] end',
    replace: 'then word[3:3] end',
    tests: WHOLE,
  },
  {
    name: 'a change of patient concerns the new one alone',
    file: 'migrations/functions/resource_write.sql',
    find: 'if cur.patient_id is distinct from r.patient then',
    replace: 'if false then',
    tests: FHIR,
    only: ONLY_DENO,
  },
];
