/** The typed name that confirms disabling an API key. */
import { expect, test } from 'vitest';

import { namesKey } from '../../../../edge/admin/keys/status.tsx';

const key = { name: 'Labor Müller', client_id: 'svc-1' };

test.each<[string, boolean]>([
  ['Labor Müller', true],
  [' labor  mu\u0308ller ', true],
  ['SVC-1', true],
  ['Labor Muller', false],
  ['', false],
])('%j names the key: %s', (text, expected) => expect(namesKey(text, key)).toBe(expected));

test('a name of 200 characters with a combining mark each matches', () => {
  const name = 'ü'.repeat(200);
  expect(namesKey(name.normalize('NFD'), { ...key, name })).toBe(true);
});
