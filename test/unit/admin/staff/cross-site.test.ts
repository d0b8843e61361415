import { describe, expect, test } from 'vitest';

import { refuseCrossSite } from '../../../../edge/admin/staff/cross-site.ts';
import { Fault } from '../../../../shared/fault.ts';

describe('a request from another origin', () => {
  const OWN = 'https://console.example';
  const post =
    (headers: Record<string, string>, method = 'POST') =>
    () =>
      refuseCrossSite(new Request(`${OWN}/admin/keys`, { method, headers }), OWN);

  test.each<[string, Record<string, string>]>([
    ['its own page', { origin: OWN, 'sec-fetch-site': 'same-origin' }],
    ['an older browser', { origin: OWN }],
    ['a page without referrer', { 'sec-fetch-site': 'same-origin' }],
  ])('is not one with %s', (_, headers) => {
    expect(post(headers)).not.toThrow();
  });

  test.each<[string, Record<string, string>]>([
    ['nothing said', {}],
    ['another origin', { origin: 'https://evil.example' }],
    ['another origin of the same site', { origin: 'https://blog.console.example', 'sec-fetch-site': 'same-site' }],
    ['a forged origin', { origin: OWN, 'sec-fetch-site': 'cross-site' }],
    ['no origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
    ['http', { origin: 'http://console.example' }],
  ])('is rejected with %s', (_, headers) => {
    expect(post(headers)).toThrow(Fault);
    expect(post(headers, 'PATCH')).toThrow(Fault);
    expect(post(headers, 'GET')).not.toThrow();
  });
});
