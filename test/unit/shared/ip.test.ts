/** Addresses and ranges: what is one, which spelling is whose, what holds what. */
import { BlockList, isIP } from 'node:net';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { canonicalRange, parseAddress, parseRange, printAddress, rangeContains } from '../../../shared/ip.ts';
import { inputs } from '../../stack/tools/size.ts';

const list = (text: string): string[] => text.trim().split(/\s+/);

const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));
/** Many zeros, so that there is something to abbreviate. */
const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
const ipv6 = fc
  .array(group, { minLength: 8, maxLength: 8 })
  .map((groups) => groups.map((each) => each.toString(16)).join(':'));
const isPlainIpv6 = (text: string): boolean => !/^(?:0:){5}ffff:/.test(text);

const parsed = (text: string): Uint8Array => {
  const bytes = parseAddress(text);
  if (bytes === undefined) throw new Error(`${text} is no address`);
  return bytes;
};
const holds = (range: string, address: string): boolean | undefined => {
  const read = parseRange(range);
  return read && rangeContains(read, parsed(address));
};

describe('parseAddress', () => {
  test.each([
    ['192.0.2.1', '00000000000000000000ffffc0000201'],
    ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
    ['::FFFF:c000:201', '00000000000000000000ffffc0000201'],
    ['0:0:0:0:0:ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
    ['0.0.0.0', '00000000000000000000ffff00000000'],
    ['255.255.255.255', '00000000000000000000ffffffffffff'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['1::', '00010000000000000000000000000000'],
    ['2001:DB8::8:800:200C:417A', '20010db80000000000080800200c417a'],
    ['1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
    ['::2:3:4:5:6:7:8', '00000002000300040005000600070008'],
    ['1:2:3:4:5:6:1.2.3.4', '00010002000300040005000601020304'],
    ['::1.2.3.4', '00000000000000000000000001020304'],
    ['0001:0002::', '00010002000000000000000000000000'],
  ])('%s', (text, hex) => {
    expect(Buffer.from(parsed(text)).toString('hex')).toBe(hex);
  });

  test.each([
    ...list(`
      1 1.2.3 1.2.3.4.5 1.2.3. .1.2.3 1..2.3 256.1.1.1 1.1.1.-1 1.1.1.1e0 01.2.3.4 1.2.3.04 0x7f.0.0.1
      0177.0.0.1 2130706433 127.1 １.2.3.4 : ::: 1::2::3 ::1:: 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1:2:3:4:5:6:7:8::
      1::2:3:4:5:6:7:8 :1:2:3:4:5:6:7 1:2:3:4:5:6:7: 12345:: g:: ::1%eth0 fe80::1%1 [::1] ::ffff:1.2.3.04
      1.2.3.4:: ::1.2.3.4:5 ::1.2.3 1:2:3:4:5:6:7:1.2.3.4 ::/0 * localhost 1.2.3.4:80
    `),
    '',
    ' ',
    '1.2.3.4 ',
    ' 1.2.3.4',
    '::1\n',
    '::\u00001',
    `${'0'.repeat(100)}::1`,
    '1.2.3.4\0',
  ])('%j is not an address', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  test('agrees with the platform on valid addresses, except zones', () => {
    const near = fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdfF:::..%/g')), maxLength: 20 });
    const text = fc.oneof(ipv4, ipv6, near);
    fc.assert(
      fc.property(text, (each) => {
        expect(parseAddress(each) !== undefined).toBe(isIP(each) !== 0 && !each.includes('%'));
      }),
      { numRuns: inputs(3000) },
    );
  });
});

describe('printAddress', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['1:0:0:0:0:0:0:0', '1::'],
    ['2001:0DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['10:0:0:10:0:10:0:0', '10::10:0:10:0:0'],
    ['::1.2.3.4', '::102:304'],
  ])('%s is written %s', (text, canonical) => {
    expect(printAddress(parsed(text))).toBe(canonical);
  });

  test('writes IPv6 like the URL parser, and reads its own texts', () => {
    fc.assert(
      fc.property(ipv6.filter(isPlainIpv6), (text) => {
        const printed = printAddress(parsed(text));
        expect(`[${printed}]`).toBe(new URL(`http://[${text}]/`).hostname);
        expect(parsed(printed)).toEqual(parsed(text));
      }),
    );
    fc.assert(fc.property(ipv4, (text) => printAddress(parsed(text)) === text));
  });
});

describe('ranges', () => {
  test.each([
    ['*', '*', '192.0.2.1', true],
    ['*', '*', '2001:db8::1', true],
    ['::/0', '*', '192.0.2.1', true],
    ['0.0.0.0/0', '0.0.0.0/0', '192.0.2.1', true],
    ['0.0.0.0/0', '0.0.0.0/0', '2001:db8::1', false],
    ['192.0.2.1', '192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.1', '::ffff:192.0.2.1', true],
    ['192.0.2.1', '192.0.2.1', '192.0.2.2', false],
    ['192.0.2.1/32', '192.0.2.1', '192.0.2.1', true],
    ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1', true],
    ['::ffff:192.0.2.0/120', '192.0.2.0/24', '192.0.2.255', true],
    ['10.1.2.3/8', '10.0.0.0/8', '10.255.0.1', true],
    ['10.1.2.3/8', '10.0.0.0/8', '11.0.0.1', false],
    ['172.16.0.0/12', '172.16.0.0/12', '172.31.255.255', true],
    ['172.16.0.0/12', '172.16.0.0/12', '172.32.0.0', false],
    ['192.0.2.128/25', '192.0.2.128/25', '192.0.2.127', false],
    ['192.0.2.6/31', '192.0.2.6/31', '192.0.2.7', true],
    ['192.0.2.6/31', '192.0.2.6/31', '192.0.2.8', false],
    ['2001:DB8:0::/32', '2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db8::/32', '2001:db9::', false],
    ['2001:db8::1/128', '2001:db8::1', '2001:db8::1', true],
    ['2001:db8::ff/127', '2001:db8::fe/127', '2001:db8::fe', true],
    ['::ffff:1.2.3.4/90', '::ffc0:0:0/90', '::ffff:9.9.9.9', true],
    ['::1', '::1', '127.0.0.1', false],
  ])('%s is written %s and for %s says %s', (range, canonical, address, expected) => {
    expect(canonicalRange(range)).toBe(canonical);
    expect(holds(range, address)).toBe(expected);
    expect(holds(canonical, address)).toBe(expected);
  });

  test.each([
    ...list(`
      ** */0 192.0.2.0/33 192.0.2.0/-1 192.0.2.0/ 192.0.2.0/024 192.0.2.0/8/8 /8 192.0.2.0/255.255.255.0
      192.0.2.* 192.0.2.1-9 2001:db8::/129 ::/00 10/8 ::/1e1
    `),
    '',
    '192.0.2.0/ 8',
  ])('%j is not a range', (text) => {
    expect(parseRange(text)).toBeUndefined();
    expect(canonicalRange(text)).toBeUndefined();
  });

  test('agrees with the platform on ranges of one family', () => {
    const inFamily = fc.oneof(
      fc.tuple(ipv4, ipv4, fc.integer({ min: 0, max: 32 }), fc.constant<'ipv4'>('ipv4')),
      fc.tuple(ipv6, ipv6, fc.integer({ min: 0, max: 128 }), fc.constant<'ipv6'>('ipv6')),
    );
    fc.assert(
      fc.property(inFamily, fc.boolean(), ([network, other, prefix, family], isNear) => {
        // An address that shares all bits but the last few, or any.
        const bytes = parsed(network);
        bytes[15] = (bytes[15] ?? 0) ^ 5;
        const address = isNear ? printAddress(bytes) : other;
        const list = new BlockList();
        list.addSubnet(network, prefix, family);
        const isMapped = family === 'ipv6' && (!isPlainIpv6(network) || !isPlainIpv6(address));
        fc.pre(!isMapped);
        expect(holds(`${network}/${prefix}`, address)).toBe(list.check(address, family));
        expect(canonicalRange(canonicalRange(`${network}/${prefix}`) ?? '')).toBe(
          canonicalRange(`${network}/${prefix}`),
        );
      }),
      { numRuns: inputs(1000) },
    );
  });
});
