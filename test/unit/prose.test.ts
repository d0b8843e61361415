/** The prose check finds sentences and comments where they are, and judges names, titles and texts by their own rules. */
import { describe, expect, test } from 'vitest';

import { check, sentencesOf } from '../prose/run.ts';

const found = (file: string, source: string): string[] =>
  check(file, source).map(({ line, found: phrase }) => `${line}: ${phrase}`);
const long = (words: number): string => Array.from({ length: words }, (_, at) => 'abcdefghij'[at % 10]).join(' ');

test('abbreviations, versions and sections do not end a sentence', () => {
  const text = 'A key (e.g. RSA, RFC 7518 §3.1, v2.5.1) signs. See edge/app.ts for it.';
  expect(sentencesOf(text).map((sentence) => sentence.text)).toEqual([
    'A key (e.g. RSA, RFC 7518 §3.1, v2.5.1) signs.',
    'See edge/app.ts for it.',
  ]);
});

describe('a phrase of the table is found', () => {
  test.each([
    ['in a docstring', 'edge/a.ts', '/**\n * The sender\n * is told.\n */\n', ['3: told']],
    ['over two lines of a comment', 'edge/a.ts', '  // One of its\n  // own.\n', ['1: of its own']],
    ['in a text', 'edge/a.tsx', 'const a = <p title="x">Nobody is here</p>;', ['1: Nobody']],
    ['around an interpolation', 'edge/a.ts', 'throw new Fault(`one ${a.told} was told of ${b}`);', ['1: told']],
    ['in a name', 'edge/a.ts', 'interface A {\n  wasTold: string;\n}\n', ['2: wasTold']],
    ['in the name of a file', 'edge/key-words.ts', '', ['1: key-words']],
    [
      'in a title',
      'test/unit/a.test.ts',
      "test.each([['nobody is told']])('%s is told', () => 'nobody is told');",
      ['1: told', '1: nobody', '1: told'],
    ],
    [
      'in the name of a row',
      'test/unit/a.test.ts',
      "test.each([{ what: 'it is told to us', told: 'nobody is here' }])('$what', () => 1);",
      ['1: told'],
    ],
    ['in SQL', 'migrations/a.sql', "-- Fine.\nraise exception 'it''s told to us';\n", ['2: told']],
    ['in CSS', 'edge/a.css', 'a {\n  /* It stands still. */\n}\n', ['2: stands']],
    ['in Python', 'test/a.py', '"""It is told."""\ntold = 1\n# It is told.\n', ['1: told', '3: told']],
    ['in Java', 'test/a.java', '/** It is told. */\nint told; // told\n', ['1: told']],
    ['in Markdown', 'README.md', '# Told\n\n```\ntold\n```\n\nA [told](told) `told`.\n', ['1: Told', '7: told']],
  ])('%s', (_, file, source, phrases) => expect(found(file, source)).toEqual(phrases));
});

test('code, SQL, attributes and the data of tests are not prose', () => {
  expect(
    found('edge/a.tsx', "const a = <p class=\"told is told\">x</p>, b = 'select told from nobody', c = 'told';"),
  ).toEqual([]);
  expect(found('test/unit/a.test.ts', "expect('nobody is told').toBe(1);")).toEqual([]);
});

test('a sentence has at most 25 words, in an error 20', () => {
  const short = [`// ${long(25)}.`, `const a = '${long(25)}';`, `new Fault('${long(20)}');`].join('\n');
  expect(found('edge/a.ts', short)).toEqual([]);
  const source = [`// ${long(26)}.`, `new Fault('a', '${long(21)}');`].join('\n');
  expect(found('edge/a.ts', source)).toEqual([
    '1: 26 words: a b c d e f g h i j a b c d e f g h i j …',
    '2: 21 words: a b c d e f g h i j a b c d e f g h i j …',
  ]);
});

test('a fragment is found at the start of a sentence, but not in a question or a heading', () => {
  expect(found('edge/a.ts', '// It works. Whether it does.\n')).toEqual(['1: Whether it does.…']);
  expect(found('README.md', '## What it is\n\nWhat is it?\n')).toEqual([]);
});

test('prose-allow excepts a word or the length of a sentence, and nothing else', () => {
  expect(found('edge/a.ts', '// prose-allow: told\n// It is told to somebody.\n')).toEqual(['2: somebody']);
  expect(found('edge/a.ts', `// prose-allow: sentence\n\n// ${long(26)}.\n`)).toHaveLength(1);
  expect(found('edge/a.ts', `f(); // prose-allow: sentence\n/* ${long(26)}. */\n`)).toEqual([]);
});
