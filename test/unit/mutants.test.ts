/** The seeds of `npm run mutants`: the operators, and rules that name symbols and tests which exist. */
import { existsSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { mutationsOf, ruleMutations, sample } from '../mutants/choose.ts';
import { applyMutation } from '../mutants/mutation.ts';
import { RULES } from '../mutants/rules.ts';
import { sqlDefects } from '../mutants/sql.ts';
import { typescriptMutations } from '../mutants/typescript.ts';
import { ROOT } from '../stack/services/build.ts';

test.each(RULES)('$file has the symbols and the tests of its rule', ({ file, symbols, tests }) => {
  const mutated = new Set(existsSync(ROOT + file) ? mutationsOf(file).map(({ symbol }) => symbol) : []);
  expect(symbols.filter((symbol) => !mutated.has(symbol))).toEqual([]);
  expect(tests.filter((each) => !existsSync(ROOT + each))).toEqual([]);
});

test('no file has two rules', () => {
  const files = RULES.map(({ file }) => file);
  expect(files.filter((file, at) => files.indexOf(file) !== at)).toEqual([]);
});

test('every operator leaves the rest of the file as it was', () => {
  for (const mutation of ruleMutations().filter((_, at) => at % 50 === 0)) {
    const before = 'x'.repeat(mutation.start);
    expect(applyMutation(`${before}${'y'.repeat(mutation.end - mutation.start)}z`, mutation)).toBe(
      `${before}${mutation.replacement}z`,
    );
  }
});

describe('defects in TypeScript', () => {
  const defects = (text: string): string[] =>
    typescriptMutations('a.ts', text).map((mutation) => applyMutation(text, mutation));

  test.each<[string, string, string]>([
    [
      'skips a guard',
      'function f(a) { if (a > 1) return 2; return 3; }',
      'function f(a) { if (false) return 2; return 3; }',
    ],
    ['negates a condition', 'const f = (a) => (a ? 1 : 2);', 'const f = (a) => (!(a) ? 1 : 2);'],
    ['drops an operand', 'const f = (a, b) => a && b;', 'const f = (a, b) => b;'],
    ['turns a comparison', 'const f = (a) => a <= 3;', 'const f = (a) => a < 3;'],
    ['drops a call', 'function f() { check(); }', 'function f() { ; }'],
    ['drops the first entry of a list', "const a = ['b', 'c'];", "const a = ['c'];"],
    ['drops the last entry of a list', "const a = ['b', 'c'];", "const a = ['b'];"],
    ['turns a quantifier', 'const f = (a) => a.every(g);', 'const f = (a) => a.some(g);'],
    ['drops a filter', 'const f = (a) => a.filter(g);', 'const f = (a) => a;'],
    [
      'drops a condition of SQL',
      'const q = `select 1 where site_id = $1 and id = $2`;',
      'const q = `select 1 where  id = $2`;',
    ],
  ])('%s', (_, text, expected) => {
    expect(defects(text)).toContain(expected);
  });

  test('leaves types alone', () => {
    expect(defects("type A = 'b' extends 'c' ? 1 : 2; interface D { e: ['f', 'g'] }")).toEqual([]);
  });

  test('names the declaration that a defect is in', () => {
    const text = 'export const a = (b) => b && 1;\nfunction c(d) { if (d) return; e(); }';
    expect(new Set(typescriptMutations('a.ts', text).map(({ symbol }) => symbol))).toEqual(new Set(['a', 'c']));
  });
});

describe('defects in SQL', () => {
  const defects = (text: string): string[] =>
    sqlDefects(text).map(({ start, end, replacement }) => text.slice(0, start) + replacement + text.slice(end));

  test.each<[string, string, string]>([
    [
      'drops a site condition',
      'select 1 from a where id = x and a.site_id = p_site;',
      'select 1 from a where id = x ;',
    ],
    ['drops a lock', 'select 1 from a for no key update;', 'select 1 from a ;'],
    ['drops a refusal', "raise exception 'no; %', a;", 'null;'],
    ['drops a check', 'a integer check (a > (0)),', 'a integer check (true),'],
    ['drops a policy', 'create policy a on b using (c);', ''],
    ['skips a branch', 'if a > 1 then return; end if;', 'if false then return; end if;'],
  ])('%s', (_, text, expected) => {
    expect(defects(text)).toContain(expected);
  });

  test('leaves comments alone', () => {
    expect(defects('-- for update\nselect 1;')).toEqual([]);
  });
});

test('a sample depends only on the seed', () => {
  const items = Array.from({ length: 100 }, (_, at) => at);
  expect(sample(items, 5, 1)).toEqual(sample(items, 5, 1));
  expect(sample(items, 5, 1)).not.toEqual(sample(items, 5, 2));
});
