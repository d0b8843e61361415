/** The linter's rules. What may import what is a table: a room of the house that is not in a row's list is closed to it. */

/** The rooms of edge/ and what each may import of the others; platform may import everything. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  store: [],
  // The programs and requests that integrators are shown.
  examples: [],
  http: ['store'],
  jobs: ['store'],
  metrics: ['http', 'store'],
  alerts: ['jobs', 'http', 'store'],
  oauth: ['jobs', 'http', 'store'],
  // Of oauth only the bearer check: see ONLY_BEARER.
  fhir: ['oauth', 'jobs', 'http', 'store'],
  hl7: ['oauth', 'jobs', 'http', 'store'],
  // Is given what other slices can do (edge/workbench.ts).
  admin: ['jobs', 'http', 'store', 'examples'],
  // Made of the slices' tables.
  openapi: ['oauth', 'fhir', 'hl7', 'admin', 'http', 'store', 'examples'],
};
const NAMES = [...Object.keys(ROOMS), 'platform'];

const closed = (regex: string, message: string) => ({ regex, message });
const ONLY_BEARER = { group: ['**/oauth/*', '!**/oauth/bearer.ts'], message: 'of oauth only bearer.ts' };
const NO_NODE = closed('^node:', 'node: only in platform, migrations, sidecar and test');
const OUTSIDE = closed('\\.\\./(?:sidecar|migrations|test)/', 'edge imports edge and shared only');

const restrict = (files: readonly string[], ...patterns: readonly object[]) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns }] },
});

/** Folders in a room that are called as another room is: one step up from beside them they are the room's own. */
const NAMESAKES: Readonly<Record<string, readonly string[]>> = { admin: ['alerts'] };

const rooms = Object.entries(ROOMS).map(([room, open]) => {
  const others = NAMES.filter((name) => name !== room && !open.includes(name));
  const namesakes = NAMESAKES[room] ?? [];
  const plain = others.filter((name) => !namesakes.includes(name));
  const twice = namesakes.map((name) => `|\\.\\./\\.\\./${name}/`).join('');
  return restrict(
    [`edge/${room}/**`],
    closed(
      `\\.\\./(?:${plain.join('|')})/|\\.\\./app\\.ts$${twice}`,
      `edge/${room} imports of edge ${open.join(', ') || 'no room'}`,
    ),
    ...(room !== 'openapi' && open.includes('oauth') ? [ONLY_BEARER] : []),
    NO_NODE,
    OUTSIDE,
  );
});

/** The folders of test/ and what each may import of the others; `contract` is a black box, which imports no source. */
const TEST_ROOMS: Readonly<Record<string, readonly string[]>> = {
  stack: [],
  inputs: ['stack'],
  bench: ['inputs', 'stack'],
  fuzz: ['inputs', 'stack'],
  mutants: ['stack'],
  contract: ['fuzz', 'inputs', 'stack'],
  integration: ['contract', 'inputs', 'stack'],
  e2e: ['inputs', 'stack'],
  unit: ['bench', 'inputs', 'mutants', 'stack'],
};

const testRooms = Object.entries(TEST_ROOMS).map(([room, open]) => {
  const others = Object.keys(TEST_ROOMS).filter((name) => name !== room && !open.includes(name));
  const sources = room === 'contract' ? '|edge|migrations|shared|sidecar' : '';
  return restrict(
    [`test/${room}/**`],
    closed(
      `^(?:\\.\\./)+(?:${others.join('|')}${sources})/`,
      `test/${room} imports of test ${open.join(', ') || 'no folder'}${sources && ', and no source'}`,
    ),
  );
});

export default {
  plugins: ['typescript', 'import', 'unicorn', 'oxc'],
  categories: { correctness: 'error', suspicious: 'warn' },
  ignorePatterns: ['**/*.generated.*', 'node_modules', 'dist', '.wrangler', '.local'],
  rules: {
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    // Types too: a circle of types is as hard to read as one of values.
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'no-console': 'error',
    eqeqeq: ['error', 'smart'],
    'no-shadow': 'off',
    'no-await-in-loop': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'import/no-unassigned-import': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/consistent-return': 'off',
    'import/no-named-as-default-member': 'off',
    'import/no-named-as-default': 'off',
  },
  overrides: [
    { files: ['test/**', 'migrations/**'], rules: { 'no-console': 'off' } },
    restrict(
      ['shared/**'],
      closed('\\.\\./(?:edge|sidecar|test|migrations)/|^node:', 'shared/ is pure: no I/O, no other folder'),
    ),
    restrict(['sidecar/**'], closed('\\.\\./(?:edge|test|migrations)/', 'the sidecar imports shared/ only')),
    restrict(['migrations/**'], closed('\\.\\./(?:edge|sidecar|test)/', 'migrations import shared/ only')),
    restrict(
      ['edge/**'],
      closed('\\./platform/|\\.\\./app\\.ts$', 'nothing but its entry knows a runtime'),
      NO_NODE,
      OUTSIDE,
    ),
    restrict(['edge/platform/**'], OUTSIDE),
    ...rooms,
    ...testRooms,
  ],
};
