/** The documentation is complete and leads somewhere: variables, permissions, commands, links and paths. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';

import { describe, expect, test } from 'vitest';

import { PERMISSIONS } from '../../edge/permissions.ts';
import { CHAPTERS, SEARCH_INDEX } from '../../edge/docs/contents.ts';
import { anchorOf, renderDocs } from '../../edge/platform/node/build-docs.ts';
import { generatedConfiguration } from '../generate-configuration.ts';
import { generatedExamples } from '../generate-examples.ts';
import {
  COMMAND_BLOCKS,
  NOT_RUN,
  ON_DEPLOYMENT,
  ON_LOCAL_STACK,
  ON_TWO_PROCESSES,
  ON_USED_DEPLOYMENT,
} from '../inputs/documented-commands.ts';
import { ROOT } from '../stack/services/build.ts';

const text = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const pages = ['README.md', 'CHANGELOG.md', ...CHAPTERS.map(({ page }) => `edge/docs/${page}.md`)];
const all = pages.map(text).join('\n');

test('README is short', () => {
  expect(text('README.md').split('\n').length).toBeLessThanOrEqual(150);
});

test('every page of the folder is a chapter', async () => {
  const files = (await readdir(`${ROOT}edge/docs`)).filter((name) => name.endsWith('.md'));
  expect(files.sort()).toEqual(CHAPTERS.map(({ page }) => `${page}.md`).sort());
});

test.each([generatedConfiguration, generatedExamples])('the pages of %o are up to date', async (generate) => {
  for (const [path, content] of Object.entries(await generate())) expect(text(path), path).toBe(content);
});

test('every permission is explained, and the addresses that the OpenID provider redirects to', () => {
  const deploy = text('edge/docs/deploy.md');
  const rows = deploy.replaceAll(/ +\|/g, ' |');
  const missing = Object.entries(PERMISSIONS).filter(([name, does]) => !rows.includes(`| \`${name}\` | ${does} |`));
  expect(missing).toEqual([]);
  expect(deploy).toContain('/admin/callback');
  expect(deploy).toContain('/admin/signed-out');
});

/** Every `](address)` of a page that leads into the repository. */
const linksOf = (page: string): string[] =>
  [...text(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href).filter((href) => !/^https?:/.test(href));

/** The headings of a page as anchors; code blocks have none. */
const anchorsOf = (page: string): string[] =>
  [
    ...text(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#{1,4} (.*)$/gm),
  ].map(([, heading = '']) => anchorOf(heading.replaceAll('`', '')));

test.each(pages)('every link of %s leads to a file and a heading', (page) => {
  const folder = page.includes('/') ? page.replace(/[^/]*$/, '') : '';
  const dead = linksOf(page).filter((href) => {
    const [path = '', anchor] = href.split('#');
    const target = path === '' ? page : `${folder}${path}`;
    if (!existsSync(`${ROOT}${target}`)) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(dead).toEqual([]);
});

test('every path of the repository that is named exists', () => {
  const paths = [...all.matchAll(/(?<=[`\s])((?:edge|shared|sidecar|migrations|test)\/[\w./-]*\w)/g)].map(
    ([, path = '']) => path,
  );
  // Names of files that a reader adds.
  const examples = new Set(['edge/hl7/mapping/segments/zxx.ts', 'migrations/functions/name.sql']);
  expect(paths.filter((path) => !examples.has(path) && !existsSync(`${ROOT}${path}`))).toEqual([]);
});

/** The help of a program in one line. */
const usage = async (program: string): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [`edge/platform/node/${program}`, '--help'], {
    cwd: ROOT,
  });
  return stdout.replaceAll(/\s+/g, ' ');
};

test('every command that the documentation or a program names exists, with its subcommand', async () => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
  const programs = (await readdir(`${ROOT}edge/platform/node`)).filter((name) => name.endsWith('.ts'));
  const sources = ['edge/oauth/ring-rotation.ts', ...programs.map((name) => `edge/platform/node/${name}`)];
  const named = [
    ...[all, ...sources.map(text)]
      .join('\n')
      .matchAll(/npm run (?:-s )?([a-z:]+)(?: -- ([a-z-]+(?: (?:create|update|show|list|disable|enable))?))?/g),
  ];
  expect(named.length).toBeGreaterThan(40);
  const usages: Readonly<Record<string, string>> = {
    keys: await usage('keys-cli.ts'),
    admin: await usage('admin-cli.ts'),
  };
  const unknown = named.filter(
    ([, script = '', sub]) =>
      !Object.hasOwn(scripts, script) || (sub !== undefined && usages[script]?.includes(`-- ${sub} `) === false),
  );
  expect(unknown.map(([whole]) => whole)).toEqual([]);
});

test('one test runs the commands of each section, or a reason is given', () => {
  const sections = new Set(COMMAND_BLOCKS.map(({ page, heading }) => `${page}, ${heading}`));
  const named = [
    ...ON_LOCAL_STACK,
    ...ON_DEPLOYMENT,
    ...ON_USED_DEPLOYMENT,
    ...ON_TWO_PROCESSES,
    ...Object.keys(NOT_RUN),
  ];
  expect(named.toSorted()).toEqual([...sections].toSorted());
});

test('every block of commands is shell', async () => {
  const faults = await Promise.all(
    COMMAND_BLOCKS.map(({ text: block }) =>
      promisify(execFile)('bash', ['-n', '-c', block]).then(
        () => undefined,
        (error: unknown) => `${block}${String(error)}`,
      ),
    ),
  );
  expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
});

describe('the rendered chapters', async () => {
  const rendered = await renderDocs();

  test('have an anchor for every heading, and links without .md', () => {
    for (const { page } of CHAPTERS) {
      const html = rendered[`docs-${page}.fragment`] ?? '';
      const anchors = [...html.matchAll(/<h[1-4] id="([^"]*)"/g)].map(([, anchor]) => anchor);
      expect(anchors, page).toEqual(anchorsOf(`edge/docs/${page}.md`));
      expect(html).not.toMatch(/href="[a-z]+\.md/);
    }
  });

  test('do not have two headings with one anchor', () => {
    for (const { page } of CHAPTERS) {
      const anchors = anchorsOf(`edge/docs/${page}.md`);
      expect(new Set(anchors).size, page).toBe(anchors.length);
    }
  });

  test('are searched by sections', () => {
    expect(rendered[SEARCH_INDEX]).toContain('concepts#glossary');
  });
});
