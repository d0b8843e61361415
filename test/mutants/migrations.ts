/** Seeded defects of the migration runner, and of what a database must say before it counts as ready. */
import type { Mutant } from './mutant.ts';

const RUNNER = ['test/integration/migrations.test.ts'];
const SCHEMA = ['test/integration/schema.test.ts'];
const PROBES = ['test/integration/probes.test.ts'];

export const MIGRATIONS: readonly Mutant[] = [
  {
    name: 'a function with other arguments becomes an overload',
    file: 'migrations/functions.ts',
    find: 'counts.get(file.function) !== 1',
    replace: 'counts.get(file.function) === 0',
    tests: RUNNER,
  },
  {
    name: 'every function is applied each time',
    file: 'migrations/functions.ts',
    find: 'applied.get(file.function) !== file.checksum || !existing',
    replace: 'applied.get(file.function) !== undefined || !existing',
    tests: RUNNER,
  },
  {
    name: 'an older checkout passes over the functions of a newer release',
    file: 'migrations/functions.ts',
    find: 'left.length > 0',
    replace: 'left.length > 99',
    tests: RUNNER,
  },
  {
    name: 'a function’s body is never checked',
    file: 'migrations/functions.ts',
    find: '  for (const file of due) await runFile(client, file);\n',
    replace: '',
    tests: RUNNER,
  },
  {
    name: 'a database of other migrations is taken for one of these',
    file: 'migrations/numbered.ts',
    find: 'file.name !== row.name',
    replace: 'file.name === undefined',
    tests: RUNNER,
  },
  {
    name: 'a function that stores loses a setting of its plans',
    file: 'migrations/functions/hl7_take.sql',
    find: 'set enable_seqscan = off\n',
    replace: '',
    tests: SCHEMA,
  },
  {
    name: 'a database without a function that is called is ready',
    file: 'edge/probes.ts',
    find: 'missing.length > 0',
    replace: 'missing.length > 99',
    tests: PROBES,
  },
];
