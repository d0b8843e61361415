/** What the program on Deno may do: use the network, read its own variables and its assets, and trust the usual authorities. */
import { VARIABLES } from '../config.ts';

export const DENO_PERMISSIONS: readonly string[] = [
  '--allow-net',
  // Deno asks for the last one by itself.
  `--allow-env=${[...Object.keys(VARIABLES), 'DENO_DEPLOYMENT_ID'].join(',')}`,
  '--ignore-env',
  '--allow-sys=ca',
  '--allow-read=dist',
];
