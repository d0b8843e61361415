/** Rows 61-63 and 65 of what the token service refuses: scope. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { expandScope, grantScopes, SCOPES, scopesOf } from '../../../../shared/oauth/scope.ts';
import { ALL_RESOURCE_TYPES, RESOURCE_TYPES } from '../../../../shared/resource-type.ts';

describe('scope', () => {
  test('fourteen scopes exist', () => {
    expect(SCOPES).toHaveLength(14);
  });

  test.each<[string, readonly string[]]>([
    ['system/Patient.read', ['system/Patient.read']],
    ['system/Patient.rs', ['system/Patient.read']],
    ['system/Patient.cud', ['system/Patient.write']],
    ['system/Patient.cruds', ['system/Patient.read', 'system/Patient.write']],
    ['system/Patient.*', ['system/Patient.read', 'system/Patient.write']],
    ['system/*.read', SCOPES.filter((scope) => scope.endsWith('.read'))],
    ['system/*.rs', SCOPES.filter((scope) => scope.endsWith('.read'))],
    ['system/*.write', SCOPES.filter((scope) => scope.endsWith('.write'))],
    ['system/*.*', SCOPES],
    ['system/Patient.r', []],
    ['system/Patient.cu', []],
    ['system/Patient.sr', []],
    ['system/Patient.reed', []],
    ['system/Patient.READ', []],
    ['system/patient.read', []],
    ['system/Encounter.read', []],
    ['system/Patient.rs?name=a', []],
    ['system/Patient', []],
    ['system/constructor.read', []],
    ['user/Patient.read', []],
    ['patient/*.read', []],
    ['openid', []],
    ['', []],
  ])('%s stands for %j', (scope, names) => {
    expect(expandScope(scope, RESOURCE_TYPES)).toEqual(names);
  });

  test('63: grants the requested scopes that are allowed, in a fixed order', () => {
    const allowed = ['system/Observation.read', 'system/Patient.write', 'system/Patient.read', 'fhir.read'];
    expect(grantScopes('system/Observation.rs openid  system/Patient.read fhir.read', allowed, RESOURCE_TYPES)).toEqual(
      {
        granted: ['system/Patient.read', 'system/Observation.read'],
      },
    );
  });

  test.each<[string, string | undefined, RegExp]>([
    ['missing', undefined, /required/],
    ['spaces', '  ', /required/],
    ['a tab', 'system/Patient.read\tsystem/Patient.write', /single spaces/],
    ['a quote', 'system/Patient.read "x"', /characters/],
    ['commas', 'system/Patient.read,system/Patient.write', /not commas/],
    ['unknown ones', 'openid user/Patient.read', /none of the requested scopes is known/],
    ['over a hundred', Array(101).fill('system/Patient.read').join(' '), /at most 100 are allowed/],
    ['62: not allowed', 'system/Patient.write', /Allowed scopes of the API key: system\/Patient.read/],
  ])('61: %s', (_, requested, reason) => {
    expect(grantScopes(requested, ['system/Patient.read'], RESOURCE_TYPES)).toMatchObject({
      reason: expect.stringMatching(reason),
    });
  });

  test('grants the scopes of a switched type only where the type is on', () => {
    const allowed = ['system/Group.read', 'system/Patient.read'];
    for (const all of ['system/*.*', 'system/Group.read system/Patient.read']) {
      expect(grantScopes(all, allowed, RESOURCE_TYPES)).toEqual({ granted: ['system/Patient.read'] });
      expect(grantScopes(all, allowed, ALL_RESOURCE_TYPES)).toEqual({
        granted: ['system/Patient.read', 'system/Group.read'],
      });
    }
    expect(grantScopes('system/Group.rs', allowed, RESOURCE_TYPES)).toMatchObject({
      reason: expect.stringMatching(/Group is off .* FHIR_GROUPS=on/),
    });
  });

  test('a Provenance can only be read', () => {
    expect(scopesOf(['Provenance'])).toEqual(['system/Provenance.read']);
    const asked = ['system/Provenance.read', 'system/Provenance.write', 'system/Patient.write'];
    expect(grantScopes('system/*.*', asked, ALL_RESOURCE_TYPES)).toEqual({
      granted: ['system/Patient.write', 'system/Provenance.read'],
    });
    expect(grantScopes('system/Provenance.rs', asked, RESOURCE_TYPES)).toMatchObject({
      reason: expect.stringMatching(/Provenance is off .* FHIR_PROVENANCE=on/),
    });
  });

  test('rejects every request of a key without Allowed scopes', () => {
    expect(grantScopes('system/*.*', [], RESOURCE_TYPES)).toMatchObject({
      reason: expect.stringMatching(/has no Allowed scopes/),
    });
  });

  test('never more than is allowed', () => {
    const scope = fc.oneof(
      fc.constantFrom(...SCOPES, 'system/*.*', 'system/*.read', 'system/Patient.cruds'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(scope), fc.subarray([...SCOPES]), (requested, allowed) => {
        const result = grantScopes(requested.join(' '), allowed, RESOURCE_TYPES);
        if ('granted' in result) expect(allowed).toEqual(expect.arrayContaining([...result.granted]));
      }),
    );
  });
});
