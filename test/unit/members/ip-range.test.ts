import { expect, test } from 'vitest';

import { checkIpRange } from '../../../edge/members/ip-range.ts';

test.each(['*', '192.0.2.1', '192.0.2.0/24', '10.1.2.3/8', '::1', '2001:DB8::/32', '::ffff:192.0.2.0/120', '::/0'])(
  '%s may be an Allowed IP',
  (text) => {
    expect(checkIpRange(text)).toBeUndefined();
  },
);

test.each([
  ['localhost', '"localhost" is neither an IP address, a CIDR range nor *'],
  ['192.0.2.*', '"192.0.2.*" is neither an IP address, a CIDR range nor *'],
  ['192.0.02.1', '"192.0.02.1" is neither an IP address, a CIDR range nor *'],
  ['192.0.2.1-192.0.2.9', '"192.0.2.1-192.0.2.9" is neither an IP address, a CIDR range nor *'],
  ['fe80::1%eth0', '"fe80::1%eth0" is neither an IP address, a CIDR range nor *'],
  ['192.0.2.0/24/8', '"192.0.2.0/24/8" is neither an IP address, a CIDR range nor *'],
  ['192.0.2.0/33', '"192.0.2.0/33": the prefix must be a number from 0 to 32'],
  ['192.0.2.0/255.255.255.0', '"192.0.2.0/255.255.255.0": the prefix must be a number from 0 to 32'],
  ['2001:db8::/129', '"2001:db8::/129": the prefix must be a number from 0 to 128'],
])('%s may not, and it is said why', (text, reason) => {
  expect(checkIpRange(text)).toBe(reason);
});
