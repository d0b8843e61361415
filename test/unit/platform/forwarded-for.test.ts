import { expect, test } from 'vitest';

import { createSourceAddress } from '../../../edge/platform/forwarded-for.ts';

const PROXIES = ['10.0.0.0/8', '2001:db8:ff::/48'];

test.each([
  ['without trusted proxies: the peer, with any header', [], '10.0.0.1', '192.0.2.1', '10.0.0.1'],
  ['a peer that is not a proxy', PROXIES, '192.0.2.9', '198.51.100.1', '192.0.2.9'],
  ['a proxy: the address of its caller', PROXIES, '10.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['an address from the caller is ignored', PROXIES, '10.0.0.1', '198.51.100.1, 192.0.2.1', '192.0.2.1'],
  ['two proxies', PROXIES, '10.0.0.1', '198.51.100.1, 192.0.2.1, 10.0.0.2', '192.0.2.1'],
  ['IPv6, and a proxy of it', PROXIES, '2001:db8:ff::1', '2001:DB8::1', '2001:db8::1'],
  ['a mapped peer', PROXIES, '::ffff:10.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['ports', PROXIES, '10.0.0.1', '192.0.2.1:4711', '192.0.2.1'],
  ['ports of IPv6', PROXIES, '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
  ['no header', PROXIES, '10.0.0.1', null, '10.0.0.1'],
  ['an empty header', PROXIES, '10.0.0.1', ' ', '10.0.0.1'],
  ['a value that is not an address ends the list', PROXIES, '10.0.0.1', '192.0.2.1, unknown', '10.0.0.1'],
  ['only proxies: the furthest', PROXIES, '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
] as const)('%s', (_, trusted, peer, header, expected) => {
  expect(createSourceAddress(trusted)(peer, header)).toBe(expected);
});
