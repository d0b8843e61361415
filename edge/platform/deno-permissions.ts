/** The permissions of the program on Deno: the network, its variables, its assets, and the usual certificate authorities. */
import { VARIABLES } from '../config.ts';

export const DENO_PERMISSIONS: readonly string[] = [
  '--allow-net',
  // Deno itself reads the last variable.
  `--allow-env=${[...Object.keys(VARIABLES), 'DENO_DEPLOYMENT_ID'].join(',')}`,
  '--ignore-env',
  '--allow-sys=ca',
  '--allow-read=dist',
];
