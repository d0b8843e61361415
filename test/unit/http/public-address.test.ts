/** The addresses on the public internet: one of each of IANA's special-purpose ranges, and their neighbours. */
import { describe, expect, test } from 'vitest';

import { isPublicAddress } from '../../../edge/http/public-address.ts';

const list = (text: string): string[] => text.trim().split(/\s+/);

describe('isPublicAddress', () => {
  test.each([
    ...list(`
      8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.0 172.15.0.1 172.32.0.1 192.0.3.1 192.167.1.1 100.63.255.255
      100.128.0.0 223.255.255.255 198.17.0.1 198.20.0.1 2606:4700::1 2001:4860:4860::8888 2a00::1 2001:200::1
      2001:db9:: 2003::1 3fff:1000::1
    `),
  ])('%s is', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    ...list(`
      0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1
      172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1
      203.0.113.9 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::8.8.8.8 ::ffff:8.8.8.8 ::ffff:127.0.0.1
      64:ff9b::808:808 64:ff9b:1::1 100::1 fe80::1 fec0::1 fd00::1 fc00::1 ff02::1 2001::1 2001:1ff::1
      2001:db8::1 5f00::1 2002:7f00:1::1 2002:808:808::1 3fff:0:1:: example.org 1.2.3 a:b 0177.0.0.1
    `),
    '',
  ])('%j is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
