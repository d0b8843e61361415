/** Secrets and patient data stay out of git: what documented commands and downloads leave is outside of the clone, or ignored. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { ROOT } from '../stack/services/build.ts';

const textOf = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

const DOCUMENTS = globSync(['*.md', '{edge/docs,migrations,test/messages}/*.md'], { cwd: ROOT });
/** Documented commands, line by line: the blocks of documents, and the output of programs. */
const blocks = DOCUMENTS.flatMap((path) =>
  [...textOf(path).matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].map(([, block = '']) => block),
);
const programs = globSync(['edge/platform/node/*-cli.ts', 'edge/admin/keys/*.ts', 'edge/admin/web/assets/keys.js'], {
  cwd: ROOT,
}).map(textOf);
const commands = [...blocks, ...programs].join('\n');

/** Neither a secret nor about a patient. */
const HARMLESS = new Set(['FOLDER']);

const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name);
const outputs = [
  ...found(blocks.join('\n'), /(?<![-=\d])> ?("[^"\n]+"|[\w./~$-]+)/g),
  ...found(commands, /(?:^| )(?:-o|-out|--output|tee) ("[^"\n]+"|[\w./~$-]+)/gm),
  ...found(commands, /keys -- (?:client|deployment) ("[^"\n]+"|[\w./~$-]+)/g).map((folder) => `${folder}/private.pem`),
  ...found(commands, /\bsave\('([\w.]+)'/g),
  ...globSync('edge/admin/**/*.{ts,tsx}', { cwd: ROOT }).flatMap((path) =>
    found(textOf(path), /filename="([\w.]+|messages\.\$\{type\})"/g).flatMap((name) =>
      name.includes('$') ? ['messages.csv', 'messages.ndjson'] : [name],
    ),
  ),
].map((name) => name.replaceAll('"', ''));

const isOutside = (path: string): boolean => {
  const [, variable] = /^\$\{?(\w+)(?::\?\})?\//.exec(path) ?? [];
  if (variable === undefined) return path.startsWith('~/') || path.startsWith('/');
  const values = found(commands, new RegExp(`\\b${variable}=("[^"\\n]+"|[^\\s;]+)`, 'g')).map((value) =>
    value.replaceAll('"', ''),
  );
  return values.length > 0 && values.every((value) => value.startsWith('$(mktemp') || isOutside(`${value}/`));
};

const isIgnored = (path: string): boolean => {
  try {
    execFileSync('git', ['check-ignore', '--quiet', '--no-index', path], { cwd: ROOT });
    return true;
  } catch {
    return false;
  }
};

test('git ignores the files that documented commands and downloads create in the clone', () => {
  expect(outputs).toEqual(
    expect.arrayContaining(['$RINGS/2.json', '$DRILL/backup.dump', '$SECRETS/production/private.pem', 'private.pem']),
  );
  expect(outputs).toEqual(expect.arrayContaining(['messages.csv', 'messages.ndjson', 'audit.ndjson']));
  const open = outputs.filter((name) => !HARMLESS.has(name.split('/')[0] ?? '') && !HARMLESS.has(name));
  expect(open.filter((name) => !isOutside(name) && !isIgnored(name))).toEqual([]);
});

test('ignores files of older commands, and the folder of the local stack', () => {
  const left = [
    'ring.json',
    'ring4.json',
    'backup.dump',
    'audit.ndjson',
    'production/edge.json',
    'staging/gateway.env',
  ];
  const more = [
    '.dev.vars',
    '.dev.vars.staging',
    '.local/stack.json',
    'laboratory/private.pem',
    'private.json',
    'a/tls.key',
  ];
  expect([...left, ...more].filter((name) => !isIgnored(name))).toEqual([]);
});

test('nothing that is committed is ignored', () => {
  const committed = execFileSync('git', ['ls-files', '--cached', '--ignored', '--exclude-standard'], { cwd: ROOT });
  expect(committed.toString()).toBe('');
});
