/**
 * The character sets of HL7 table 0211 (MSH-18) and their decoders. Bytes that do not fit the set fail; they are never
 * replaced. `decode.ts` decides which set a message uses.
 */

import { decodeSwitched } from './iso-2022.ts';

/** IANA names in lower case. */
export const CHARSETS = [
  'utf-8',
  'us-ascii',
  'iso-8859-1',
  'iso-8859-2',
  'iso-8859-3',
  'iso-8859-4',
  'iso-8859-5',
  'iso-8859-6',
  'iso-8859-7',
  'iso-8859-8',
  'iso-8859-9',
  'iso-8859-15',
  'windows-1252',
  'utf-16le',
  'utf-16be',
  'iso-2022-jp',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'euc-kr',
  'big5',
] as const;
export type Charset = (typeof CHARSETS)[number];

// Keys are in capitals, without spaces, hyphens, underscores and slashes: table 0211, then the spellings of real senders.
// Plain UNICODE once meant two bytes a character; senders that write it today send UTF-8.
const NAMES: ReadonlyMap<string, Charset> = new Map<string, Charset>([
  ['ASCII', 'us-ascii'],
  ['USASCII', 'us-ascii'],
  ['ISOIR6', 'us-ascii'],
  ['ISOIR100', 'iso-8859-1'],
  ['LATIN1', 'iso-8859-1'],
  ['ISOIR14', 'shift_jis'],
  ['ISOIR87', 'iso-2022-jp'],
  ['ISOIR159', 'iso-2022-jp'],
  ['JISX0202', 'iso-2022-jp'],
  ['JAS2020', 'iso-2022-jp'],
  ['ISO2022JP', 'iso-2022-jp'],
  ['SHIFTJIS', 'shift_jis'],
  ['SJIS', 'shift_jis'],
  ['EUCJP', 'euc-jp'],
  ['GB180302000', 'gb18030'],
  ['GB18030', 'gb18030'],
  ['GBK', 'gb18030'],
  ['GB2312', 'gb18030'],
  ['KSX1001', 'euc-kr'],
  ['EUCKR', 'euc-kr'],
  ['CNS116431992', 'big5'],
  ['BIG5', 'big5'],
  ['UNICODE', 'utf-8'],
  ['UNICODEUTF8', 'utf-8'],
  ['UTF8', 'utf-8'],
  ['UNICODEUTF16', 'utf-16be'],
  ['UTF16', 'utf-16be'],
  ['UTF16BE', 'utf-16be'],
  ['UTF16LE', 'utf-16le'],
  ['WINDOWS1252', 'windows-1252'],
  ['CP1252', 'windows-1252'],
  ...(['1', '2', '3', '4', '5', '6', '7', '8', '9', '15'] as const).flatMap((part): [string, Charset][] => [
    [`8859${part}`, `iso-8859-${part}`],
    [`ISO8859${part}`, `iso-8859-${part}`],
  ]),
]);

/** The set that a repetition of MSH-18 or a setting names; undefined if it is unknown. */
export function charsetNamed(name: string): Charset | undefined {
  return NAMES.get(name.toUpperCase().replaceAll(/[ _/-]/g, ''));
}

// ISO 8859-9 differs from 8859-1 in six letters.
const LATIN5 = new Map([
  ['\u00d0', '\u011e'],
  ['\u00dd', '\u0130'],
  ['\u00de', '\u015e'],
  ['\u00f0', '\u011f'],
  ['\u00fd', '\u0131'],
  ['\u00fe', '\u015f'],
]);

const decoders = new Map<string, TextDecoder>();

/**
 * Decodes bytes; undefined if they do not fit the set or the runtime does not support it. A byte order mark is kept as
 * U+FEFF.
 */
export function decodeText(bytes: Uint8Array, charset: Charset): string | undefined {
  const short = charset.startsWith('utf-16') ? undefined : shortAscii(bytes);
  if (short !== undefined) return short;
  switch (charset) {
    case 'us-ascii':
      return bytes.some((byte) => byte > 0x7f) ? undefined : latin1(bytes);
    // The Encoding Standard decodes these two as windows-1252 and windows-1254; HL7 means the ISO sets.
    case 'iso-8859-1':
      return latin1(bytes);
    case 'iso-8859-9':
      return latin1(bytes).replaceAll(/[\u00d0\u00dd\u00de\u00f0\u00fd\u00fe]/g, (letter) => LATIN5.get(letter) ?? '');
    case 'iso-2022-jp':
      return decodeSwitchedText(bytes, 'us-ascii');
    default:
      return decodeFatally(bytes, charset);
  }
}

/**
 * Decodes text with the escape sequences of ISO 2022.
 *
 * @param plain the set of bytes from 80 on without a sequence
 */
export const decodeSwitchedText = (bytes: Uint8Array, plain: Charset): string | undefined =>
  decodeSwitched(bytes, decodeText, (run) =>
    decodeText(run, plain === 'iso-2022-jp' || (run[0] ?? 0) < 0x80 ? 'us-ascii' : plain),
  );

/** True for UTF-8 with at least one character that is not ASCII. */
export const isUtf8BeyondAscii = (bytes: Uint8Array): boolean =>
  bytes.some((byte) => byte > 0x7f) && decodeFatally(bytes, 'utf-8') !== undefined;

/**
 * Decodes a few printable ASCII bytes, which are equal in all sets but UTF-16. A decoder is slow for them, and a message may have
 * some hundred thousand (`\X41\`).
 */
function shortAscii(bytes: Uint8Array): string | undefined {
  if (bytes.length > 4) return undefined;
  let text = '';
  for (const byte of bytes) {
    if (byte < 0x20 || byte > 0x7e) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
}

/** The sets with a code for U+FFFD, beside UTF-8, and its bytes in UTF-8. */
const HAS_REPLACEMENT = /^(?:utf-16|gb)/;
const UTF8_REPLACEMENT = '\u00ef\u00bf\u00bd';

/** A decoder that throws is slow, and a message may have some hundred thousand sequences that do not fit (`\XE9\`). */
function decodeFatally(bytes: Uint8Array, charset: Charset): string | undefined {
  try {
    const text = decoderOf(charset, false).decode(bytes);
    if (!text.includes('\ufffd')) return text;
    const mayHave = charset === 'utf-8' ? latin1(bytes).includes(UTF8_REPLACEMENT) : HAS_REPLACEMENT.test(charset);
    return mayHave ? decoderOf(charset, true).decode(bytes) : undefined;
  } catch {
    return undefined;
  }
}

function decoderOf(charset: Charset, fatal: boolean): TextDecoder {
  const name = `${charset} ${fatal}`;
  const decoder = decoders.get(name) ?? new TextDecoder(charset, { fatal, ignoreBOM: true });
  decoders.set(name, decoder);
  return decoder;
}

/** One character per byte, U+0000 to U+00FF: ISO 8859-1, and a view of any bytes in which ASCII can be searched. */
export function latin1(bytes: Uint8Array): string {
  const step = 8192; // Engines allow some 65,000 arguments in a call.
  let text = '';
  for (let at = 0; at < bytes.length; at += step) {
    text += String.fromCharCode(...bytes.subarray(at, at + step));
  }
  return text;
}
