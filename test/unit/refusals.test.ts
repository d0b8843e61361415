import { expect, test } from 'vitest';

import { hintFor, MLLP_REFUSALS, TOKEN_REFUSALS } from '../../edge/refusals.ts';

test.each([...Object.keys(TOKEN_REFUSALS), ...Object.keys(MLLP_REFUSALS)])('a refusal by %s has a hint', (code) => {
  expect(hintFor(code)).toMatch(/^[A-Z].*\.$/);
});

test.each(['', 'constructor', 'x'])('%j has no hint', (code) => {
  expect(hintFor(code)).toBeNull();
});
