/** The time after which a replaced public key of a client can be removed, and the steps of the key's activity. */
import { expect, test } from 'vitest';

import { stepsOf } from '../../../../edge/admin/keys/activity.tsx';
import { kidUses } from '../../../../edge/admin/keys/rotation.ts';
import type { KeyActivityRow } from '../../../../edge/store/key-activity.ts';
import type { CheckedKey } from '../../../../shared/oauth/jwks.ts';

const key = (kid?: string): CheckedKey => ({
  kid,
  type: 'EC P-384',
  size: 384,
  use: undefined,
  usable: true,
  dangerous: false,
  jwk: {},
});
const used = (kid: string, day: number) => ({
  kid,
  first_at: '2026-01-01T00:00:00.000Z',
  last_at: `2026-03-${String(day).padStart(2, '0')}T03:00:00.000Z`,
});
const after = (keys: CheckedKey[], ...kids: ReturnType<typeof used>[]) =>
  kidUses(keys, kids).map(({ removableAfter }) => removableAfter?.slice(0, 10));

test('a replaced key can be removed when a weekly program would have signed again', () => {
  expect(after([key('old'), key('new')], used('new', 20), used('old', 10))).toEqual(['2026-03-18', undefined]);
});

test.each<[string, CheckedKey[], ReturnType<typeof used>[]]>([
  ['the only key', [key('a')], [used('a', 1)]],
  ['the next key, not used yet', [key('a'), key('next')], [used('a', 20)]],
  ['a key without known use', [key('a'), key('b')], []],
  ['keys without a name, of which one was used', [key(), key(), key('a')], [used('', 2), used('a', 20)]],
  [
    'a key that another one of the same name was used for',
    [key('a'), key('a'), key('b')],
    [used('a', 2), used('b', 20)],
  ],
  ['keys used in the same minute', [key('a'), key('b')], [used('a', 20), used('b', 20)]],
])('%s has no time of removal', (_, keys, kids) => {
  expect(after(keys, ...kids)).toEqual(keys.map(() => undefined));
});

test('a key that is used again is not replaced', () => {
  const keys = [key('a'), key('b')];
  expect(after(keys, used('b', 20), used('a', 10))).toEqual(['2026-03-18', undefined]);
  expect(after(keys, used('a', 21), used('b', 20))).toEqual([undefined, '2026-03-28']);
});

test('activity has each step of its span, including the current one', () => {
  const nowMs = Date.UTC(2026, 2, 1, 12, 34);
  const row = (hour: number): KeyActivityRow => ({
    surface: 'token',
    step_seconds: 3600,
    begins: Date.UTC(2026, 2, 1, hour) / 1000,
    accepted: hour,
    refused: 1,
  });
  const steps = stepsOf([row(12), row(3)], 'token', { stepSeconds: 3600, steps: 24 }, nowMs);
  expect(steps).toHaveLength(24);
  expect(steps.at(-1)).toEqual({ begins: Date.UTC(2026, 2, 1, 12) / 1000, accepted: 12, refused: 1 });
  expect(steps.filter(({ accepted }) => accepted > 0).map(({ accepted }) => accepted)).toEqual([3, 12]);
  expect(
    stepsOf([row(12)], 'fhir', { stepSeconds: 3600, steps: 24 }, nowMs).every(({ refused }) => refused === 0),
  ).toBe(true);
});
