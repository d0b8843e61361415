import { describe, expect, test } from 'vitest';

import { agree, fit, isOtherName, type StoredPerson, type Person } from '../../../../edge/hl7/patients/person.ts';

const NONE: ReadonlySet<string> = new Set();
const name = (family?: string, given?: string, text?: string) => ({ family, given, text });
const person = (family: string | undefined, given: string | undefined, birthDate?: string, sex?: string): Person => ({
  names: [name(family, given)],
  birthDate,
  sex,
});
const storedOf = (of: Person, past: Partial<StoredPerson> = {}): StoredPerson => ({
  ...of,
  said: [],
  isDescribed: true,
  ...past,
});
const ANN = person('Smith', 'Ann', '1980-02-03', 'female');

describe('agree', () => {
  test.each([
    ['identical data', ANN, ANN, true],
    [
      'accents, case and hyphens',
      person('MÜLLER-LÜDENSCHEIDT', 'Eva', '1980-02-03'),
      person('Muller Ludenscheidt', 'eva', '1980-02-03'),
      true,
    ],
    ['an apostrophe more or less', person("O'Neill", 'Pat', '1980-02-03'), person('ONeill', 'PAT', '1980-02-03'), true],
    ['twins', ANN, person('Smith', 'Amy', '1980-02-03', 'female'), false],
    [
      'newborns that have no name yet',
      person('Smith', 'Baby Boy', '1980-02-03', 'male'),
      person('Smith', 'BABY BOY', '1980-02-03', 'male'),
      false,
    ],
    [
      'twins, by their order of birth',
      { ...person('Smith', undefined, '1980-02-03'), birthOrder: 1 },
      { ...person('Smith', undefined, '1980-02-03'), birthOrder: 2 },
      false,
    ],
    ['swapped day and month', person('Smith', 'Ann', '1980-03-02', 'female'), ANN, false],
    ['a married name', person('Jones', 'Ann', '1980-02-03', 'female'), ANN, false],
    ['brother and sister', person('Smith', undefined, '1980-02-03', 'male'), ANN, false],
    ['father and son', person('Smith', 'John', '1950-02-03'), person('Smith', 'John', '1980-02-03'), false],
    ['no given name on one side', person('Smith', undefined, '1980-02-03'), ANN, false],
    [
      'no given name on either side',
      person('Smith', undefined, '1980-02-03'),
      person('Smith', undefined, '1980-02-03'),
      false,
    ],
    [
      'a placeholder for the given name',
      person('Smith', 'Unnamed', '1980-02-03'),
      person('Smith', 'UNNAMED', '1980-02-03'),
      false,
    ],
    ['equal initials', person('Smith', 'A', '1980-02-03'), person('Smith', 'A.', '1980-02-03'), false],
    ['an initial', person('Smith', 'A', '1980-02-03'), ANN, false],
    ['the first of two given names', person('Smith', 'Ann Mary', '1980-02-03'), ANN, false],
    [
      'a given name of one character that is not an initial',
      person('王', '伟', '1980-02-03'),
      person('王', '伟', '1980-02-03'),
      true,
    ],
    [
      'twins of one first name',
      { ...ANN, names: [{ ...name('Smith', 'Mary'), otherGiven: 'Ann' }] },
      { ...ANN, names: [{ ...name('Smith', 'Mary'), otherGiven: 'Jane' }] },
      false,
    ],
    [
      'a further given name, and its initial',
      { ...ANN, names: [{ ...name('Smith', 'Mary'), otherGiven: 'Ann' }] },
      { ...ANN, names: [{ ...name('Smith', 'Mary'), otherGiven: 'A' }] },
      true,
    ],
    [
      'a further given name on one side',
      { ...ANN, names: [{ ...name('Smith', 'Mary'), otherGiven: 'Ann' }] },
      { ...ANN, names: [name('Smith', 'Mary')] },
      true,
    ],
    ['no birth date', person('Smith', 'Ann'), ANN, false],
    ['only a year', person('Smith', 'Ann', '1980'), person('Smith', 'Ann', '1980'), false],
    [
      'a placeholder for the birth date',
      person('Smith', 'Ann', '1900-01-01'),
      person('Smith', 'Ann', '1900-01-01'),
      false,
    ],
    [
      'unknown to unknown',
      person('UNKNOWN', 'UNKNOWN', '1980-02-03'),
      person('Unknown', 'Unknown', '1980-02-03'),
      false,
    ],
    ['an unknown sex differs from none', person('Smith', 'Ann', '1980-02-03', 'unknown'), ANN, true],
  ])('%s', (_what, sent, stored, expected) => {
    expect(agree(sent, stored, NONE)).toBe(expected);
    expect(agree(stored, sent, NONE)).toBe(expected);
  });

  describe('newborns of one name', () => {
    const newborn = (birthOrder?: number, given = 'BABYGIRL', sex = 'female'): Person => ({
      ...person('Smith', given, '2026-03-01', sex),
      birthOrder,
    });
    test.each([
      ['without their order of birth', newborn(), newborn(), false],
      ['with the order of one', newborn(1), newborn(), false],
      ['with equal orders', newborn(2), newborn(2), true],
      ['with other orders', newborn(1), newborn(2), false],
      ['with 0 for no order', newborn(0), newborn(0), false],
      ['with equal orders and another name', newborn(1, 'TWIN A'), newborn(1, 'TWIN B'), false],
      ['with equal orders and another sex', newborn(1, 'BABY', 'male'), newborn(1, 'BABY'), false],
      ['with equal orders and no name', newborn(1, ''), newborn(1, ''), false],
      ['named by now, without an order', newborn(undefined, 'Eve'), newborn(undefined, 'EVE'), true],
      ['named by now, with 0 on one side', newborn(0, 'Eve'), newborn(1, 'EVE'), true],
    ])('%s', (_what, sent, stored, expected) => {
      expect(agree(sent, stored, NONE)).toBe(expected);
      expect(agree(stored, sent, NONE)).toBe(expected);
    });
  });

  test.each([
    ['A', true],
    ['Ann Mary', true],
    ['An', false],
    ['Amy', false],
    ['Mary Ann', false],
    ['', false],
  ])('a short given name (%s) is enough where the number is nearly certain', (given, expected) => {
    const sent = person('Smith', given === '' ? undefined : given, '1980-02-03');
    expect([agree(sent, ANN, NONE, 'short'), agree(ANN, sent, NONE, 'short')]).toEqual([expected, expected]);
  });

  test('a name that is only a text must contain the names as complete words', () => {
    const text = (fullName: string): Person => ({
      names: [name(undefined, undefined, fullName)],
      birthDate: '1980-02-03',
      sex: undefined,
    });
    expect(agree(ANN, text('Ann Mary Smith'), NONE)).toBe(true);
    expect(agree(ANN, text('Ann Smithers'), NONE)).toBe(false);
    expect(agree(ANN, text('Amy Smith'), NONE)).toBe(false);
    expect(agree(ANN, text('Smith'), NONE)).toBe(false);
    expect(agree(text('Ann Smith'), text('ann  smith'), NONE)).toBe(true);
    expect(agree(text('Smith'), text('Smith'), NONE)).toBe(false);
    expect(agree(person('Smith', 'Mary', '1980-02-03'), text('Baby of Mary Smith'), NONE)).toBe(false);
  });

  test('a birth date from the site’s placeholder list does not count', () => {
    expect(agree(ANN, ANN, new Set(['1980-02-03']))).toBe(false);
  });
});

