/** Seeded defects of US Core's searches: a rule of R4 that is not kept, half an answer, a patient shown to who may not see it. */
import type { Mutant } from './mutant.ts';

const MODEL = ['test/integration/store/us-core-search.test.ts'];
const CONTRACT = ['test/contract/fhir-us-core.test.ts'];
const REINDEX = ['test/integration/store/reindex.test.ts'];
const DATE = 'edge/store/search/kinds/date.ts';
const BIRTH = 'edge/store/search/kinds/birth-range.ts';
const BEHIND = 'an older release';
const ON_DENO = 'on deno';

const date = (name: string, find: string, replace: string): Mutant => ({
  name: `date: ${name}`,
  file: DATE,
  find,
  replace,
  tests: MODEL,
  only: 'Observation',
});
const birth = (name: string, find: string, replace: string): Mutant => ({
  name: `birthdate: ${name}`,
  file: BIRTH,
  find,
  replace,
  tests: MODEL,
  only: 'Patient',
});

export const US_CORE: readonly Mutant[] = [
  date(
    'eq finds what only begins then',
    'and ${a} >= ${asked(s)} and ${b} <= ${asked(e)}`;',
    'and ${a} >= ${asked(s)}`;',
  ),
  date('ne finds only what begins before', '(${a} < ${asked(s)} or ${b} > ${asked(e)})', '(${a} < ${asked(s)})'),
  date(
    'gt needs to begin after',
    "near('before_at', '>', e)} and ${b} > ${asked(e)}`;",
    "near('before_at', '>', e)} and ${a} > ${asked(e)}`;",
  ),
  date('sa is gt', 'and ${a} >= ${asked(e)}`;', 'and ${b} > ${asked(e)}`;'),
  date('eb is lt', 'and ${b} <= ${asked(s)}`;', 'and ${a} < ${asked(s)}`;'),
  date('what has no zone is of UTC', 'const zone = `(select search_zone(${scope.site}))`;', "const zone = `'UTC'`;"),
  date(
    'an open Period ends where it begins',
    "before === null ? 'infinity' :",
    'before === null ? rowOf(param, { from, before: from })[2] :',
  ),
  date('the index knows no other zones', 'const ZONES_APART_MS = 36 * 3_600_000;', 'const ZONES_APART_MS = 0;'),
  birth(
    'a year is its first day',
    '[4, 7].filter((length) => length < date.length)',
    '[4, 7].filter((length) => length > date.length)',
  ),
  birth('eb finds what contains the day', 'span(FIRST, starts, containing(starts))', 'span(FIRST, starts)'),
  birth('what has none is before all', "const FIRST = '0';", "const FIRST = '';"),
  {
    name: 'search: :missing of what was updated stays',
    file: 'edge/store/search/extract.ts',
    find: 'filter((name) => !having.has(name))',
    replace: 'filter((name) => having.has(name))',
    tests: MODEL,
    only: 'Observation',
  },
  {
    name: 'search: what is not all indexed is answered by half',
    file: 'edge/store/search/selection.ts',
    find: 'generation === FIRST_GENERATION ? []',
    replace: 'generation >= FIRST_GENERATION ? []',
    tests: REINDEX,
    only: BEHIND,
  },
  {
    name: 'search_require: another site’s',
    file: 'migrations/functions/search_require.sql',
    find: 'where b.site_id = p_site and b.generation',
    replace: 'where b.generation',
    tests: REINDEX,
    only: BEHIND,
  },
  {
    name: 'resource_write: an older release is not noticed',
    file: 'migrations/functions/resource_write.sql',
    find: '  if lags then',
    replace: '  if false then',
    tests: REINDEX,
    only: BEHIND,
  },
  {
    name: 'search_lag: what an older release writes during a reindexing is forgotten',
    file: 'migrations/functions/search_lag.sql',
    find: ', filling = null;',
    replace: ';',
    tests: REINDEX,
    only: BEHIND,
  },
  {
    name: 'search_lag: a reindexing does not wait for who is writing',
    file: 'migrations/functions/search_lag.sql',
    find: 'b.filling is null for share;',
    replace: 'b.filling is null;',
    tests: REINDEX,
    only: BEHIND,
  },
  {
    name: 'reindex: complete whatever an older release has written meanwhile',
    file: 'edge/store/search/reindex.ts',
    find: '\n    where site_id = ${site}::uuid and filling = ${GENERATION}::integer`;',
    replace: '\n    where site_id = ${site}::uuid`;',
    tests: REINDEX,
    only: BEHIND,
  },
  {
    name: '_include: patients for who may not read them',
    file: 'edge/fhir/search/search.ts',
    find: "requireScopes(context.caller, [readScope('Patient')]);",
    replace: 'requireScopes(context.caller, []);',
    tests: CONTRACT,
    only: `${ON_DENO}.*scope`,
  },
  {
    name: '_include: not in the audit',
    file: 'edge/store/page.ts',
    find: "union all select ${auditLine(action, 'i')} from i) s)",
    replace: 'union all select null from i) s)',
    tests: CONTRACT,
    only: `${ON_DENO}.*audit`,
  },
  {
    name: '_include: patients weigh nothing',
    file: 'edge/store/page.ts',
    find: 'octet_length(p.body) + octet_length(p.meta) + ${bytes}`',
    replace: 'octet_length(p.body) + octet_length(p.meta) + 0 * ${bytes}`',
    tests: CONTRACT,
    only: `${ON_DENO}.*weighs`,
  },
  {
    name: 'search: :not finds what has the value',
    file: 'edge/fhir/search/criterion-of.ts',
    find: "return modifier?.kind === 'not' ? { kind: 'not', of: criterion } : criterion;",
    replace: 'return criterion;',
    tests: CONTRACT,
    only: `${ON_DENO}.*:not=`,
  },
  {
    name: 'search: :exact does not look at capitals',
    file: 'edge/store/search/kinds/exact-name.ts',
    find: 'string => name.replaceAll(',
    replace: 'string => name.toLowerCase().replaceAll(',
    tests: CONTRACT,
    only: `${ON_DENO}.*:exact`,
  },
  {
    name: 'search: a condition takes a day for an instant',
    file: 'edge/fhir/search/request.ts',
    find: "prefix !== 'eq' || range.isLocal",
    replace: "prefix !== 'eq'",
    tests: CONTRACT,
    only: `${ON_DENO}.*are refused: what they mean`,
  },
  {
    name: 'search: the listed parameters take modifiers',
    file: 'edge/fhir/search/named-parameter.ts',
    find: "const known = set === 'us-core' ? modifierOf(base, parameter, modifier) : undefined;",
    replace: 'const known = modifierOf(base, parameter, modifier);',
    tests: ['test/contract/fhir.test.ts'],
    only: `${ON_DENO}.*refuses, naming the parameter`,
  },
];
