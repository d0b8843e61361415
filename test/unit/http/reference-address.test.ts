import { expect, test } from 'vitest';

import { originsOf, tryPageOf } from '../../../edge/http/reference-address.ts';

const ONE_HOST = {
  INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://gateway.example/x',
  INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: 'https://gateway.example/x',
  ADMIN_PUBLIC_BASE_URL: 'https://gateway.example/x',
};
const HOSTS = {
  INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://auth.example',
  INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: 'https://hl7.example',
  ADMIN_PUBLIC_BASE_URL: 'https://console.example',
};

test.each([
  ['one host with a path', ONE_HOST, 'https://gateway.example/x/docs/try#link_A'],
  ['a host for each surface', HOSTS, 'https://console.example/docs/try#link_A'],
  [
    'a host for the documentation',
    { ...HOSTS, INTEGRATION_DOCS_URL: 'https://docs.example/docs' },
    'https://docs.example/docs/try#link_A',
  ],
  [
    'another documentation, one host',
    { ...ONE_HOST, INTEGRATION_DOCS_URL: 'https://wiki.example/gateway' },
    'https://gateway.example/x/docs/try#link_A',
  ],
  // Only the pages of wiki.example may call the surfaces.
  [
    'another documentation, several hosts',
    { ...HOSTS, INTEGRATION_DOCS_URL: 'https://wiki.example/gateway' },
    undefined,
  ],
  ['no surface', {}, undefined],
])('the page of a link is one whose scripts may call the surfaces: %s', (_, config, expected) => {
  expect(tryPageOf(config, 'link_A')).toBe(expected);
});

test('an origin is listed once, without path', () => {
  expect(originsOf(['https://a.example/x', undefined, 'https://a.example/y', 'http://a.example:81'])).toEqual([
    'https://a.example',
    'http://a.example:81',
  ]);
});
