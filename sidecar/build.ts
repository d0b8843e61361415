/** `node sidecar/build.ts` builds the sidecar as one file, dist/mllp-sidecar.mjs, that requires only Node 24. */
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

await build({
  entryPoints: [path('main.ts')],
  outfile: path('../dist/mllp-sidecar.mjs'),
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Two of the packages are CommonJS and load Node's modules with `require`.
  banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
});
