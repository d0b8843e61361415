/** The limits of one FHIR request, which ordinary requests do not reach. */
import { describe, expect, test } from 'vitest';

import { readBundle } from '../../../edge/fhir/bundle/entries.ts';
import {
  requireAffordableLists,
  requireAffordableQueries,
  requireAffordableSearch,
  requireAffordableWrites,
} from '../../../edge/fhir/cost.ts';
import { requireValid } from '../../../edge/fhir/resource-body.ts';
import { criteriaOf } from '../../../edge/fhir/search/request.ts';
import type { Pair } from '../../../edge/fhir/controls/faults.ts';
import type { Json } from '../../../shared/json.ts';

const list = <T>(n: number, one: (n: number) => T): T[] => Array.from({ length: n }, (_, at) => one(at));
const values = (n: number) => list(n, String).join(',');
const parameter = (n: number): Pair => ['identifier', values(n)];
const context = { root: 'https://fhir.test/fhir', now: 0, searches: 'listed' } as const;
const tooCostly = expect.objectContaining({ name: 'Fault', kind: 'invalid', code: 'too-costly' });

describe('a search', () => {
  test.each<[string, readonly Pair[]]>([
    ['of 64 parameters', list(64, () => parameter(1))],
    ['for 500 numbers', [parameter(500)]],
    ['for a thousand values in all', [parameter(500), parameter(500)]],
    [
      'for twenty names',
      [
        ['name', values(19)],
        ['name:contains', 'x'],
        ['identifier', values(400)],
      ],
    ],
    ['for a value with a thousand commas that separate nothing', [['name', '\\,'.repeat(1000)]]],
  ])('%s is done', (_, pairs) => expect(() => requireAffordableSearch(pairs)).not.toThrow());

  test.each<[string, readonly Pair[], string | undefined]>([
    ['of 65 parameters', list(65, () => parameter(1)), undefined],
    ['for 501 numbers', [parameter(501)], 'http.identifier'],
    ['for twenty-one names', [['name', values(21)]], 'http.name'],
    [
      'for twenty-one names in several parameters',
      [
        ['name', values(10)],
        ['family:exact', values(11)],
      ],
      'http.family:exact',
    ],
    ['for a thousand values and one', [parameter(500), parameter(500), parameter(1)], undefined],
  ])('%s is rejected', (_, pairs, at) => {
    expect(() => requireAffordableSearch(pairs)).toThrow(tooCostly);
    const place = at === undefined ? [] : [expect.objectContaining({ at })];
    expect(() => requireAffordableSearch(pairs)).toThrow(expect.objectContaining({ issues: place }));
  });

  test('a condition has the same limits', () => {
    expect(() => criteriaOf('Patient', `identifier=${values(500)}`, context)).not.toThrow();
    expect(() => criteriaOf('Patient', `identifier=${values(501)}`, context)).toThrow(tooCostly);
  });
});

