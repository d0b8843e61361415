import { describe, expect, test } from 'vitest';

import { createSeal } from '../../../../edge/admin/staff/seal.ts';

const NOW = 1_800_000_000_000;
const SECRET = 'q'.repeat(43);

describe('a sealed value', () => {
  const seal = createSeal([SECRET], 'admin session');

  test('opens with its secret and purpose until it expires', async () => {
    const sealed = await seal.seal({ sub: 'a' }, NOW / 1000 + 60);
    expect(await createSeal([SECRET], 'admin session').open(sealed, NOW)).toMatchObject({ sub: 'a' });
    expect(await seal.open(sealed, NOW + 61_000)).toBeUndefined();
    expect(await createSeal(['r'.repeat(43)], 'admin session').open(sealed, NOW)).toBeUndefined();
    expect(await createSeal([SECRET], 'admin sign-in').open(sealed, NOW)).toBeUndefined();
  });

  test('survives a rotation: the first secret seals, all open', async () => {
    const [old, next] = ['o'.repeat(43), 'n'.repeat(43)];
    const before = await createSeal([old], 'admin session').seal({ sub: 'a' }, NOW / 1000 + 60);
    const rotated = createSeal([next, old], 'admin session');
    expect(await rotated.open(before, NOW)).toMatchObject({ sub: 'a' });
    const after = await rotated.seal({ sub: 'b' }, NOW / 1000 + 60);
    expect(await createSeal([old, next], 'admin session').open(after, NOW)).toMatchObject({ sub: 'b' });
    expect(await createSeal([old], 'admin session').open(after, NOW)).toBeUndefined();
    expect(await createSeal([next], 'admin session').open(before, NOW)).toBeUndefined();
  });

  test('cannot be read, changed or made without the secret', async () => {
    const sealed = await seal.seal({ sub: 'secret-subject' }, NOW / 1000 + 60);
    expect(atob(sealed.split('.')[3]?.replaceAll('-', '+').replaceAll('_', '/') ?? '')).not.toContain('secret-subject');
    // The highest of a character's six bits always counts; the lowest of a segment's last may be padding.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let at = 0; at < sealed.length; at += 7) {
      const other = sealed[at] === '.' ? 'A' : alphabet[alphabet.indexOf(sealed[at] ?? '') ^ 32];
      const changed = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
      expect(await seal.open(changed, NOW)).toBeUndefined();
    }
    for (const forged of ['', 'x', 'a.b.c', 'a.b.c.d.e', `${sealed}.`])
      expect(await seal.open(forged, NOW)).toBeUndefined();
  });
});
