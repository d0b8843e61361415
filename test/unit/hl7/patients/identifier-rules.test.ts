import { expect, test } from 'vitest';

import { isIdentifyingType, isPlaceholder } from '../../../../edge/hl7/patients/identifier-rules.ts';

const NONE: ReadonlySet<string> = new Set();

test.each([undefined, 'MR', 'PI', 'PT', 'PN', 'PE', 'U', 'MRN', 'mr'])('a number of type %s identifies', (type) => {
  expect(isIdentifyingType(type, NONE)).toBe(true);
});

test.each(['SS', 'DL', 'AN', 'VN', 'PPN', 'NI', 'XX', 'mc'])('a number of type %s does not', (type) => {
  expect(isIdentifyingType(type, NONE)).toBe(false);
});

test('a site adds types, but never those that people share', () => {
  const more = new Set(['NI', 'NH', 'SS']);
  expect([isIdentifyingType('NI', more), isIdentifyingType('NH', more), isIdentifyingType('SS', more)]).toEqual([
    true,
    true,
    false,
  ]);
});

test.each([
  '999-99-9999',
  '999999999',
  '000000000',
  '123-45-6789',
  '111-11-1111',
  '000',
  '0',
  '9999',
  'XXXX',
  '-',
  '?',
  '1111',
  'unknown',
  'UNK',
])('%s is a placeholder', (value) => {
  expect(isPlaceholder(value, NONE)).toBe(true);
});

// A small clinic numbers its patients from 1.
test.each(['1', '7', '11', '99', '777', '007', '1234', '100000', '90000', '123-45-6788', 'A1'])(
  '%s is one',
  (value) => {
    expect(isPlaceholder(value, NONE)).toBe(false);
  },
);

test('a site adds its own', () => {
  expect(isPlaceholder('4711', new Set(['4711']))).toBe(true);
});
