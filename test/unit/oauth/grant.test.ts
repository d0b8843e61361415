/** Rows 61-65: scope and audience; and the form that brings them, rows 2-8. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { parseForm, readForm } from '../../../edge/oauth/form.ts';
import { Refused } from '../../../edge/oauth/refused.ts';
import { chooseAudience } from '../../../shared/oauth/audience.ts';
import { expandScope, grantScopes, SCOPES } from '../../../shared/oauth/scope.ts';

describe('scope', () => {
  test('there are fourteen', () => {
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
    expect(expandScope(scope)).toEqual(names);
  });

  test('63: what is granted is what is asked and allowed, in one order', () => {
    const allowed = ['system/Observation.read', 'system/Patient.write', 'system/Patient.read', 'fhir.read'];
    expect(grantScopes('system/Observation.rs openid  system/Patient.read fhir.read', allowed)).toEqual({
      granted: ['system/Patient.read', 'system/Observation.read'],
    });
  });

  test.each<[string, string | undefined, RegExp]>([
    ['missing', undefined, /required/],
    ['spaces', '  ', /required/],
    ['a tab', 'system/Patient.read\tsystem/Patient.write', /single spaces/],
    ['a quote', 'system/Patient.read "x"', /characters/],
    ['commas', 'system/Patient.read,system/Patient.write', /not commas/],
    ['unknown ones', 'openid user/Patient.read', /none of the requested scopes is known/],
    ['over a hundred', Array(101).fill('system/Patient.read').join(' '), /more than 100/],
    ['62: not allowed', 'system/Patient.write', /Allowed scopes of the API key: system\/Patient.read/],
  ])('61: %s', (_, requested, reason) => {
    expect(grantScopes(requested, ['system/Patient.read'])).toMatchObject({ reason: expect.stringMatching(reason) });
  });

  test('a key without Allowed scopes gets none, and is told so', () => {
    expect(grantScopes('system/*.*', [])).toMatchObject({ reason: expect.stringMatching(/has no Allowed scopes/) });
  });

  test('never more than is allowed', () => {
    const scope = fc.oneof(
      fc.constantFrom(...SCOPES, 'system/*.*', 'system/*.read', 'system/Patient.cruds'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(scope), fc.subarray([...SCOPES]), (requested, allowed) => {
        const result = grantScopes(requested.join(' '), allowed);
        if ('granted' in result) expect(allowed).toEqual(expect.arrayContaining([...result.granted]));
      }),
    );
  });
});

describe('audience', () => {
  const all = ['fhir', 'hl7'];
  test.each<[string | undefined, string[], string[], string]>([
    [undefined, [], all, 'svc-fhir'],
    [undefined, ['svc-hl7-http', 'svc-fhir'], all, 'svc-hl7-http'],
    ['svc-hl7-http', [], all, 'svc-hl7-http'],
    ['svc-fhir', ['svc-hl7-http', 'svc-fhir'], ['fhir'], 'svc-fhir'],
  ])('%s of %j with %j: %s', (requested, allowed, protocols, audience) => {
    expect(chooseAudience(requested, allowed, protocols)).toEqual({ audience });
  });
  test.each<[string | undefined, string[], string[], RegExp]>([
    ['svc-other', [], all, /not known/],
    ['constructor', [], all, /not known/],
    ['svc-fhir', ['svc-hl7-http'], all, /not among the Allowed audiences/],
    ['svc-hl7-http', [], ['fhir'], /needs protocol hl7/],
    [undefined, [], ['hl7-mllp'], /when none is requested, needs protocol fhir/],
  ])('64: %s of %j with %j is refused', (requested, allowed, protocols, reason) => {
    expect(chooseAudience(requested, allowed, protocols)).toMatchObject({ reason: expect.stringMatching(reason) });
  });
});

describe('the form', () => {
  const refusal = async (work: () => unknown) => {
    try {
      await work();
    } catch (error) {
      if (error instanceof Refused) return `${error.fault.kind} ${error.fault.code}: ${error.refusal.reason}`;
      throw error;
    }
    return undefined;
  };

  test('8: an empty value is absent', () => {
    const form = parseForm('scope=&a=b+c&d=%C3%A4&e&f=1=2&');
    expect([form.get('scope'), form.get('a'), form.get('d'), form.get('e'), form.get('f')]).toEqual([
      undefined,
      'b c',
      'ä',
      undefined,
      '1=2',
    ]);
    expect([form.has('scope'), form.has('g'), form.get('__proto__')]).toEqual([true, false, undefined]);
  });

  test.each<[string, string, RegExp]>([
    ['5 twice', 'a=1&a=1', /"a" is given twice/],
    ['5 twice, one empty', 'scope=&scope=x', /twice/],
    ['5 twice by an escape', 'a=1&%61=2', /twice/],
    ['7 a bad escape', 'a=%2', /percent-escape/],
    ['7 no escape', 'a=%zz', /percent-escape/],
    ['7 invalid UTF-8', 'a=%ff', /UTF-8/],
    ['7 NUL', 'a=%00', /control/],
    ['7 a control character', 'a=%0A', /control/],
    ['7 in a name', 'a%1f=1', /control/],
    ['7 21 parameters', Array.from({ length: 21 }, (_, i) => `p${i}=1`).join('&'), /more than 20/],
  ])('%s', async (_, body, reason) => {
    expect(await refusal(() => parseForm(body))).toMatch(reason);
  });

  const url = 'https://oauth.test/oauth2/token';
  const type = 'application/x-www-form-urlencoded';
  const post =
    (headers: Record<string, string>, body = 'a=1', query = '') =>
    () =>
      readForm(new Request(url + query, { method: 'POST', headers, body }));

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['2 JSON', post({ 'content-type': 'application/json' }, '{}'), /^malformed invalid_request/],
    ['2 multipart', post({ 'content-type': 'multipart/form-data; boundary=a' }), /^malformed/],
    ['2 text', post({ 'content-type': 'text/plain' }), /^malformed/],
    ['2 another charset', post({ 'content-type': `${type}; charset=iso-8859-15` }), /charset/],
    ['2 a byte of another charset', post({ 'content-type': `${type}; charset=iso-8859-1` }, 'a=é'), /ASCII/],
    ['2 a longer name', post({ 'content-type': `${type}x` }), /^malformed/],
    ['3 over 16 KiB', post({ 'content-type': type }, 'a'.repeat(16385)), /^too-large invalid_request/],
    [
      '4 an encoding',
      post({ 'content-type': type, 'content-encoding': 'gzip' }),
      /^unsupported-media-type invalid_request/,
    ],
    ['6 a query', post({ 'content-type': type }, 'a=1', '?b=2'), /query/],
  ])('%s', async (_, work, reason) => {
    expect(await refusal(work)).toMatch(reason);
  });

  test.each([type, `${type};charset=UTF-8`, `${type}; charset=ISO-8859-1`, `${type.toUpperCase()}; charset="utf-8"`])(
    '%s is read',
    async (given) => {
      expect((await post({ 'content-type': given })()).get('a')).toBe('1');
    },
  );
});
