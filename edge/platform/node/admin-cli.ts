/** `npm run admin`. */
import process from 'node:process';

import { runAdmin } from './admin-program.ts';
import { ownTerminal } from './program.ts';

process.exitCode = await runAdmin(ownTerminal());
