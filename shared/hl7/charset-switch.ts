/**
 * The sets that `\Cxxyy\` and `\Mxxyyzz\` switch to inside a value (HL7 v2.5.1 §2.7.2, §2.7.3; ISO 2022 and the
 * ISO-IR registry). A set that is not listed leaves the sequence as it was written.
 */
import { decodeText, type Charset } from './charset.ts';
import { encodeText } from './encode.ts';

interface SwitchedSet {
  readonly charset: Charset;
  /** Bytes that tell the decoder which set is meant, where one decoder knows several. */
  readonly before?: readonly number[];
  /** Put before each pair of bytes (code set 3 of EUC). */
  readonly pairPrefix?: number;
}

// The hexadecimal digits are those of the ISO 2022 escape sequence without its ESC.
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
 * The characters of a run after a switch, or undefined when the set is unknown or the run is not of it.
 *
 * @param sequence between the escape characters, `C2D42`
 * @param run as the message's own set read it
 * @param charset the message's own
 */
export function decodeInSwitchedSet(sequence: string, run: string, charset: Charset): string | undefined {
  const set = SETS.get(sequence.toUpperCase());
  if (set === undefined) return undefined;
  const bytes = encodeText(run, charset);
  return bytes === undefined ? undefined : decodeText(framed(bytes, set), set.charset);
}

function framed(bytes: Uint8Array, { before = [], pairPrefix }: SwitchedSet): Uint8Array {
  if (pairPrefix === undefined) return Uint8Array.from([...before, ...bytes]);
  // JIS X 0212 in seven bits becomes EUC: prefix, and the high bit on both bytes.
  return Uint8Array.from([...bytes].flatMap((byte, at) => (at % 2 === 0 ? [pairPrefix, byte | 0x80] : [byte | 0x80])));
}