describe('fit', () => {
  const CONTRADICTS = 'contradicts';
  test.each([
    ['another name and birth date', person('Jones', 'Bob', '1985-06-07'), ANN, CONTRADICTS],
    ['a married name', person('Jones', 'Ann', '1980-02-03'), ANN, 'fits'],
    ['a corrected birth date', person('Smith', 'Ann', '1981-03-02'), ANN, 'fits'],
    ['father and son', person('Smith', 'Ann', '1950-02-03'), ANN, CONTRADICTS],
    ['no birth date sent', person('Jones', undefined), ANN, 'fits'],
    ['no name sent', person(undefined, undefined, '1985-06-07'), ANN, 'fits'],
    [
      'no name sent, and a birth date of another generation',
      person(undefined, undefined, '2015-06-07'),
      ANN,
      CONTRADICTS,
    ],
    ['the patient record has neither', ANN, person(undefined, undefined), 'fits'],
    [
      'a text that only repeats the given name has no family name',
      person('Smith', 'Amy', '1980-02-09', 'female'),
      { ...person(undefined, undefined, '1980-02-03', 'female'), names: [name(undefined, 'BABYGIRL', 'BABYGIRL')] },
      'fits',
    ],
    [
      'a text that adds a family name has it',
      person('Jones', 'Ann', '1985-07-19', 'female'),
      { ...person(undefined, undefined, '1980-02-03', 'female'), names: [name(undefined, 'Ann', 'Ann Smith')] },
      CONTRADICTS,
    ],
    ['an emergency admission: unknown, 1900', person('UNKNOWN', 'TRAUMA', '1900-01-01'), ANN, 'doubtful'],
    ['another full name', person('Jones', 'Bob', '1980-02-03', 'female'), ANN, 'doubtful'],
    ['another full name alone', person('Jones', 'Bob'), ANN, 'doubtful'],
    ['another full name and sex', person('Jones', 'Bob', '1980-02-03', 'male'), ANN, CONTRADICTS],
    ['another full name and a sex that is neither', person('Jones', 'Bob', '1980-02-03', 'other'), ANN, 'doubtful'],
    ['husband and wife', person('Smith', 'Bob', '1978-06-07', 'male'), ANN, CONTRADICTS],
    ['sisters', person('Smith', 'Eve', '1978-06-07', 'female'), ANN, CONTRADICTS],
    ['a nickname and a mistyped birth date', person('Smith', 'Nancy', '1980-02-30', 'female'), ANN, 'doubtful'],
    ['an initial and another birth date', person('Smith', 'A', '1978-06-07', 'female'), ANN, 'fits'],
    ['twins of one sex, or a nickname', person('Smith', 'Eve', '1980-02-03', 'female'), ANN, 'doubtful'],
    ['twins, brother and sister', person('Smith', 'Bob', '1980-02-03', 'male'), ANN, 'doubtful'],
    ['a new name and an initial', person('Jones', 'A', '1980-02-03', 'female'), ANN, 'fits'],
    ['a new name and one given name more', person('Jones', 'Mary Ann', '1980-02-03', 'female'), ANN, 'fits'],
    [
      'a newborn that gets its names',
      person('Jones', 'Eve', '1980-02-03', 'female'),
      person('Smith', 'Baby Girl', '1980-02-03', 'male'),
      'doubtful',
    ],
    [
      'a newborn with a mistyped birth date before it had a name',
      person('Baby Girl', undefined, '1980-02-03', 'female'),
      person('Smith', 'Ann', '1980-02-09', 'female'),
      'fits',
    ],
    ['family names that newborns may have', person('Boy', 'Eve', '1980-02-09'), ANN, CONTRADICTS],
    [
      'husband and wife, one with a name similar to that of a newborn',
      person('Smith', 'Jimboy', '1978-06-07', 'male'),
      ANN,
      CONTRADICTS,
    ],
  ])('%s', (_what, sent, stored, expected) => {
    expect(fit(sent, storedOf(stored), NONE)).toBe(expected);
  });

  test('earlier data of the patient record count for a late result', () => {
    const renamed = storedOf(person('Jones', 'Ann', '1990-01-02'), {
      said: [{ name: name('Smith', 'Ann'), birthDate: '1980-02-03' }],
    });
    expect(fit(ANN, renamed, NONE)).toBe('fits');
    const formerly = storedOf(person('Jones', 'Bob', '1980-02-03', 'female'), {
      said: [{ name: name('Smith', 'Ann'), birthDate: undefined }],
    });
    expect(fit(ANN, formerly, NONE)).toBe('fits');
  });
});

test('the name of MRG is another person’s only where both have a given name', () => {
  const of = (family: string, given?: string) => isOtherName(name(family, given), storedOf(ANN));
  expect(of('Smith', 'Amy')).toBe(true);
  expect(of('Jones', 'Ann')).toBe(true);
  for (const given of ['Ann', 'A', 'BABYGIRL', 'UNKNOWN', undefined])
    expect([given, of('Smith', given)]).toEqual([given, false]);
});
