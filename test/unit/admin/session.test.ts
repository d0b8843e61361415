/** What guards the console: sealed cookies, requests of other sites, claims of a provider, conditions on versions. */
import { describe, expect, test } from 'vitest';

import { refuseCrossSite } from '../../../edge/admin/staff/cross-site.ts';
import { fromCursor, toCursor, toList, UUID_PART } from '../../../edge/admin/api/cursor.ts';
import { readIfMatch } from '../../../edge/admin/api/if-match.ts';
import { type GroupGrant, toActor, toPerson } from '../../../edge/admin/staff/permissions.ts';
import { createSeal } from '../../../edge/admin/staff/seal.ts';
import { createTokenSeal } from '../../../edge/admin/staff/token-seal.ts';
import type { Config } from '../../../edge/config.ts';
import { securityHeaders } from '../../../edge/http/security-headers.ts';
import { Fault } from '../../../shared/fault.ts';

const NOW = 1_800_000_000_000;
const SECRET = 'q'.repeat(43);

describe('a sealed value', () => {
  const seal = createSeal([SECRET], 'admin session');

  test('is opened by the same secret and purpose until it expires', async () => {
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

  test('cannot be read, changed or made by others', async () => {
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

test('a token of the provider is opened for its own session only', async () => {
  const tokens = createTokenSeal({ config: { GATEWAY_SECRET: [SECRET] } as Config, now: () => NOW });
  const sealed = await tokens.seal('one', 'refresh');
  expect(sealed).not.toContain('refresh');
  expect(await tokens.open('one', sealed)).toBe('refresh');
  expect(await tokens.open('another', sealed)).toBeUndefined();
  expect(await tokens.open('one', 'x')).toBeUndefined();
});

describe('a request of another site', () => {
  const OWN = 'https://console.example';
  const post =
    (headers: Record<string, string>, method = 'POST') =>
    () =>
      refuseCrossSite(new Request(`${OWN}/admin/keys`, { method, headers }), OWN);

  test.each<[string, Record<string, string>]>([
    ['its own page', { origin: OWN, 'sec-fetch-site': 'same-origin' }],
    ['an older browser', { origin: OWN }],
    ['a page without referrer', { 'sec-fetch-site': 'same-origin' }],
  ])('is none when it comes from %s', (_, headers) => {
    expect(post(headers)).not.toThrow();
  });

  test.each<[string, Record<string, string>]>([
    ['nothing said', {}],
    ['another origin', { origin: 'https://evil.example' }],
    ['another origin of the same site', { origin: 'https://blog.console.example', 'sec-fetch-site': 'same-site' }],
    ['a forged origin', { origin: OWN, 'sec-fetch-site': 'cross-site' }],
    ['no origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
    ['http', { origin: 'http://console.example' }],
  ])('is refused with %s', (_, headers) => {
    expect(post(headers)).toThrow(Fault);
    expect(post(headers, 'PATCH')).toThrow(Fault);
    expect(post(headers, 'GET')).not.toThrow();
  });
});

describe('claims of a provider', () => {
  const site = '0192f0c1-0000-7000-8000-000000000000';

  test.each([
    [['site.api_keys.read', 'other'], ['site.api_keys.read']],
    ['site.api_keys.read site.messages.read', ['site.api_keys.read', 'site.messages.read']],
    ['site.api_keys.read,site.messages.read', ['site.api_keys.read', 'site.messages.read']],
    [undefined, []],
  ])('permissions %j are %j', (permissions, expected) => {
    expect([...toActor({ sub: 'a', site, permissions }).permissions]).toEqual(expected);
  });

  test.each([{}, { sub: 'a' }, { sub: 'a', site: 'north' }, { sub: '', site }, { sub: 'a', site: [site, 'north'] }])(
    '%j is nobody',
    (claims) => {
      expect(() => toActor(claims)).toThrow(/site/);
    },
  );

  const other = '0192f0c1-0000-7000-8000-000000000001';
  const rules = {
    site: 'site',
    permissions: 'permissions',
    groups: 'groups',
    byGroup: new Map<string, GroupGrant>([
      ['Lab admins', { sites: [other], permissions: ['site.api_keys.update'] }],
      ['readers', { sites: [site, other], permissions: ['site.api_keys.read'] }],
    ]),
  };
  const grantsOf = (claims: object) =>
    Object.fromEntries([...toPerson({ sub: 'a', ...claims }, rules).grants].map(([id, own]) => [id, [...own]]));

  test('several sites of the claim have the same permissions', () => {
    expect(grantsOf({ site: [site, other.toUpperCase()], permissions: 'site.audit.read' })).toEqual({
      [site]: ['site.audit.read'],
      [other]: ['site.audit.read'],
    });
  });

  test('a group counts in its own sites, beside the claims', () => {
    expect(grantsOf({ groups: ['Lab admins', 'readers', 'constructor'] })).toEqual({
      [other]: ['site.api_keys.update', 'site.api_keys.read'],
      [site]: ['site.api_keys.read'],
    });
    expect(grantsOf({ groups: 'Lab admins' })).toEqual({ [other]: ['site.api_keys.update'] });
    expect(grantsOf({ site, permissions: ['site.audit.read'], groups: ['Lab admins'] })).toEqual({
      [site]: ['site.audit.read'],
      [other]: ['site.api_keys.update'],
    });
  });

  test.each([
    [{}, /sends no claim "groups"/],
    [{ groups: ['Lab'] }, /none of your groups/],
    [{ _claim_names: { groups: 'src1' } }, /too many/],
    [{ groups: ['admins', 'Lab', 'admins'].join(' ') }, /none of your groups/],
  ])('without a site by groups %j is told why', (claims, why) => {
    expect(() => grantsOf(claims)).toThrow(why);
  });

  test('the name is what the provider tells, else the subject', () => {
    expect(toActor({ sub: 'a', site, email: 'a@example.org' }).name).toBe('a@example.org');
    expect(toActor({ sub: 'a', site }).name).toBe('a');
  });
});

test.each([
  ['"3"', [3]],
  ['W/"3"', [3]],
  ['"1", "2"', [1, 2]],
  ['*', []],
])('If-Match %s is %j', (header, versions) => {
  expect(readIfMatch(header)).toEqual(versions);
});

test.each(['', '3', '"a"', '"1" "2"', '"-1"', 'W/3'])('If-Match %s is malformed', (header) => {
  expect(() => readIfMatch(header)).toThrow(/not an ETag/);
});

describe('cursors', () => {
  const id = '0192f0c1-0000-7000-8000-000000000000';

  test('come back as they were made, and only so', () => {
    expect(fromCursor(toCursor([id]), UUID_PART)).toEqual([id]);
    expect(fromCursor(undefined, UUID_PART)).toBeNull();
    const bad = ['x', toCursor([]), toCursor([id, id]), toCursor(["' or 1=1"]), `${toCursor([id])}=`, 'bnVsbA'];
    for (const cursor of bad) expect(() => fromCursor(cursor, UUID_PART), cursor).toThrow(/cursor/);
  });

  test('a list ends where nothing follows', () => {
    const list = (rows: number[]) => toList(rows, 2, (row) => [String(row)]);
    expect(list([1, 2])).toEqual({ items: [1, 2], next: null });
    expect(list([1, 2, 3])).toEqual({ items: [1, 2], next: toCursor(['2']) });
    expect(list([])).toEqual({ items: [], next: null });
  });
});

test('pages have a policy without inline script, other hosts or frames', () => {
  const policy = securityHeaders({ formOrigins: ['https://id.example'] })['Content-Security-Policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self' https://id.example");
  expect(policy).not.toMatch(/unsafe|\*/);
});
