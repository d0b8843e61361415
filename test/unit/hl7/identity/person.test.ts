import { describe, expect, test } from 'vitest';

import { agree, fit, type ChartPerson, type Person } from '../../../../edge/hl7/identity/person.ts';

const NONE: ReadonlySet<string> = new Set();
const name = (family?: string, given?: string, text?: string) => ({ family, given, text });
const person = (family: string | undefined, given: string | undefined, birthDate?: string, sex?: string): Person => ({
  names: [name(family, given)],
  birthDate,
  sex,
});
const chart = (of: Person, past: Partial<ChartPerson> = {}): ChartPerson => ({
  ...of,
  pastNames: [],
  pastBirthDates: [],
  ...past,
});
const ANN = person('Smith', 'Ann', '1980-02-03', 'female');

describe('agree', () => {
  test.each([
    ['the same', ANN, ANN, true],
    [
      'accents, case and hyphens',
      person('MÜLLER-LÜDENSCHEIDT', 'Eva', '1980-02-03'),
      person('Muller Ludenscheidt', 'eva', '1980-02-03'),
      true,
    ],
    ['an apostrophe more or less', person("O'Neill", 'Pat', '1980-02-03'), person('ONeill', 'PAT', '1980-02-03'), true],
    ['twins', ANN, person('Smith', 'Amy', '1980-02-03', 'female'), false],
    [
      'twins that have no name yet',
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
    ['no given name on one side', person('Smith', undefined, '1980-02-03'), ANN, true],
    ['no birth date', person('Smith', 'Ann'), ANN, false],
    ['only a year', person('Smith', 'Ann', '1980'), person('Smith', 'Ann', '1980'), false],
    ['the birth date of nobody', person('Smith', 'Ann', '1900-01-01'), person('Smith', 'Ann', '1900-01-01'), false],
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

  test('a name that is only text has to contain the names as whole words', () => {
    const text = (words: string): Person => ({
      names: [name(undefined, undefined, words)],
      birthDate: '1980-02-03',
      sex: undefined,
    });
    expect(agree(ANN, text('Ann Mary Smith'), NONE)).toBe(true);
    expect(agree(ANN, text('Ann Smithers'), NONE)).toBe(false);
    expect(agree(ANN, text('Amy Smith'), NONE)).toBe(false);
  });

  test('a birth date that the site says means nothing', () => {
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
    ['the chart knows nothing', ANN, person(undefined, undefined), 'fits'],
    ['an emergency admission: unknown, 1900', person('UNKNOWN', 'TRAUMA', '1900-01-01'), ANN, 'fits'],
    ['another whole name', person('Jones', 'Bob', '1980-02-03', 'female'), ANN, 'doubtful'],
    ['another whole name, and nothing else said', person('Jones', 'Bob'), ANN, 'doubtful'],
    ['another whole name and sex', person('Jones', 'Bob', '1980-02-03', 'male'), ANN, CONTRADICTS],
    ['another whole name and a sex that is neither', person('Jones', 'Bob', '1980-02-03', 'other'), ANN, 'doubtful'],
    ['husband and wife', person('Smith', 'Bob', '1978-06-07', 'male'), ANN, CONTRADICTS],
    ['sisters', person('Smith', 'Eve', '1978-06-07', 'female'), ANN, 'doubtful'],
    ['twins of one sex, or a nickname', person('Smith', 'Eve', '1980-02-03', 'female'), ANN, 'fits'],
    ['twins, brother and sister', person('Smith', 'Bob', '1980-02-03', 'male'), ANN, 'doubtful'],
    ['a new name and an initial', person('Jones', 'A', '1980-02-03', 'female'), ANN, 'fits'],
    ['a new name and one given name more', person('Jones', 'Mary Ann', '1980-02-03', 'female'), ANN, 'fits'],
    [
      'a newborn that gets its names',
      person('Jones', 'Eve', '1980-02-03', 'female'),
      person('Smith', 'Baby Girl', '1980-02-03', 'male'),
      'doubtful',
    ],
  ])('%s', (_what, sent, stored, expected) => {
    expect(fit(sent, chart(stored), NONE)).toBe(expected);
  });

  test('what the chart once said counts: a late result of before the wedding, or of before the correction', () => {
    const renamed = chart(person('Jones', 'Ann', '1990-01-02'), {
      pastNames: [name('Smith', 'Ann')],
      pastBirthDates: ['1980-02-03'],
    });
    expect(fit(ANN, renamed, NONE)).toBe('fits');
    const formerly = chart(person('Jones', 'Bob', '1980-02-03', 'female'), { pastNames: [name('Smith', 'Ann')] });
    expect(fit(ANN, formerly, NONE)).toBe('fits');
  });
});
