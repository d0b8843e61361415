/** The cost of names: the rows of a patient stay within their bounds. test/unit/growth.test.ts measures the work. */
import { describe, expect, test } from 'vitest';

import { criteriaOf } from '../../../../edge/fhir/search/request.ts';
import { knownBy } from '../../../../edge/store/patient-identity.ts';
import { searchRows } from '../../../../edge/store/search/extract.ts';
import { fold, MAX_FOLDED } from '../../../../edge/store/search/fold.ts';
import { MAX_INDEXED_NAMES } from '../../../../edge/store/search/kinds/indexed-names.ts';
import type { JsonObject } from '../../../../shared/json.ts';

/** NFKD makes eighteen letters of it, which are spelt as ninety. */
const LONG = '\ufdfa';
/** Combining marks, each two in the wrong order. */
const marks = (n: number) => `a${'\u0315\u0300'.repeat(n)}`;
const list = <T>(n: number, one: (n: number) => T): T[] => Array.from({ length: n }, (_, at) => one(at));
const patient = (...name: JsonObject[]): JsonObject => ({ resourceType: 'Patient', name });

const SENT: readonly (readonly [string, (n: number) => JsonObject])[] = [
  ['a name of ligatures', (n) => patient({ family: LONG.repeat(500 * n) })],
  ['a name with combining marks out of order', (n) => patient({ family: marks(250 * n) })],
  ['a text with combining marks out of order', (n) => patient({ text: marks(250 * n) })],
  ['many names of ligatures', (n) => patient(...list(n, (at) => ({ family: `${at}${LONG.repeat(60)}` })))],
  ['many given names', (n) => patient({ given: list(10 * n, (at) => `${at}${LONG}`) })],
  ['many names with marks', (n) => patient(...list(n, (at) => ({ text: `${at}${marks(50)}` })))],
];

describe.each(SENT)('%s', (_, of) => {
  test('the rows of a patient stay within their bounds', () => {
    const { search, parts } = searchRows('Patient', of(1000));
    const { traits } = knownBy(of(1000));
    for (const column of [search?.names, parts?.families, parts?.givens, parts?.exact, traits.join('')])
      expect(column?.length).toBeLessThanOrEqual(MAX_INDEXED_NAMES + 2);
    expect(search?.names).not.toBe('');
  });
});

describe('many names', () => {
  const THAI = ['สมชาย', 'ศรีสุวรรณ', 'กิตติพงษ์', 'รัตนวราภรณ์', 'ณัฐวุฒิ'];
  const thai = (n: number) => `${THAI[n % THAI.length]}${THAI[(n * 2) % THAI.length]}`;
  const names = (resource: JsonObject) => searchRows('Patient', resource).search?.names.split('\n') ?? [];
  const found = (resource: JsonObject, value: string) => {
    const [criterion] = criteriaOf('Patient', `name=${encodeURIComponent(value)}`, {
      root: 'https://fhir.test/fhir',
      now: 0,
      searches: 'listed',
    });
    if (criterion?.kind !== 'name') throw new Error('a criterion of another kind');
    return names(resource).some((line) => line.includes(criterion.fragments[0] ?? '?'));
  };

  test('thirty of an old record are all found', () => {
    const old = list(30, (n) => ({ family: thai(n), given: [`${THAI[n % THAI.length]}`], use: 'old' }));
    for (const { family, given } of old) {
      expect(found(patient(...old), family)).toBe(true);
      expect(found(patient(...old), `${given[0]} ${family}`)).toBe(true);
    }
  });

  test('keeps the official and the usual name in any position, and drops old names first', () => {
    const old = list(1000, (n) => ({ family: `Past${n}`, use: 'old' }));
    const ended = list(1000, (n) => ({ family: `Ended${n}`, period: { end: '2001-01-01' } }));
    const many = patient(
      ...old,
      ...ended,
      { family: 'Plain' },
      { family: 'Usual', use: 'usual' },
      { text: 'Lawful', use: 'official' },
    );
    for (const one of ['lawful', 'usual', 'plain', 'past0']) expect(found(many, one)).toBe(true);
    expect(found(many, 'past999')).toBe(false);
    expect(searchRows('Patient', many).search?.nameSort).toBe('past0');
  });

  test('one long name, and a value of the longest search', () => {
    const picasso =
      'Pablo Diego José Francisco de Paula Juan Nepomuceno María de los Remedios Cipriano de la Santísima Trinidad Ruiz y Picasso';
    expect(found(patient({ text: picasso }), picasso)).toBe(true);
    const long = list(MAX_FOLDED, (n) => 'abcdefgh'[n % 8]).join('');
    expect(found(patient({ family: `${long}xyz` }), long)).toBe(true);
    expect(() => found(patient({ family: `${long}xyz` }), `${long}x`)).toThrow('cannot be used');
  });

  test('a missing family name and a missing given name are stored even without space for names', () => {
    const given = list(1000, (n) => `Given${n}${LONG}`);
    const { tokens, parts } = searchRows(
      'Patient',
      patient({ given, use: 'official' }, { family: 'Late', use: 'old' }),
    );
    expect(tokens.map(([, , name]) => name)).not.toContain('family');
    expect(parts?.families).toBe('\nlate\n');
  });

  test(':exact finds no beginning of a longer name', () => {
    const long = 'x'.repeat(MAX_FOLDED);
    expect(searchRows('Patient', patient({ family: long })).parts?.exact).toBe(`\nF${long}\n`);
    expect(searchRows('Patient', patient({ family: `${long}y` })).parts?.exact).toBe('');
  });
});

test('a name is cut between characters', () => {
  const astral = '\u{20000}'.repeat(MAX_FOLDED);
  expect(fold(astral)).toBe('\u{20000}'.repeat(MAX_FOLDED / 2));
  expect(fold(`a${astral}`).isWellFormed()).toBe(true);
});
