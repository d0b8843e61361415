import { describe, expect, test } from 'vitest';

import {
  isIdentifyingType,
  isPlaceholder,
  type IdentifierKind,
} from '../../../../edge/hl7/patients/identifier-rules.ts';

const NONE: ReadonlySet<string> = new Set();

test.each([undefined, 'MR', 'PI', 'PT', 'PN', 'PE', 'U', 'MRN', 'mr'])(
  'an identifier of type %s identifies a patient',
  (type) => {
    expect(isIdentifyingType(type, NONE)).toBe(true);
  },
);

test.each(['SS', 'DL', 'AN', 'VN', 'PPN', 'NI', 'XX', 'mc'])(
  'an identifier of type %s does not identify a patient',
  (type) => {
    expect(isIdentifyingType(type, NONE)).toBe(false);
  },
);

test('a site adds types, except types that people share', () => {
  const more = new Set(['NI', 'NH', 'SS']);
  expect([isIdentifyingType('NI', more), isIdentifyingType('NH', more), isIdentifyingType('SS', more)]).toEqual([
    true,
    true,
    false,
  ]);
});

const REAL: IdentifierKind = { type: 'MR', hasAuthority: true };
const BARE: IdentifierKind = { type: undefined, hasAuthority: false };

describe.each<[string, IdentifierKind]>([
  ['a medical record number', REAL],
  ['a value without type and authority', BARE],
])('%s', (_, kind) => {
  test.each(['999-99-9999', '123-45-6789', '111-11-1111', '000000000', '000', '0', 'XXXX', '-', '?', 'unknown', 'UNK'])(
    '%s is a placeholder',
    (value) => {
      expect(isPlaceholder(value, kind, NONE)).toBe(true);
    },
  );

  // A small clinic numbers its patients from 1.
  test.each(['1', '7', '11', '99', '777', '007', '1234', '100000', '90000', '123-45-6788', 'A1'])(
    '%s is not a placeholder',
    (value) => {
      expect(isPlaceholder(value, kind, NONE)).toBe(false);
    },
  );
});

test.each(['11111', '4444', '7777777', '99999', '9999', '1111', '999999999', '987654321', '123456789'])(
  '%s is a placeholder only if it is a social security number, or without type and authority',
  (value) => {
    const kinds: readonly IdentifierKind[] = [
      REAL,
      { type: 'MR', hasAuthority: false },
      { type: undefined, hasAuthority: true },
      { type: 'ss', hasAuthority: true },
      BARE,
    ];
    expect(kinds.map((kind) => isPlaceholder(value, kind, NONE))).toEqual([false, false, false, true, true]);
  },
);

test('a site adds placeholders', () => {
  expect(isPlaceholder('4711', REAL, new Set(['4711']))).toBe(true);
});
