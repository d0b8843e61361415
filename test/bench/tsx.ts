/** Lets Node import the console's pages (.tsx) in later imports. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

import { transformSync } from 'esbuild';

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('.tsx')) return next(url, context);
    const options = { loader: 'tsx', jsx: 'automatic', jsxImportSource: 'hono/jsx', format: 'esm' } as const;
    const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), options);
    return { format: 'module', source: code, shortCircuit: true };
  },
});
