/** Rows 2-8 of what the token service refuses: the form. */
import { describe, expect, test } from 'vitest';

import { parseForm, readForm } from '../../../edge/oauth/form.ts';
import { Refused } from '../../../edge/oauth/refused.ts';

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
    ['5 twice', 'a=1&a=1', /"a" occurs twice/],
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