describe('a bundle', () => {
  const bundle = (n: number, request: (n: number) => Readonly<Record<string, string>>) => ({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: list(n, (at) => ({ request: request(at) })),
  });
  const read = (content: Json) => () => readBundle(content, context.root);

  test('a thousand creates with two conditions each are accepted; one more value is rejected', () => {
    const create = (n: number) => ({
      method: 'POST',
      url: 'Patient',
      ifNoneExist: `identifier=a|${n}&birthdate=2000-01-01`,
    });
    expect(read(bundle(1000, create))).not.toThrow();
    expect(
      read(bundle(1000, (n) => (n > 0 ? create(n) : { ...create(n), ifNoneExist: `identifier=${values(3)}` }))),
    ).toThrow(tooCostly);
  });

  test('five hundred updates and conditional creates of a batch are accepted; a transaction may have more', () => {
    const each = (n: number) =>
      n % 2 === 0
        ? { method: 'PUT', url: `Patient?identifier=${n}`, ifNoneExist: 'x' }
        : { method: 'POST', url: 'Patient', ifNoneExist: `identifier=${n}` };
    const [transaction, more] = [bundle(501, each), bundle(400, () => ({ method: 'POST', url: 'Patient' }))];
    const batch = (n: number) => ({ ...transaction, type: 'batch', entry: [...bundle(n, each).entry, ...more.entry] });
    expect(read(batch(500))).not.toThrow();
    expect(read(batch(501))).toThrow(tooCostly);
    expect(read(transaction)).not.toThrow();
  });

  test('is rejected for expensive searches in its entries, and for its conditional references', () => {
    const search = (n: number) => ({ method: 'PUT', url: `Patient?identifier=${n},a,b` });
    expect(read(bundle(600, search))).not.toThrow();
    expect(read(bundle(700, search))).toThrow(tooCostly);
    expect(() => requireAffordableQueries(list(2000, (n) => `identifier=${n}`))).not.toThrow();
    expect(() => requireAffordableQueries(list(2001, (n) => `identifier=${n}`))).toThrow(tooCostly);
  });

  test('searches five hundred names, twenty of them without three letters or digits in a row', () => {
    const search = (name: string) => (n: number) => ({ method: 'GET', url: `Patient?name=${name}${n}` });
    const condition = (n: number) => ({ method: 'POST', url: 'Patient', ifNoneExist: `name=smith${n}&birthdate=2000` });
    expect(read(bundle(500, condition))).not.toThrow();
    expect(read(bundle(501, condition))).toThrow(tooCostly);
    expect(read(bundle(100, search('王')))).not.toThrow();
    expect(read(bundle(20, search('l-')))).not.toThrow();
    expect(read(bundle(21, search('l-')))).toThrow(tooCostly);
  });

  test('a value of a million names is rejected, without a bug', () => {
    expect(() => requireAffordableQueries([`name=${'a,'.repeat(1_000_000)}`])).toThrow(tooCostly);
  });

  test('more than a thousand entries are rejected before their content', () => {
    expect(read({ resourceType: 'Bundle', type: 'batch', entry: list(1001, () => ({})) })).toThrow(tooCostly);
  });
});

describe('a write', () => {
  test.each(['identifier', 'name', 'telecom', 'address'])('a thousand of %s', (name) => {
    const patient = (n: number) => ({ resourceType: 'Patient', [name]: list(n, () => ({ use: 'old' })) });
    expect(() => requireAffordableLists('Patient', patient(1000))).not.toThrow();
    expect(() => requireValid({ profiles: 'us-core' }, 'Patient', patient(1001))).toThrow(tooCostly);
    expect(() => requireValid({ profiles: 'us-core' }, 'Patient', patient(1001))).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ at: `Patient.${name}` })] }),
    );
  });

  test('ten thousand identifiers and codes in all', () => {
    const writes = (n: number) =>
      list(n, () => ({
        identifiers: list(4, () => ['', 'v'] as const),
        tokens: list(6, () => ['code', '', 'c'] as const),
        search: null,
      }));
    expect(() => requireAffordableWrites(writes(1000), [])).not.toThrow();
    expect(() => requireAffordableWrites(writes(1001), [])).toThrow(tooCostly);
  });

  test('150,000 characters of names', () => {
    const writes = (n: number) =>
      list(n, () => ({
        identifiers: [],
        tokens: [],
        search: { names: 'n'.repeat(150), nameSort: '', birthDate: '', gender: null },
      }));
    expect(() => requireAffordableWrites(writes(1000), [])).not.toThrow();
    expect(() => requireAffordableWrites(writes(1001), [])).toThrow(tooCostly);
  });

  test('five thousand numbers that are held, each once', () => {
    expect(() =>
      requireAffordableWrites(
        [],
        list(10_000, (n) => `Patient|${n % 5000}`),
      ),
    ).not.toThrow();
    expect(() =>
      requireAffordableWrites(
        [],
        list(5001, (n) => `Patient|${n}`),
      ),
    ).toThrow(tooCostly);
  });
});
