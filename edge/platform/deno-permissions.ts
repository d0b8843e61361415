/** The permissions of the program on Deno: the network, its variables, its assets, and the usual certificate authorities. */
import { VARIABLES } from '../config.ts';

/** By their first words, so that the program also sees a misspelt name: `FHIR_*`, `HOST`. */
const READABLE = new Set(Object.keys(VARIABLES).map((name) => name.replace(/_.*/, '_*')));

export const DENO_PERMISSIONS: readonly string[] = [
  '--allow-net',
  // Deno itself reads the last variable.
  `--allow-env=${[...READABLE, 'DENO_DEPLOYMENT_ID'].join(',')}`,
  '--ignore-env',
  '--allow-sys=ca',
  '--allow-read=dist',
];
