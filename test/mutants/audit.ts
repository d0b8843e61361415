/** Seeded defects of the audit: an access without its row, or a row that does not say whom it concerned. */
import type { Mutant } from './mutant.ts';

const HL7 = ['test/integration/hl7/audit.test.ts'];
const FHIR = ['test/contract/fhir.test.ts'];
const ONLY_DENO = 'on deno.*audit';

export const AUDIT: readonly Mutant[] = [
  {
    name: 'a message that is stored has no row',
    file: 'migrations/functions/hl7_take.sql',
    find: '  perform audit_add(p_site, m.audit);\n',
    replace: '',
    tests: HL7,
  },
  {
    name: 'the workbench shows what is stored to whoever makes a message up',
    file: 'edge/hl7/ingest/dry-run.ts',
    find: 'if (sent?.was_sent === true || effects.resources.length === 0) {',
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
    name: 'a change of patient concerns the new one alone',
    file: 'migrations/functions/resource_write.sql',
    find: 'if cur.patient_id is distinct from r.patient then',
    replace: 'if false then',
    tests: FHIR,
    only: ONLY_DENO,
  },
];
