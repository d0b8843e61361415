/** Folders that lie side by side never import each other in a circle, directly or through others. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TOP = ['edge', 'migrations', 'shared', 'sidecar', 'test'];

/** A file and a file that it imports, as paths from the root. */
type Import = readonly [file: string, imported: string];

function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) => [
    file,
    normalize(join(dirname(file), path)),
  ]);
}

/** An import between two entries of one folder. */
interface Link {
  readonly parent: string;
  readonly from: string;
  readonly to: string;
  readonly because: Import;
}

/** Entries are folders; of edge/ also its files, such as config.ts. */
const isEntry = (path: string, of: string): boolean => path.length < of.length || dirname(path) === 'edge';

function linkOf(because: Import): Link[] {
  const [file, imported] = because.map((path) => path.split('/'));
  if (file === undefined || imported === undefined) return [];
  const at = file.findIndex((name, index) => name !== imported[index]);
  const [from, to] = [file, imported].map((names) => names.slice(0, at + 1).join('/'));
  if (at < 1 || from === undefined || to === undefined) return [];
  if (!isEntry(from, because[0]) || !isEntry(to, because[1])) return [];
  return [{ parent: dirname(from), from, to, because }];
}

/** The links of a shortest circle through an entry. */
function circleAt(start: string, links: readonly Link[]): readonly Link[] | undefined {
  const seen = new Set<string>();
  let paths: (readonly Link[])[] = links.filter(({ from }) => from === start).map((link) => [link]);
  while (paths.length > 0) {
    const closed = paths.find((path) => path.at(-1)?.to === start);
    if (closed !== undefined) return closed;
    paths = paths.flatMap((path) => {
      const end = path.at(-1)?.to ?? start;
      if (seen.has(end)) return [];
      seen.add(end);
      return links.filter(({ from }) => from === end).map((link) => [...path, link]);
    });
  }
  return undefined;
}

/** By parent folder a shortest circle of its entries, as the imports that make it. */
function circlesOf(imports: readonly Import[]): Record<string, string[]> {
  const circles: Record<string, string[]> = {};
  for (const [parent, links = []] of Map.groupBy(imports.flatMap(linkOf), (link) => link.parent)) {
    const distinct = [...new Map(links.map((link) => [`${link.from} ${link.to}`, link])).values()];
    const [shortest] = [...new Set(distinct.map(({ from }) => from))]
      .map((entry) => circleAt(entry, distinct))
      .filter((circle) => circle !== undefined)
      .toSorted((a, b) => a.length - b.length);
    if (shortest !== undefined) circles[parent] = shortest.map(({ because: [file, to] }) => `${file} imports ${to}`);
  }
  return circles;
}

test('a circle is reported with the imports that make it', () => {
  expect(
    circlesOf([
      ['edge/a/x.ts', 'edge/b/deep/y.ts'],
      ['edge/b/z.ts', 'edge/c/x.ts'],
      ['edge/c/y.ts', 'edge/a/y.ts'],
      ['edge/c/y.ts', 'edge/d/y.ts'],
      ['edge/e/x/x.ts', 'edge/e/y/y.ts'],
      ['edge/e/y/y.ts', 'edge/e/z.ts'],
      ['edge/e/z.ts', 'edge/e/x/z.ts'],
    ]),
  ).toEqual({
    edge: [
      'edge/a/x.ts imports edge/b/deep/y.ts',
      'edge/b/z.ts imports edge/c/x.ts',
      'edge/c/y.ts imports edge/a/y.ts',
    ],
  });
  expect(
    circlesOf([
      ['edge/config.ts', 'edge/admin/staff/x.ts'],
      ['edge/admin/web/x.ts', 'edge/config.ts'],
    ]),
  ).toEqual({ edge: ['edge/config.ts imports edge/admin/staff/x.ts', 'edge/admin/web/x.ts imports edge/config.ts'] });
});

test('imports between two folders have one direction', () => {
  const files = TOP.flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' }).map((name) => join(top, name)),
  ).filter((name) => /\.tsx?$/.test(name));
  const circles = circlesOf(files.flatMap(importsOf));
  expect(circles).toEqual({});
});
