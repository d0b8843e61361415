/** Comments cite what a reader can open: sections of edge/docs/behaviour.md that exist, and no document that is not here. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['edge', 'shared', 'sidecar', 'migrations', 'test'];
const OWN_NAME = 'test/unit/citations.test.ts';

const sources = [
  'wrangler.toml',
  'vitest.config.ts',
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      // While `npm start` runs, Wrangler has files here.
      .filter((name) => /\.(?:tsx?|js|css|sql|toml)$/.test(name) && !name.includes('.wrangler'))
      .map((name) => `${folder}/${name}`),
  ),
].filter((name) => name !== OWN_NAME);

/** A file's text with its comments' lines joined, so that a citation may be cut by the end of a line. */
const textOf = (name: string): string =>
  readFileSync(join(ROOT, name), 'utf8').replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/|--|#)?[ \t]*/g, ' ');

const sections = readFileSync(join(ROOT, 'edge/docs/behaviour.md'), 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('## ') ? [line.slice(3)] : []));

describe('comments', () => {
  it('cite sections of edge/docs/behaviour.md that exist', () => {
    const unknown = sources.flatMap((name) =>
      [...textOf(name).matchAll(/edge\/docs\/behaviour\.md(.{0,60})/g)]
        .filter(([, rest = '']) => !sections.some((section) => new RegExp(`^, ${section}(?!\\w)`).test(rest)))
        .map(([citation]) => `${name}: ${citation}`),
    );
    expect(unknown).toEqual([]);
  });

  it('cite no document that is not in the repository', () => {
    const dead = sources.flatMap((name) =>
      [...textOf(name).matchAll(/[\w./-]+\.md\b/g)]
        .map(([path]) => path)
        .filter(
          (path) => ![path, `edge/${path}`, `edge/docs/${path}`].some((candidate) => existsSync(join(ROOT, candidate))),
        )
        .map((path) => `${name}: ${path}`),
    );
    expect(dead).toEqual([]);
  });

  it('cite no decision, issue or list that only its authors have seen', () => {
    const phrases = /design decisions?\b|decisions(?:,? section)? §|\bissue ["#]/g;
    const dead = sources.flatMap((name) => [...textOf(name).matchAll(phrases)].map(([phrase]) => `${name}: ${phrase}`));
    expect(dead).toEqual([]);
  });
});
