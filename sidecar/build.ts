/** `node sidecar/build.ts`: the sidecar as one file, dist/mllp-sidecar.mjs, that needs nothing but Node 24. */
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
  // Two of the packages are CommonJS and ask for Node's modules by `require`.
  banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
});
