/** Forms as clients send them: which charsets are read, and what is read of them. */
import { describe, expect, test } from 'vitest';

import { formDecoder } from '../../../edge/http/form-body.ts';

const FORM = 'application/x-www-form-urlencoded';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a form', () => {
  test.each(['', '; charset=UTF-8', ';charset=utf8', '; charset="utf-8"', '; boundary=x'])(
    '%s is UTF-8',
    (parameter) => {
      expect(formDecoder(FORM + parameter)(bytes('a=é'))).toBe('a=é');
      expect(() => formDecoder(FORM + parameter)(Uint8Array.of(0x61, 0x3d, 0xe9))).toThrow(/not valid UTF-8/);
    },
  );

  test.each(['ISO-8859-1', 'iso-8859-1', 'US-ASCII', 'windows-1252', '"ISO-8859-1"'])('in %s is ASCII', (charset) => {
    const decode = formDecoder(`${FORM}; charset=${charset}`);
    expect(decode(bytes('a=%C3%A9+b&c='))).toBe('a=%C3%A9+b&c=');
    expect(decode(bytes(''))).toBe('');
    for (const sent of [Uint8Array.of(0x61, 0x3d, 0xe9), bytes('a=é')]) {
      expect(() => decode(sent)).toThrow(
        expect.objectContaining({ kind: 'malformed', message: expect.stringMatching(/UTF-8/) }),
      );
    }
  });

  test.each(['utf-16', 'utf-7', 'latin1', 'ibm037', 'iso-8859-15', '""'])('in %s is rejected', (charset) => {
    const fault = { kind: 'unsupported-media-type', message: expect.stringMatching(/form.s charset was .*UTF-8/) };
    expect(() => formDecoder(`${FORM}; charset=${charset}`)).toThrow(expect.objectContaining(fault));
  });

  test.each([null, '', 'application/json', 'multipart/form-data; boundary=x', `${FORM}x`])(
    '%s is not a form',
    (type) => {
      expect(() => formDecoder(type)).toThrow(expect.objectContaining({ kind: 'unsupported-media-type' }));
    },
  );
});
