import { createHash } from 'node:crypto';

import { expect, test } from 'vitest';

import { sealingKey, sha256Of } from '../../../edge/http/crypto.ts';

const iv = new Uint8Array(12);
const text = new TextEncoder().encode('what is sealed');

test.each(['', 'jti', 'Größe'])('the digest of %j is that of its UTF-8', async (of) => {
  const expected = createHash('sha256').update(of).digest('base64url');
  expect(await sha256Of(of)).toBe(expected);
  expect(await sha256Of(new TextEncoder().encode(of))).toBe(expected);
});

test('two simultaneous callers get the same key, and it is cached', async () => {
  const key = sealingKey('secret', 'a purpose');
  const [first, second] = await Promise.all([key(), key()]);
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, first, text);
  expect(new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, second, sealed))).toEqual(text);
  expect(await key()).toBe(await key());
});

test('another purpose, or another secret, has another key', async () => {
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await sealingKey('secret', 'a purpose')(), text);
  for (const other of [sealingKey('secret', 'another purpose'), sealingKey('another secret', 'a purpose')]) {
    await expect(crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await other(), sealed)).rejects.toThrow();
  }
});
