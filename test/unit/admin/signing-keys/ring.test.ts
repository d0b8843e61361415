/** The state of each signing key, and when it can be removed. */
import { expect, test } from 'vitest';

import { viewRing } from '../../../../edge/admin/signing-keys/ring.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');

/** @param kids the first signs @param seen when each was first seen to sign */
function ring(kids: readonly string[], seen: Readonly<Record<string, string>> = {}) {
  const keys = kids.map((kid) => ({ kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'private', kid }) as const);
  const rows = Object.entries(seen).map(([kid, at]) => ({ kid, first_seen: at }));
  return viewRing({ keys }, rows, NOW);
}

test('the signing key has its first signature and is due for rotation a year after it was made', () => {
  const [only, ...more] = ring(['2026-01-02-abcd'], { '2026-01-02-abcd': '2026-01-03T08:00:00Z' });
  expect(more).toEqual([]);
  expect(only).toEqual({
    kid: '2026-01-02-abcd',
    algorithm: 'ES256',
    state: 'signs',
    madeAt: '2026-01-02T00:00:00.000Z',
    ageDays: 324,
    signsSince: '2026-01-03T08:00:00.000Z',
    rotateBy: '2027-01-02T00:00:00.000Z',
    neededUntil: null,
  });
});

test('private members are not shown', () => {
  expect(JSON.stringify(ring(['a', 'b']))).not.toContain('private');
});

test.each([
  ['a key that was made elsewhere and never seen', ['prod-1'], {}, { ageDays: null, rotateBy: null, signsSince: null }],
  [
    'a key that was made elsewhere counts from the time it was first seen',
    ['prod-1'],
    { 'prod-1': '2026-11-20T12:00:00Z' },
    { ageDays: 2 },
  ],
  ['one from the future is not younger than new', ['2031-01-01-x'], {}, { ageDays: 0 }],
  ['a key that will sign', ['2026-11-01-a', '2026-11-22-b'], {}, { state: 'signs' }],
])('%s', (_, kids, seen, expected) => {
  expect(ring(kids, seen)[0]).toMatchObject(expected);
});

test('other keys wait or have signed, with the time when their tokens expire', () => {
  const old = { 'old-1': '2025-11-01T00:00:00Z', '2026-11-22-b': '2026-11-22T11:30:00Z' };
  expect(ring(['2026-11-22-b', 'old-1', '2026-11-22-c'], old).slice(1)).toMatchObject([
    { state: 'has-signed', neededUntil: '2026-11-22T12:30:00.000Z' },
    { state: 'waits', neededUntil: null, signsSince: null },
  ]);
  // After a rotation back the last signature of the newer key is unknown, so it has no end.
  expect(ring(['old-1', '2026-11-22-b'], old)[1]).toMatchObject({ state: 'has-signed', neededUntil: null });
});
