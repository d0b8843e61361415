/** `npm run reset`: forgets everything the local stack keeps. */
import { rm } from 'node:fs/promises';

import { helpOn } from '../../../edge/platform/node/program.ts';
import { LOCAL_FOLDER, readPorts } from './local.ts';
import { assertPortsFree } from './ports.ts';

helpOn('usage: npm run reset\n\nForgets everything that `npm start` keeps.');
await assertPortsFree(readPorts(process.env)).catch(() => {
  process.stderr.write('The local stack seems to be running: stop it first (Ctrl-C).\n');
  process.exit(1);
});
await rm(LOCAL_FOLDER, { recursive: true, force: true });
process.stdout.write(`${LOCAL_FOLDER} is gone; npm start makes a new one.\n`);
