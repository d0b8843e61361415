/**
 * Text that switches between character sets with the escape sequences of ISO 2022, as repetitions of MSH-18 announce (HL7 v2.5.1
 * §2.15.9.18; ISO-IR registry; RFC 1468 and RFC 2237 for Japanese, RFC 1557 for Korean).
 */

/** The encodings with a decoder that have these sets in the upper half of a byte. */
type Carrier = 'euc-jp' | 'euc-kr' | 'gb18030' | `iso-8859-${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`;

interface CodedSet {
  readonly carrier: Carrier;
  /** Bytes of a character. */
  readonly size: 1 | 2;
  /** Precedes each character (code sets 2 and 3 of EUC). */
  readonly prefix?: number;
}

const JIS_X_0201_KATAKANA: CodedSet = { carrier: 'euc-jp', size: 1, prefix: 0x8e };
const JIS_X_0208: CodedSet = { carrier: 'euc-jp', size: 2 };
const JIS_X_0212: CodedSet = { carrier: 'euc-jp', size: 2, prefix: 0x8f };
const KS_X_1001: CodedSet = { carrier: 'euc-kr', size: 2 };
const GB_2312: CodedSet = { carrier: 'gb18030', size: 2 };
const part = (number: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9): CodedSet => ({ carrier: `iso-8859-${number}`, size: 1 });

/** By the characters after ESC, sets for bytes 21 to 7E; undefined for ASCII. */
const LOWER: ReadonlyMap<string, CodedSet | undefined> = new Map([
  ['(B', undefined],
  // JIS X 0201 Roman has other signs for two delimiters, `\` and `~`. Senders mean the delimiters.
  ['(J', undefined],
  ['(I', JIS_X_0201_KATAKANA],
  ['$@', JIS_X_0208],
  ['$B', JIS_X_0208],
  ['$(@', JIS_X_0208],
  ['$(B', JIS_X_0208],
  ['$(D', JIS_X_0212],
  ['$(C', KS_X_1001],
  ['$A', GB_2312],
  ['$(A', GB_2312],
]);

/** Sets for bytes A0 to FF. */
const UPPER: ReadonlyMap<string, CodedSet> = new Map([
  [')I', JIS_X_0201_KATAKANA],
  ['$)B', JIS_X_0208],
  ['$)D', JIS_X_0212],
  ['$)C', KS_X_1001],
  ['$)A', GB_2312],
  ['-A', part(1)],
  ['-B', part(2)],
  ['-C', part(3)],
  ['-D', part(4)],
  ['-L', part(5)],
  ['-G', part(6)],
  ['-F', part(7)],
  ['-H', part(8)],
  ['-M', part(9)],
]);

const ESC = 0x1b;
const CR = 0x0d;
const LF = 0x0a;

/** The escape sequence at a place, without ESC; undefined for one of another kind. */
function sequenceAt(bytes: Uint8Array, at: number): string | undefined {
  const following = String.fromCharCode(...bytes.subarray(at + 1, at + 4));
  return [3, 2].map((length) => following.slice(0, length)).find((text) => LOWER.has(text) || UPPER.has(text));
}

/** Checks for an escape sequence that switches the character set. */
export function hasSwitches(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(ESC); at >= 0; at = bytes.indexOf(ESC, at + 1)) {
    if (sequenceAt(bytes, at) !== undefined) return true;
  }
  return false;
}

/**
 * Decodes text with escape sequences. Each line begins in ASCII. An unknown sequence stays in the text.
 *
 * @param decode decodes bytes of one encoding; undefined if they do not fit
 * @param plain decodes bytes from 80 on without a set
 * @returns undefined for bytes that do not fit their set
 */
export function decodeSwitched(
  bytes: Uint8Array,
  decode: (bytes: Uint8Array, carrier: Carrier) => string | undefined,
  plain: (bytes: Uint8Array) => string | undefined,
): string | undefined {
  const texts: string[] = [];
  let lower: CodedSet | undefined;
  let upper: CodedSet | undefined;
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at] ?? 0;
    const sequence = byte === ESC ? sequenceAt(bytes, at) : undefined;
    if (sequence !== undefined) {
      if (LOWER.has(sequence)) lower = LOWER.get(sequence);
      else upper = UPPER.get(sequence);
      at += 1 + sequence.length;
      continue;
    }
    if (byte === CR || byte === LF) {
      lower = undefined;
      upper = undefined;
    }
    const kind = kindOf(byte);
    let end = at + 1;
    if (byte !== ESC) while (end < bytes.length && bytes[end] !== ESC && kindOf(bytes[end] ?? 0) === kind) end += 1;
    const run = bytes.subarray(at, end);
    const chosen = kind === 'upper' ? upper : lower;
    const set = kind === 'control' ? undefined : chosen;
    const text = set === undefined ? plain(run) : decodeSet(run, set, decode);
    if (text === undefined) return undefined;
    texts.push(text);
    at = end;
  }
  return texts.join('');
}

/** Controls and spaces belong to no set. */
function kindOf(byte: number): 'control' | 'lower' | 'upper' {
  if (byte >= 0x80) return 'upper';
  return byte > 0x20 && byte < 0x7f ? 'lower' : 'control';
}

function decodeSet(
  run: Uint8Array,
  { carrier, size, prefix }: CodedSet,
  decode: (bytes: Uint8Array, carrier: Carrier) => string | undefined,
): string | undefined {
  if (run.length % size !== 0) return undefined;
  if (prefix === undefined)
    return decode(
      run.map((byte) => byte | 0x80),
      carrier,
    );
  const prefixed = new Uint8Array((run.length / size) * (size + 1)).fill(prefix);
  run.forEach((byte, at) => (prefixed[at + Math.floor(at / size) + 1] = byte | 0x80));
  return decode(prefixed, carrier);
}
