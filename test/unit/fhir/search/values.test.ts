/** Search values as R4 writes them: escapes, tokens, dates, and what of them cannot be used. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { SEARCH_PARAMETERS } from '../../../../edge/store/search/parameters.ts';
import { criterionOf } from '../../../../edge/fhir/search/criterion-of.ts';
import { instantInterval } from '../../../../edge/fhir/prefixed-date.ts';
import { alternatives, tokens } from '../../../../edge/fhir/search/values.ts';
import { inputs } from '../../../stack/tools/size.ts';

const context = {
  root: 'https://fhir.test/base/fhir',
  now: Date.parse('2026-01-01T00:00:00Z'),
  searches: 'listed',
} as const;

describe('commas, bars and escapes', () => {
  test.each<[string, string[]]>([
    ['a', ['a']],
    ['a,b', ['a', 'b']],
    ['a\\,b', ['a,b']],
    ['a\\\\,b', ['a\\', 'b']],
    ['a\\|b\\$c', ['a|b$c']],
    ['a\\nb\\', ['a\\nb\\']],
    ['', ['']],
    [',', ['', '']],
  ])('%s', (value, expected) => expect(alternatives(value)).toEqual(expected));

  test.each<[string, [string | null, string | null][]]>([
    ['v', [[null, 'v']]],
    ['s|v', [['s', 'v']]],
    ['|v', [['', 'v']]],
    ['s|', [['s', null]]],
    [
      's|v,w',
      [
        ['s', 'v'],
        [null, 'w'],
      ],
    ],
    ['a\\|b|c\\,d', [['a|b', 'c,d']]],
    ['s|a|b', [['s', 'a|b']]],
  ])('token %s', (value, expected) =>
    expect(tokens(value)).toEqual(expected.map(([system, code]) => ({ system, value: code }))),
  );

  test('escaped values keep their text', () => {
    const escape = (text: string) => text.replace(/[\\,|$]/g, '\\$&');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 })), { minLength: 1 }),
        (pairs) => {
          const value = pairs.map(([system, code]) => `${escape(system)}|${escape(code)}`).join(',');
          expect(tokens(value)).toEqual(pairs.map(([system, code]) => ({ system, value: code })));
        },
      ),
    );
  });
});

describe('instants', () => {
  test.each<[string, string | null, string | null, boolean?]>([
    ['2026', '2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['2024-02', '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    ['eq2024-12-31', '2024-12-31T00:00:00.000Z', '2025-01-01T00:00:00.000Z'],
    ['2024-12-31T23:59', '2024-12-31T23:59:00.000Z', '2025-01-01T00:00:00.000Z'],
    ['2024-12-31T23:59:59Z', '2024-12-31T23:59:59.000Z', '2025-01-01T00:00:00.000Z'],
    ['2024-12-31T23:59:59.5+02:00', '2024-12-31T21:59:59.500Z', '2024-12-31T21:59:59.600Z'],
    ['2024-12-31T23:59:59.123456-05:30', '2025-01-01T05:29:59.123Z', '2025-01-01T05:29:59.124Z'],
    ['gt2024', '2025-01-01T00:00:00.000Z', null],
    ['sa2024', '2025-01-01T00:00:00.000Z', null],
    ['ge2024', '2024-01-01T00:00:00.000Z', null],
    ['lt2024', null, '2024-01-01T00:00:00.000Z'],
    ['eb2024', null, '2024-01-01T00:00:00.000Z'],
    ['le2024', null, '2025-01-01T00:00:00.000Z'],
    ['ne2024', '2024-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z', true],
    ['ap2025-12-22', '2025-12-21T00:00:00.000Z', '2025-12-24T00:00:00.000Z'],
    ['9999-12-31', '9999-12-31T00:00:00.000Z', '10000-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00+14:00', '0001-12-31T10:00:00.000Z BC', '0001-12-31T10:00:01.000Z BC'],
    ['0000', '0001-01-01T00:00:00.000Z BC', '0001-01-01T00:00:00.000Z'],
  ])('%s', (text, from, before, outside = false) =>
    expect(instantInterval(text, context.now)).toEqual({ from, before, outside }),
  );

  test.each([
    '',
    '24',
    '2024-13',
    '2024-02-30',
    '2024-1-1',
    '2024-01-01T24:00',
    '2024-01-01T12',
    'xx2024',
    '2024-01-01 00:00:00',
    '2024-01-01T00:00:00+15:00',
    'gt',
  ])('not %s', (text) => expect(instantInterval(text, context.now)).toBeUndefined());
});

describe('criteria', () => {
  const patientParameter = SEARCH_PARAMETERS.Observation['patient'];
  const id = '01900000-0000-7000-8000-000000000001';

  test.each<[string, string[]]>([
    [id, [id]],
    [`Patient/${id}`, [id]],
    [`${context.root}/Patient/${id}`, [id]],
    [`https://other.test/fhir/Patient/${id}`, []],
    ['Patient/example,urn:uuid:x', []],
  ])('patient=%s', (value, ids) => {
    if (patientParameter === undefined) throw new Error('no parameter');
    expect(criterionOf('patient', { parameter: patientParameter, modifier: null }, value, context)).toEqual({
      kind: 'patient',
      ids,
    });
  });

  test('never anything but a criterion or a Fault that names the parameter', () => {
    const parameters = Object.values(SEARCH_PARAMETERS).flatMap((parameters) => Object.entries(parameters));
    fc.assert(
      fc.property(fc.constantFrom(...parameters), fc.string({ unit: 'binary' }), ([name, parameter], value) => {
        try {
          criterionOf(name, { parameter, modifier: null }, value, context);
        } catch (error) {
          expect(error).toMatchObject({ kind: 'malformed', issues: [{ at: `http.${name}` }] });
        }
      }),
      { numRuns: inputs(500) },
    );
  });
});
