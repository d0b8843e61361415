import { defineConfig } from 'vitest/config';

import LongestFirst from './test/stack/tools/longest-first.ts';
import { sized } from './test/stack/tools/size.ts';

/**
 * Files that ask a database of their own and have left nothing behind when they end: what they count would otherwise be counted
 * in the next one, since a process has one Neon endpoint.
 */
const SHARING = ['test/integration/{admin,hl7,jobs,store,wall}/**/*.test.ts'];

// In CI a browser test that cannot run fails; elsewhere it says that it was skipped.
export default defineConfig({
  test: {
    reporters: ['./test/stack/tools/reporter.ts'],
    // Two cores, and files that for the most part wait: a third worker uses what these leave.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    teardownTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'gateway',
          include: ['test/{integration,contract,e2e}/**/*.test.ts'],
          exclude: SHARING,
          globalSetup: ['test/stack/tools/global-setup.ts'],
          setupFiles: ['test/stack/tools/watch-answers.ts'],
          testTimeout: sized(30_000, 1_800_000),
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: SHARING,
          globalSetup: ['test/stack/tools/global-setup.ts'],
          // What they load is loaded once for all of them.
          isolate: false,
          testTimeout: sized(30_000, 1_800_000),
          hookTimeout: 60_000,
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
          testTimeout: sized(30_000, 1_800_000),
        },
      },
    ],
  },
});
