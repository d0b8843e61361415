/** The list of seeded defects stays true to the source: each applies, and its tests are there. */
import { existsSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { MUTANTS } from '../mutants/all.ts';
import { mutate } from '../mutants/mutant.ts';
import { ROOT } from '../stack/services/build.ts';

const all = Object.values(MUTANTS).flat();

test.each(all)('$file: $name', (mutant) => {
  const text = existsSync(ROOT + mutant.file) ? readFileSync(ROOT + mutant.file, 'utf8') : '';
  expect(mutate(text, mutant), `"${mutant.find}" occurs exactly once`).toBeDefined();
  expect(mutant.replace).not.toBe(mutant.find);
  expect(mutant.tests.filter((file) => !existsSync(ROOT + file))).toEqual([]);
});

test('no two defects have one name', () => {
  const names = all.map(({ file, name }) => `${file}: ${name}`);
  expect(new Set(names).size).toBe(names.length);
});
