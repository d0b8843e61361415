/** The budget of a request: each limit admits its number, and names itself beyond it. */
import { describe, expect, test } from 'vitest';

import { applyPatch } from '../../edge/fhir/patch/apply.ts';
import { readOperations } from '../../edge/fhir/patch/operations.ts';
import { localMatches } from '../../edge/fhir/bundle/conditions.ts';
import { type LimitName, Budget, LIMITS } from '../../edge/limits.ts';
import { toWrite } from '../../edge/store/resource.ts';

const NAMES = Object.keys(LIMITS) as LimitName[];
const exceeds = (name: LimitName) =>
  expect.objectContaining({
    kind: 'invalid',
    code: 'too-costly',
    message: expect.stringContaining(`the limit ${name}.`),
  });
const left = (name: LimitName, most: number): Budget => {
  const budget = new Budget();
  budget.spend(name, LIMITS[name].most - most);
  return budget;
};

test.each(NAMES)('%s admits its number in several parts, and rejects one more', (name) => {
  const budget = left(name, 1);
  expect(() => budget.spend(name)).not.toThrow();
  expect(() => budget.spend(name)).toThrow(exceeds(name));
  for (const other of NAMES) if (other !== name) expect(() => budget.spend(other, 0)).not.toThrow();
});

describe('the patches of one request share its budget', () => {
  const copy = readOperations([{ op: 'copy', from: '/a', path: '/b' }]);

  test.each<[LimitName, number]>([
    // A string of nine characters, and the value.
    ['patch-carried', 10],
    // The object with its one member, once for each pointer.
    ['patch-copies', 2 * 64],
  ])('%s', (name, work) => {
    const enough = left(name, 2 * work);
    applyPatch({ a: '123456789' }, copy, enough);
    applyPatch({ a: '123456789' }, copy, enough);
    const short = left(name, 2 * work - 1);
    applyPatch({ a: '123456789' }, copy, short);
    expect(() => applyPatch({ a: '123456789' }, copy, short)).toThrow(exceeds(name));
  });
});

describe('the conditions of a Bundle spend what they compare with its entries', () => {
  const id = '0190f8a4-0000-7000-8000-000000000001';
  const resource = {
    resourceType: 'Patient',
    name: [{ family: 'Smith' }],
    identifier: [
      { system: 'urn:x', value: '1' },
      { system: 'urn:x', value: '2' },
    ],
  };
  const write = { ...toWrite(resource, id, 'create', null), unmodifiedSince: null };
  const planned = { type: 'Patient', write, condition: null, searched: null, isPatch: false, lockKeys: [] } as const;
  const condition = (criterion: object) =>
    ({ kind: 'create', type: 'Patient', criteria: [criterion], placeholder: id, required: null, local: [] }) as never;
  const spent = (criterion: object): number => {
    for (let most = 0; ; most += 1) {
      try {
        localMatches(condition(criterion), [planned], left('bundle-comparisons', most));
        return most;
      } catch {
        continue;
      }
    }
  };

  test('each value with each identifier and code', () => {
    const tokens = (n: number) => ({
      kind: 'identifier',
      any: Array.from({ length: n }, () => ({ system: null, value: 'x' })),
    });
    const [none, one, three] = [spent(tokens(0)), spent(tokens(1)), spent(tokens(3))];
    expect(one - none).toBe(write.identifiers.length + write.tokens.length);
    expect(three - none).toBe(3 * (one - none));
  });

  test('each name with the characters of the names', () => {
    const names = (n: number) => ({ kind: 'name', fragments: Array.from({ length: n }, () => 'x') });
    const characters = (write.search?.names.length ?? 0) + (write.parts?.exact.length ?? 0);
    expect(characters).toBeGreaterThan(5);
    expect(spent(names(2)) - spent(names(0))).toBe(2 * characters);
  });
});
