/**
 * Collects the static files of the console, the documentation and the API reference in `dist/assets`. They include
 * libraries, so that a browser loads nothing from another host. Wrangler runs it before it bundles; run it before Deno starts.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';

import { renderDocs } from './build-docs.ts';

const ROOT = new URL('../../../', import.meta.url);

/** The name below `dist/assets`, and the source. */
const FILES: Readonly<Record<string, string>> = {
  'console.css': 'edge/admin/web/assets/console.css',
  'console.js': 'edge/admin/web/assets/console.js',
  'keys.js': 'edge/admin/web/assets/keys.js',
  'docs.js': 'edge/admin/web/assets/docs.js',
  'icon.svg': 'edge/admin/web/assets/icon.svg',
  'minisearch.js': 'node_modules/minisearch/dist/umd/index.js',
  'reference.css': 'edge/admin/web/assets/reference.css',
  'reference.js': 'edge/admin/web/assets/reference.js',
  'reference-token.js': 'edge/admin/web/assets/reference-token.js',
  'swagger-ui.css': 'node_modules/swagger-ui-dist/swagger-ui.css',
  'swagger-ui.js': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
  'traffic.js': 'edge/admin/web/assets/traffic.js',
  'workbench.js': 'edge/admin/web/assets/workbench.js',
  'uplot.css': 'node_modules/uplot/dist/uPlot.min.css',
  'uplot.js': 'node_modules/uplot/dist/uPlot.iife.min.js',
};

/** Scripts with the modules that they import. */
const BUNDLES: Readonly<Record<string, string>> = {
  'site-file.js': 'edge/admin/web/assets/site-file.js',
  'try.js': 'edge/admin/web/assets/try.js',
};

async function bundle(source: string): Promise<Buffer> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(source, ROOT))],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    write: false,
  });
  return Buffer.from(outputFiles[0]?.contents ?? []);
}

/** Files are replaced atomically, since another process may be serving them. */
export async function buildAssets(): Promise<void> {
  const folder = new URL('dist/assets/', ROOT);
  await mkdir(folder, { recursive: true });
  const copied = Object.entries(FILES).map(
    async ([name, source]) => [name, await readFile(new URL(source, ROOT))] as const,
  );
  const bundled = Object.entries(BUNDLES).map(async ([name, source]) => [name, await bundle(source)] as const);
  const rendered = Object.entries(await renderDocs()).map(([name, text]) => [name, Buffer.from(text)] as const);
  const files = [...(await Promise.all([...copied, ...bundled])), ...rendered];
  // A fragment is part of a page, which is compressed when it is sent.
  const compressed = files
    .filter(([name]) => !name.endsWith('.fragment'))
    .map(([name, content]) => [`${name}.gz`, gzipSync(content, { level: 9 })] as const);
  for (const [name, content] of [...files, ...compressed]) {
    const target = new URL(name, folder);
    const present = await readFile(target).catch(() => undefined);
    if (present?.equals(content) === true) continue;
    const temporary = new URL(`../${randomUUID()}`, folder);
    await writeFile(temporary, content);
    await rename(temporary, target);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAssets();
