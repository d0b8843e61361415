/**
 * Properties are tried with the same inputs in each run of `npm test`: whether it is red depends on the code alone, not on the
 * day. New inputs each time are for `npm run test:full`, which tells the seed of what it finds; `TEST_SEED` takes another one.
 */
import fc from 'fast-check';

import { seed } from './size.ts';

if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
