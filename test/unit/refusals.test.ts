import { expect, test } from 'vitest';

import { STEPS } from '../../edge/oauth/assertion/steps.ts';
import { AUTHENTICATED_REFUSALS, clientHintFor, hintFor, MLLP_REFUSALS, TOKEN_REFUSALS } from '../../edge/refusals.ts';

test.each([...Object.keys(TOKEN_REFUSALS), ...Object.keys(MLLP_REFUSALS)])('a refusal by %s has a hint', (code) => {
  expect(hintFor(code)).toMatch(/^[A-Z].*\.$/);
});

test.each(['', 'constructor', 'x'])('%j has no hint', (code) => {
  expect(hintFor(code)).toBeNull();
});

test('a refusal counts as authenticated exactly if its check follows the signature', () => {
  const signature = STEPS.findIndex(({ code }) => code === 'signature');
  for (const [n, { code }] of STEPS.entries()) {
    expect([code, AUTHENTICATED_REFUSALS.includes(code)]).toEqual([code, n > signature]);
  }
});

test('a hint for a client leaves out the console', () => {
  expect(clientHintFor('required')).toBe('Send it.');
  expect(clientHintFor('101')).toBe('The sender must fill in the field.');
  expect(clientHintFor('205')).toBeNull();
  expect(clientHintFor('aud')).toBe(hintFor('aud'));
  expect(clientHintFor('none')).toBeNull();
});
