/**
 * The character sets that `\Cxxyy\` and `\Mxxyyzz\` select inside a value (HL7 v2.5.1 §2.7.2, §2.7.3; ISO 2022 and the
 * ISO-IR registry). A sequence for an unlisted set stays as written.
 */
import { decodeText, type Charset } from './charset.ts';
import { encodeText } from './encode.ts';

interface SwitchedSet {
  readonly charset: Charset;
  /** Bytes that select the set, if one decoder supports several. */
  readonly before?: readonly number[];
  /** Precedes each pair of bytes (code set 3 of EUC). */
  readonly pairPrefix?: number;
}

// The digits of the ISO 2022 escape sequence without its ESC.
const SETS: ReadonlyMap<string, SwitchedSet> = new Map<string, SwitchedSet>([
  ['C2842', { charset: 'us-ascii' }],
  ['C2D41', { charset: 'iso-8859-1' }],
  ['C2D42', { charset: 'iso-8859-2' }],
  ['C2D43', { charset: 'iso-8859-3' }],
  ['C2D44', { charset: 'iso-8859-4' }],
  ['C2D4C', { charset: 'iso-8859-5' }],
  ['C2D47', { charset: 'iso-8859-6' }],
  ['C2D46', { charset: 'iso-8859-7' }],
  ['C2D48', { charset: 'iso-8859-8' }],
  ['C2D4D', { charset: 'iso-8859-9' }],
  ['C284A', { charset: 'iso-2022-jp', before: [0x1b, 0x28, 0x4a] }],
  ['C2949', { charset: 'shift_jis' }],
  ['M2442', { charset: 'iso-2022-jp', before: [0x1b, 0x24, 0x42] }],
  ['M242844', { charset: 'euc-jp', pairPrefix: 0x8f }],
]);

/**
 * Decodes the characters after a switch; undefined if the set is unknown or the bytes do not fit it.
 *
 * @param sequence the text between the escape characters, `C2D42`
 * @param run the characters, decoded with the message's character set
 * @param charset the message's character set
 */
export function decodeInSwitchedSet(sequence: string, run: string, charset: Charset): string | undefined {
  const set = SETS.get(sequence.toUpperCase());
  if (set === undefined) return undefined;
  const bytes = encodeText(run, charset);
  return bytes === undefined ? undefined : decodeText(framed(bytes, set), set.charset);
}

function framed(bytes: Uint8Array, { before = [], pairPrefix }: SwitchedSet): Uint8Array {
  if (pairPrefix === undefined) return Uint8Array.from([...before, ...bytes]);
  // JIS X 0212 in seven bits becomes EUC: the prefix, and the high bit on both bytes.
  return Uint8Array.from([...bytes].flatMap((byte, at) => (at % 2 === 0 ? [pairPrefix, byte | 0x80] : [byte | 0x80])));
}
