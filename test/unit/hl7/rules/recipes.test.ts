import { expect, test } from 'vitest';

import { RULE_RECIPES } from '../../../inputs/rule-recipes.ts';
import { ruled } from './ruled.ts';

test.each(RULE_RECIPES.map((recipe) => [recipe.title, recipe] as const))('%s', (_title, recipe) => {
  const { lines, verdict, tooCostly } = ruled(recipe.rules, recipe.sent, recipe.type);
  expect(lines).toEqual(recipe.read);
  expect(verdict).toEqual(recipe.verdict && { ...recipe.verdict, rule: 1 });
  expect(tooCostly).toBe(false);
});
