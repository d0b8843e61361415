import { defineConfig } from 'vitest/config';

import LongestFirst from './test/stack/tools/longest-first.ts';
import { sized } from './test/stack/tools/size.ts';

/** Of this run, for its workers: which ports are theirs (test/stack/services/free-port.ts). */
process.env['TEST_RUN'] = String(process.pid);

/**
 * Files that ask a database of their own and have left nothing behind when they end: what they count would otherwise be counted
 * in the next one, since a process has one Neon endpoint.
 */
const SHARING = ['test/integration/{admin,hl7,jobs,store,wall}/**/*.test.ts'];

/** Files that need a process of their own: they set its Neon endpoint, or a certificate that Miniflare reads when it is loaded. */
const ALONE = [
  'test/integration/*.test.ts',
  'test/integration/{oauth,platform,stack}/**/*.test.ts',
  'test/contract/{admin-jwks-uri,alerts,oauth-jwks-uri}.test.ts',
  'test/e2e/outages.test.ts',
];

/**
 * For what hangs: no test takes as long, also on a machine that does ten other things, where ten seconds' work lasts a
 * minute and a half.
 */
const TIMES = { testTimeout: sized(120_000, 1_800_000), hookTimeout: 120_000 };

/** Inputs at random are the same in each run (test/stack/tools/same-inputs.ts). */
const SETUP = 'test/stack/tools/same-inputs.ts';

/** What all but unit tests have: one PostgreSQL for all projects, and time for what they start. */
const STACKS = { globalSetup: ['test/stack/tools/global-setup.ts'], ...TIMES };

// In CI a browser test that cannot run fails; elsewhere it says that it was skipped.
export default defineConfig({
  test: {
    reporters: ['./test/stack/tools/reporter.ts'],
    // Two cores, and files that wait for much of their time: more workers use what these leave.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    teardownTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          ...STACKS,
          name: 'gateway',
          include: ['test/{contract,e2e}/**/*.test.ts'],
          exclude: ALONE,
          setupFiles: [SETUP, 'test/stack/tools/watch-answers.ts'],
          // They talk to programs that they start and end; what the tests themselves load is loaded once for many files.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { ...STACKS, name: 'alone', include: ALONE, setupFiles: [SETUP, 'test/stack/tools/watch-answers.ts'] },
      },
      {
        extends: true,
        test: {
          ...STACKS,
          name: 'database',
          include: SHARING,
          setupFiles: [SETUP],
          // What they load is loaded once for all of them.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          // They start nothing and share nothing, so that what they load is loaded once for all of them.
          pool: 'threads',
          isolate: false,
          setupFiles: [SETUP],
          ...TIMES,
        },
      },
    ],
  },
});
