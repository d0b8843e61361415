/** The PROXY header's parser against a table and against itself: cut anywhere, it says the same. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { readProxyHeader, type ProxyHeader } from '../../../sidecar/proxy-protocol.ts';
import { inputs } from '../../stack/tools/size.ts';

const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n';
const bytes = (...codes: number[]): string => String.fromCharCode(...codes);
const IPV4 = bytes(192, 0, 2, 7, 192, 0, 2, 8, 0, 1, 0, 2);
const IPV6 = bytes(0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7);
const MAPPED = bytes(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7);
const header = (address: string | undefined, length: number): ProxyHeader => ({ kind: 'header', address, length });
const [incomplete, invalid, missing] = (['incomplete', 'invalid', 'missing'] as const).map((kind) => ({ kind }));

test.each<readonly [string, ProxyHeader | undefined]>([
  ['', incomplete],
  ['P', incomplete],
  ['PROXY', incomplete],
  ['PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r', incomplete],
  ['PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n', header('192.0.2.7', 36)],
  ['PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n\u000bMSH', header('192.0.2.7', 36)],
  ['PROXY TCP4 192.0.2.7 192.0.2.8 0 65535\r\n', header('192.0.2.7', 40)],
  ['PROXY TCP6 ::1 2001:db8::8 1 2\r\n', header('::1', 32)],
  ['PROXY UNKNOWN\r\n', header(undefined, 15)],
  ['PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n', header(undefined, 35)],
  ['PROXY TCP4 ::1 ::2 1 2\r\n', invalid],
  ['PROXY TCP6 192.0.2.7 192.0.2.8 1 2\r\n', invalid],
  ['PROXY TCP4 192.0.2.7 192.0.2.8 1\r\n', invalid],
  ['PROXY TCP4 192.0.2.7 192.0.2.8 1 2 3\r\n', invalid],
  ['PROXY TCP4 192.0.2.7 192.0.2.8 1 65536\r\n', invalid],
  ['PROXY TCP4 192.0.2.7 192.0.2.8 01 2\r\n', invalid],
  ['PROXY TCP4 192.0.2.7  192.0.2.8 1 2\r\n', invalid],
  ['PROXY tcp4 192.0.2.7 192.0.2.8 1 2\r\n', invalid],
  ['PROXY \r\n', invalid],
  [`PROXY ${'x'.repeat(200)}`, invalid],
  ['proxy TCP4', missing],
  ['\u000bMSH', missing],
  ['GET / HTTP/1.1', missing],
  ['\r\n\r\n', incomplete],
  ['\r\n\r\n\u000b', missing],
  [`${SIGNATURE}\x21\x11\0\x0c`, incomplete],
  [`${SIGNATURE}\x21\x11\0\x0c${IPV4}`, header('192.0.2.7', 28)],
  [`${SIGNATURE}\x21\x11\0\x0f${IPV4}\x04\0\0rest`, header('192.0.2.7', 31)],
  [`${SIGNATURE}\x21\x21\0\x24${IPV6}${IPV6}\0\x01\0\x02`, header('2001:db8::7', 52)],
  [`${SIGNATURE}\x21\x21\0\x24${MAPPED}${MAPPED}\0\x01\0\x02`, header('::ffff:192.0.2.7', 52)],
  [`${SIGNATURE}\x20\0\0\0`, header(undefined, 16)],
  [`${SIGNATURE}\x20\x11\0\x0c${IPV4}`, header(undefined, 28)],
  [`${SIGNATURE}\x21\0\0\x02ab`, header(undefined, 18)],
  [`${SIGNATURE}\x21\x31\0\x02ab`, header(undefined, 18)],
  [`${SIGNATURE}\x21\x11\0\x04abcd`, invalid],
  [`${SIGNATURE}\x22\x11\0\x0c${IPV4}`, invalid],
  [`${SIGNATURE}\x11\x11\0\x0c${IPV4}`, invalid],
  [`${SIGNATURE}\x21\x11\xff\xff`, invalid],
])('%j', (text, expected) => {
  expect(readProxyHeader(Buffer.from(text, 'latin1'))).toEqual(expected);
});

test('each prefix of a header is incomplete, and no bytes cause an exception', () => {
  const headers = [
    'PROXY TCP6 2001:db8::7 2001:db8::8 40000 2575\r\n',
    `${SIGNATURE}\x21\x21\0\x24${IPV6}${IPV6}\0\x01\0\x02`,
  ];
  for (const text of headers) {
    for (let length = 0; length < text.length; length += 1) {
      expect(readProxyHeader(Buffer.from(text.slice(0, length), 'latin1')).kind).toBe('incomplete');
    }
  }
  const start = fc.constantFrom('', 'PROXY ', 'PROXY TCP4 ', SIGNATURE, `${SIGNATURE}\x21`);
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 300 }), (first, rest) => {
      const given = Buffer.concat([Buffer.from(first, 'latin1'), rest]);
      const found = readProxyHeader(given);
      if (found.kind === 'header') expect(found.length).toBeLessThanOrEqual(given.length);
    }),
    { numRuns: inputs(2000) },
  );
});
