/** A memory that cannot grow: in bytes, in time, and for each owner. */
import { expect, test } from 'vitest';

import { createBounded } from '../../../edge/http/bounded.ts';

const bounded = () => createBounded<string>({ maxBytes: 100, maxOwnerBytes: 40, maxAgeMs: 1_000 });

test('an entry is available to its owner until it expires; a read does not prolong it', () => {
  const memory = bounded();
  memory.keep('a', 'k', 'one', 10, 0);
  expect([memory.get('a', 'k', 999), memory.get('b', 'k', 0), memory.get('a', 'other', 0)]).toEqual([
    'one',
    undefined,
    undefined,
  ]);
  expect(memory.get('a', 'k', 1_000)).toBeUndefined();
  memory.keep('a', 'k', 'two', 10, 1_500);
  expect([memory.get('a', 'k', 2_499), memory.bytes()]).toEqual(['two', 10]);
});

test('an owner at the limit loses the oldest entry', () => {
  const memory = bounded();
  for (const [at, key] of ['one', 'two', 'three', 'four', 'five'].entries()) memory.keep('a', key, key, 10, at);
  expect([memory.get('a', 'one', 5), memory.get('a', 'two', 5), memory.bytes()]).toEqual([undefined, 'two', 40]);
  // Kept again it is the newest.
  memory.keep('a', 'two', 'again', 10, 6);
  memory.keep('a', 'six', 'six', 10, 7);
  expect([memory.get('a', 'two', 7), memory.get('a', 'three', 7), memory.bytes()]).toEqual(['again', undefined, 40]);
});

test('a full store removes the entries of the owner whose last entry is oldest', () => {
  const memory = bounded();
  memory.keep('quiet', 'k', 'quiet', 10, 0);
  for (let n = 0; n < 100; n += 1) memory.keep('loud', `${n}`, 'x', 10, n);
  expect([memory.get('quiet', 'k', 100), memory.bytes()]).toEqual(['quiet', 50]);
  memory.keep('second', 'k', 'second', 40, 100);
  expect(memory.get('quiet', 'k', 100)).toBe('quiet');
  memory.keep('third', 'k', 'third', 40, 101);
  expect([memory.get('quiet', 'k', 101), memory.get('loud', '99', 101), memory.get('second', 'k', 101)]).toEqual([
    undefined,
    'x',
    'second',
  ]);
  expect(memory.bytes()).toBeLessThanOrEqual(100);
});

test('an entry above the owner’s limit is not kept, nor the entry it replaces', () => {
  const memory = bounded();
  memory.keep('a', 'k', 'small', 10, 0);
  memory.keep('a', 'k', 'large', 41, 1);
  expect([memory.get('a', 'k', 1), memory.bytes()]).toEqual([undefined, 0]);
});

test('a deleted or expired entry uses no space', () => {
  const memory = bounded();
  memory.keep('a', 'one', 'one', 10, 0);
  memory.keep('a', 'two', 'two', 10, 500);
  memory.keep('b', 'one', 'one', 10, 900);
  memory.forget('b', 'one');
  memory.forget('unknown', 'one');
  expect(memory.bytes()).toBe(20);
  memory.sweep(1_000);
  expect([memory.bytes(), memory.get('a', 'two', 1_000)]).toEqual([10, 'two']);
  memory.sweep(1_500);
  expect(memory.bytes()).toBe(0);
});
