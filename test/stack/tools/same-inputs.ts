/**
 * Properties have the same inputs in each run of `npm test`, so that its result depends on the code alone. `npm run test:full`
 * uses new inputs each time and prints the seed of a failure; `TEST_SEED` sets a seed.
 */
import fc from 'fast-check';

import { seed } from './size.ts';

if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
