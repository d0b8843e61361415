/** The linter's rules. That no folders import each other in a circle is a test: test/unit/folder-circles.test.ts. */

/** The folders of edge/, each with those that it may import. platform may import all of them. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  store: ['members'],
  // Programs and requests that integrators see.
  examples: [],
  members: [],
  http: ['store'],
  jobs: ['store'],
  metrics: ['http', 'store'],
  alerts: ['jobs', 'http', 'store'],
  oauth: ['http', 'store'],
  // oauth/bearer.ts only: ONLY_BEARER. hl7/match/match.ts only: ONLY_MATCH.
  fhir: ['oauth', 'hl7', 'jobs', 'http', 'store'],
  hl7: ['members', 'oauth', 'jobs', 'http', 'store'],
  // edge/workbench.ts passes functions of the other slices in.
  admin: ['members', 'examples', 'http', 'store'],
  // The API reference is made from tables of the slices.
  openapi: ['oauth', 'fhir', 'hl7', 'admin', 'examples', 'http', 'store'],
};
const NAMES = [...Object.keys(ROOMS), 'platform'];

const closed = (regex: string, message: string) => ({ regex, message });
const ONLY_BEARER = { group: ['**/oauth/*', '!**/oauth/bearer.ts'], message: 'of edge/oauth import bearer.ts only' };
const ONLY_MATCH = {
  group: ['**/hl7/**', '!**/shared/hl7/**', '!**/hl7/match/match.ts'],
  message: 'of edge/hl7 import match/match.ts only',
};
const NO_NODE = closed('^node:', 'import node: only in edge/platform, migrations, sidecar and test');
const OUTSIDE = closed('\\.\\./(?:sidecar|migrations|test)/', 'edge imports only edge and shared');

const restrict = (files: readonly string[], ...patterns: readonly object[]) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns }] },
});

/** Folders inside a room that have the name of another room, such as edge/admin/alerts. */
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
      `of the folders of edge, edge/${room} may import ${open.join(', ') || 'none'}`,
    ),
    ...(room !== 'openapi' && open.includes('oauth') ? [ONLY_BEARER] : []),
    ...(room === 'fhir' ? [ONLY_MATCH] : []),
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
  jsPlugins: ['./test/lint/linear-expressions.ts'],
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
    {
      files: ['edge/**', 'migrations/**', 'shared/**', 'sidecar/**'],
      rules: { 'gateway/linear-expression': 'error' },
    },
    // Tests and scripts read files of the repository and answers that they asked for: no client chooses these inputs. So
    // quadratic time and built expressions are harmless there; exponential time would hang them.
    { files: ['test/**', '*.ts'], rules: { 'gateway/polynomial-expression': 'error' } },
    restrict(
      ['shared/**'],
      closed(
        '\\.\\./(?:edge|sidecar|test|migrations)/|^node:',
        'shared is pure: it imports neither node: nor another folder',
      ),
    ),
    restrict(['sidecar/**'], closed('\\.\\./(?:edge|test|migrations)/', 'sidecar imports only shared')),
    restrict(['migrations/**'], closed('\\.\\./(?:edge|sidecar|test)/', 'migrations import only shared')),
    restrict(
      ['edge/**'],
      closed('\\./platform/|\\.\\./app\\.ts$', 'only edge/platform imports a runtime and app.ts'),
      NO_NODE,
      OUTSIDE,
    ),
    // Every room imports them.
    restrict(
      ['edge/config.ts', 'edge/deps.ts'],
      closed('^\\./[^/]+/', 'edge/config.ts and edge/deps.ts import no room'),
      NO_NODE,
      OUTSIDE,
    ),
    restrict(['edge/platform/**'], OUTSIDE),
    ...rooms,
    ...testRooms,
  ],
};
