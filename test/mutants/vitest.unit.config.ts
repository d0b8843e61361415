/** The suite's settings without a database, for defects that unit tests notice. */
import { mergeConfig } from 'vitest/config';

import suite from '../../vitest.config.ts';

const { globalSetup: _, ...test } = suite.test ?? {};
export default mergeConfig({ ...suite, test }, { root: '.' });
