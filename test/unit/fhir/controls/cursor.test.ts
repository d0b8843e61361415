/** Page cursors open as they were sealed, and only unchanged. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { cursorSealer } from '../../../../edge/fhir/controls/cursor.ts';
import { idAt } from '../../../stack/tools/id-at.ts';

const cursors = cursorSealer(['a'.repeat(43)]);
const position = fc.record({
  id: fc.integer({ min: 1, max: 2 ** 47 }).map(idAt),
  key: fc.option(fc.string({ unit: 'grapheme' }), { nil: null }),
});

test('a cursor opens for its scope only', async () => {
  await fc.assert(
    fc.asyncProperty(position, fc.string(), fc.string(), async (at, scope, other) => {
      const cursor = await cursors.seal(at, scope);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(await cursors.open(cursor, scope)).toEqual(at);
      if (other !== scope) await expect(cursors.open(cursor, other)).rejects.toMatchObject({ kind: 'malformed' });
      await expect(cursorSealer(['b'.repeat(43)]).open(cursor, scope)).rejects.toMatchObject({ kind: 'malformed' });
    }),
  );
});

test('a cursor with a changed, missing or added bit is rejected', async () => {
  const cursor = await cursors.seal({ id: idAt(1), key: 'müller' }, 'scope');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (let place = 0; place < cursor.length; place += 1) {
    for (let bit = 0; bit < 6; bit += 1) {
      const character = alphabet[alphabet.indexOf(cursor[place] ?? '') ^ (1 << bit)] ?? '';
      const altered = cursor.slice(0, place) + character + cursor.slice(place + 1);
      await expect(cursors.open(altered, 'scope')).rejects.toMatchObject({ kind: 'malformed' });
    }
  }
  for (const altered of [
    '',
    cursor.slice(1),
    cursor.slice(0, -1),
    `${cursor}A`,
    `${cursor}=`,
    `${cursor} `,
    'AAAA',
    '%',
  ]) {
    await expect(cursors.open(altered, 'scope')).rejects.toMatchObject({ kind: 'malformed' });
  }
});

test('two cursors of one position differ', async () => {
  const at = { id: idAt(1), key: null };
  expect(await cursors.seal(at, 's')).not.toBe(await cursors.seal(at, 's'));
});

test('a cursor survives a rotation of the secret', async () => {
  const [old, next] = ['a'.repeat(43), 'n'.repeat(43)];
  const position = { id: '0192f0c1-0000-7000-8000-000000000000', key: 'Doe' };
  const before = await cursorSealer([old]).seal(position, 'scope');
  const rotated = cursorSealer([next, old]);
  expect(await rotated.open(before, 'scope')).toEqual(position);
  const after = await rotated.seal(position, 'scope');
  await expect(cursorSealer([old]).open(after, 'scope')).rejects.toMatchObject({ kind: 'malformed' });
});
