import { describe, expect, test } from 'vitest';

import type { GroupGrant } from '../../../../edge/permissions.ts';
import { toActor } from '../../../../edge/admin/staff/actor.ts';
import { readAccount } from '../../../../edge/admin/staff/account.ts';

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
    '%j is not an account',
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
    Object.fromEntries([...readAccount({ sub: 'a', ...claims }, rules).grants].map(([id, own]) => [id, [...own]]));

  test('several sites of the claim have the same permissions', () => {
    expect(grantsOf({ site: [site, other.toUpperCase()], permissions: 'site.audit.read' })).toEqual({
      [site]: ['site.audit.read'],
      [other]: ['site.audit.read'],
    });
  });

  test('a group grants permissions in its sites, besides the claims', () => {
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
  ])('groups %j without a site are an error with its reason', (claims, why) => {
    expect(() => grantsOf(claims)).toThrow(why);
  });

  test('the name is the provider’s, else the subject', () => {
    expect(toActor({ sub: 'a', site, email: 'a@example.org' }).name).toBe('a@example.org');
    expect(toActor({ sub: 'a', site }).name).toBe('a');
  });
});
