import { defineConfig } from 'vitest/config';

import { sized } from './test/stack/tools/size.ts';

// In CI a browser test that cannot run fails; elsewhere it says that it was skipped.
export default defineConfig({
  test: {
    include: ['test/{unit,integration,contract,e2e}/**/*.test.ts'],
    globalSetup: ['test/stack/tools/global-setup.ts'],
    reporters: ['./test/stack/tools/reporter.ts'],
    // Two cores: more workers only wait for each other, and each contract file starts two runtimes.
    maxWorkers: 2,
    testTimeout: sized(30_000, 1_800_000),
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
  },
});
