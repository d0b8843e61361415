import { defineConfig } from 'vitest/config';

import LongestFirst from './test/stack/tools/longest-first.ts';
import { sized } from './test/stack/tools/size.ts';

/** The id of this run, by which its workers choose their ports (test/stack/services/free-port.ts). */
process.env['TEST_RUN'] = String(process.pid);

/**
 * Files that start a separate database and stop all work before they end. A process has one Neon endpoint, so the next file
 * would otherwise count their requests.
 */
const SHARING = [
  'test/integration/*.test.ts',
  'test/integration/{admin,hl7,jobs,oauth,platform,store,wall}/**/*.test.ts',
];

/** Files that need a separate process: they set its Neon endpoint, or a certificate that Miniflare reads when it is loaded. */
const ALONE = [
  'test/integration/stack/**/*.test.ts',
  'test/contract/{admin-jwks-uri,alerts,fhir-subscriptions,hl7-exactly-once,oauth-jwks-uri}.test.ts',
  'test/e2e/outages.test.ts',
];

/**
 * Files that `npm test` leaves out: long stories, large inputs and programs of others. CI and `npm run test:long` run them
 * in the same small form, and `npm run test:full` in its full form.
 */
const LONG = [
  'test/contract/{database-away,hl7-exactly-once,hl7-scans}.test.ts',
  'test/e2e/{box,deploy-chapter,key-examples,reference-samples,sidecar-faults,sidecar-limits}.test.ts',
  'test/e2e/console/{audit,feeds,keys,messages,rules,workbench}.test.ts',
  'test/integration/hl7/{many-results,night,permutations,simulator}.test.ts',
  'test/integration/stack/postgres.test.ts',
  'test/integration/store/{fhir-plans,message-plans}.test.ts',
  'test/unit/growth.test.ts',
];

/** Files of `npm run test:full` alone. */
const FULL = sized(['test/contract/{memory,cost}.test.ts', 'test/e2e/outages.test.ts'], []);

/**
 * Only a test that hangs reaches these limits. On a machine with ten other programs, ten seconds of work last a minute
 * and a half.
 */
const TIMES = {
  testTimeout: sized(120_000, 1_800_000),
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
};

/** Random inputs are equal in each run (test/stack/tools/same-inputs.ts). */
const SETUP = 'test/stack/tools/same-inputs.ts';

/** Also compares every answer to a contract test with the API reference. */
const WATCHING = [SETUP, 'test/stack/tools/watch-answers.ts'];

/** All projects except the unit tests share one PostgreSQL, and have time for the programs that they start. */
const STACKS = { globalSetup: ['test/stack/tools/global-setup.ts'], ...TIMES };

/** A project whose files each have a process. */
const separately = (name: string, include: string[], exclude: string[]) => ({
  extends: true as const,
  test: { ...STACKS, name, include, exclude, setupFiles: WATCHING },
});

// In CI, a browser test that cannot run fails; elsewhere it is reported as skipped.
export default defineConfig({
  test: {
    reporters: ['./test/stack/tools/reporter.ts'],
    // Files wait for much of their time, so four workers use two cores fully.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    teardownTimeout: 20_000,
    // Node's fetch throws it outside of any promise if a connection ends before a test has read the whole answer
    // (https://github.com/nodejs/undici/issues/5360).
    onUnhandledError: ({ name, stack }) => name !== 'AssertionError' || stack?.includes('Parser.finish') !== true,
    projects: [
      {
        extends: true,
        test: {
          ...STACKS,
          name: 'gateway',
          include: ['test/{contract,e2e}/**/*.test.ts'],
          exclude: [...ALONE, ...LONG, ...FULL],
          setupFiles: WATCHING,
          // They use programs that they start and end, so one worker can load the shared modules once for many files.
          isolate: false,
        },
      },
      separately('alone', ALONE, [...LONG, ...FULL]),
      separately('long', LONG, []),
      {
        extends: true,
        test: {
          ...STACKS,
          name: 'database',
          include: SHARING,
          exclude: LONG,
          setupFiles: [SETUP],
          // One worker loads the shared modules once for all files.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          exclude: LONG,
          // They start nothing and share no state, so one worker can load the shared modules once for all files.
          pool: 'threads',
          isolate: false,
          setupFiles: [SETUP],
          ...TIMES,
        },
      },
    ],
  },
});
