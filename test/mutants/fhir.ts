/** Seeded defects of edge/fhir and its store: another site’s resource, a lost update, a fault that validation lets pass. */
import type { Mutant } from './mutant.ts';

const TWINS = ['test/integration/store/isolation.test.ts'];
const HEADERS = ['test/unit/fhir/headers.test.ts'];
const FAULTS = ['test/unit/fhir/validate/faults.test.ts'];
const ROWS = ['test/unit/store/search/extract.test.ts'];
const CONTRACT = ['test/contract/fhir.test.ts'];
const ROWS_OR_VALUES = ['test/unit/store/search/extract.test.ts', 'test/unit/fhir/search/values.test.ts'];

export const FHIR: readonly Mutant[] = [
  {
    name: 'read: another site’s resource',
    file: 'edge/store/resource-by-id.ts',
    find: 'from resource where site_id = $1::uuid and type = $2 and id = $3::uuid`',
    replace: 'from resource where $1::uuid is not null and type = $2 and id = $3::uuid order by version desc`',
    tests: TWINS,
  },
  {
    name: 'vread: another site’s version',
    file: 'edge/store/resource-by-id.ts',
    find: "const key = 'site_id = $1::uuid and type",
    replace: "const key = '$1::uuid is not null and type",
    tests: TWINS,
  },
  {
    name: 'history: another site’s versions',
    file: 'edge/store/resource-by-id.ts',
    find: '`site_id = ${bind(site)}::uuid and type',
    replace: '`${bind(site)}::uuid is not null and type',
    tests: TWINS,
  },
  {
    name: 'current version: another site’s',
    file: 'edge/store/resource-by-id.ts',
    find: "'select version from resource where site_id = $1::uuid and type = $2 and id = $3::uuid'",
    replace:
      "'select version from resource where $1::uuid is not null and type = $2 and id = $3::uuid order by version desc'",
    tests: TWINS,
  },
  {
    name: 'search: resources of another site',
    file: 'edge/store/search/source.ts',
    find: "`${a}.site_id = ${scope.site} and ${a}.type = '${scope.type}'`",
    replace: "`${a}.type = '${scope.type}'`",
    tests: TWINS,
  },
  {
    name: 'search: patients, reports and studies of another site',
    file: 'edge/store/search/source.ts',
    find: '=> `${a}.site_id = ${scope.site}`;',
    replace: '=> `${a}.site_id is not null and ${scope.site} is not null`;',
    tests: TWINS,
  },
  {
    name: 'search: reports of another site’s study',
    file: 'edge/store/search/kinds/patient.ts',
    find: 'where o.site_id = ${a}_study.site_id and o.study_id',
    replace: 'where o.study_id',
    tests: TWINS,
  },
  {
    name: 'search: the row of another site',
    file: 'edge/store/search/search.ts',
    find: "where x.site_id = ${scope.site} and x.type = '${scope.type}' and x.id = k.id limit 1",
    replace: "where x.type = '${scope.type}' and x.id = k.id order by x.version desc limit 1",
    tests: TWINS,
  },
  {
    name: 'conditional create: the row of another site',
    file: 'edge/store/transaction.ts',
    find: 'and x.site_id = ${site} and x.type = ${type} and x.id = w.id limit 1',
    replace: 'and x.type = ${type} and x.id = w.id order by x.version desc limit 1',
    tests: TWINS,
  },
  {
    name: 'If-Match is ignored',
    file: 'edge/fhir/conditional-headers.ts',
    find: 'return VERSION.test(tag) ? Number(tag) : NO_VERSION;',
    replace: 'return VERSION.test(tag) ? null : NO_VERSION;',
    tests: HEADERS,
  },
  {
    name: 'an If-Match that cannot be read is no condition',
    file: 'edge/fhir/conditional-headers.ts',
    find: "    throw new Fault('malformed', message, { issues: [{ code: 'value', message, at: 'http.If-Match' }] });",
    replace: '    return message === "" ? "any" : null;',
    tests: HEADERS,
  },
  {
    name: 'a tag that we never gave matches',
    file: 'edge/fhir/conditional-headers.ts',
    find: 'Number(tag) : NO_VERSION',
    replace: 'Number(tag) : 1',
    tests: HEADERS,
  },
  {
    name: '304 for another version',
    file: 'edge/fhir/conditional-headers.ts',
    find: 'ENTITY_TAG.exec(tag)?.[1] === String(version)',
    replace: 'ENTITY_TAG.test(tag)',
    tests: HEADERS,
  },
  {
    name: 'validation: an empty sibling array passes',
    file: 'edge/fhir/validate/walk.ts',
    find: ' || sibling?.length === 0',
    replace: '',
    tests: FAULTS,
  },
  {
    name: 'validation: an empty array passes',
    file: 'edge/fhir/validate/walk.ts',
    find: 'value?.length === 0 || sibling',
    replace: 'sibling',
    tests: FAULTS,
  },
  {
    name: 'validation: null passes',
    file: 'edge/fhir/validate/walk.ts',
    find: "if (value === null) return walk.findings.add('structure', `${member} must not be null`);",
    replace: 'if (value === null) return;',
    tests: FAULTS,
  },
  {
    name: 'validation: a required element may be missing',
    file: 'edge/fhir/validate/walk.ts',
    find: "findings.add('required', 'is required', name);",
    replace: 'continue;',
    tests: FAULTS,
  },
  {
    name: 'validation: two choices at once',
    file: 'edge/fhir/validate/walk.ts',
    find: 'else if (other !== element)',
    replace: 'else if (other === undefined)',
    tests: FAULTS,
  },
  {
    name: 'validation: an unknown code',
    file: 'edge/fhir/validate/walk.ts',
    find: 'if (binding !== undefined && !isBound(binding, text)) addUnbound(walk, binding);',
    replace: '',
    tests: FAULTS,
  },
  {
    name: 'validation: an invariant does not hold',
    file: 'edge/fhir/validate/walk.ts',
    find: 'if (result === false) findings',
    replace: 'if (result === null) findings',
    tests: FAULTS,
  },
  {
    name: 'validation: two contained resources with one id',
    file: 'edge/fhir/validate/walk.ts',
    find: "if (typeof id === 'string' && outer.containedIds.has(id))",
    replace: 'if (id === 0)',
    tests: FAULTS,
  },
  {
    name: 'search: a value without its system',
    file: 'edge/store/search/kinds/token.ts',
    find: ".filter(([, system, code]) => system !== '' || code !== '')",
    replace: '',
    tests: ROWS,
  },
  {
    name: 'search: % finds everything',
    file: 'edge/store/search/kinds/name.ts',
    find: "fragment.replace(/[\\\\%_]/g, '\\\\$&')",
    replace: 'fragment',
    tests: CONTRACT,
    only: 'on deno.*name',
  },
  {
    name: 'search: the patient of a reference to another type',
    file: 'edge/store/search/kinds/patient.ts',
    find: 'const REFERENCE = /^Patient',
    replace: 'const REFERENCE = /Patient',
    tests: ROWS_OR_VALUES,
  },
  {
    name: 'search: a preliminary report is completed',
    file: 'edge/store/search/kinds/report-state.ts',
    find: "new Set(['final', 'amended', 'corrected', 'appended'])",
    replace: "new Set(['final', 'amended', 'corrected', 'appended', 'preliminary'])",
    tests: ROWS,
  },
  {
    name: 'search: ge is read as eq of a birth date',
    file: 'edge/store/search/kinds/birthdate.ts',
    find: "if ((prefix ?? 'eq') !== 'eq')",
    replace: "if (prefix === 'never')",
    tests: CONTRACT,
    only: 'on deno.*birthdate=ge',
  },
  {
    name: 'no scope is needed for FHIR',
    file: 'edge/fhir/routes.ts',
    find: `          requireScopes(call.context.caller, [SCOPES[scope](type)]);
`,
    replace: '',
    tests: CONTRACT,
    only: 'on deno.*scope',
  },
];
