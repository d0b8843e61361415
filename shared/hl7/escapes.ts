/**
 * Escape sequences in a value, both ways (HL7 v2.5.1 §2.7): delimiters, hexadecimal data, formatting commands,
 * highlighting and character set switches. A sequence that is unknown, unfinished or local (`\Zxx\`) stays as written.
 */
import { decodeText, type Charset } from './charset.ts';
import { decodeInSwitchedSet } from './charset-switch.ts';
import type { Delimiters } from './delimiters.ts';

/** The properties of a message that its values depend on. */
export interface Syntax {
  readonly delimiters: Delimiters;
  /** The set that decodes `\Xdd..\`. */
  readonly charset: Charset;
}

const DELIMITER_ESCAPES: ReadonlyMap<string, keyof Delimiters> = new Map([
  ['F', 'field'],
  ['S', 'component'],
  ['T', 'subcomponent'],
  ['R', 'repetition'],
  ['E', 'escape'],
  ['P', 'truncation'],
]);

// §2.7.6, reduced to plain text: line ends and spaces stay, commands for printers are dropped.
const FORMATTING: ReadonlyMap<string, (count?: number) => string> = new Map<string, (count?: number) => string>([
  ['br', () => '\n'],
  ['sp', (count) => '\n'.repeat(count ?? 1)],
  ['ce', () => '\n'],
  ['sk', (count) => ' '.repeat(count ?? 1)],
  ['ti', (count) => ' '.repeat(count ?? 0)],
  ['in', () => ''],
  ['fi', () => ''],
  ['nf', () => ''],
]);

// At most two digits: `\.sk999999999\` must not become a gigabyte.
// The standard writes `.sp <number>`, and some senders send the space.
const FORMATTING_COMMAND = /^\.([a-z]{2}) ?([+-]?)([0-9]{0,2})$/i;
const HEXADECIMAL = /^X((?:[0-9A-Fa-f]{2})+)$/;
const CHARSET_SWITCH = /^(?:C[0-9A-Fa-f]{4}|M[0-9A-Fa-f]{4}(?:[0-9A-Fa-f]{2})?)$/;
// Tab, line feed and carriage return are text. Other control characters are not, and PostgreSQL cannot store NUL.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

/**
 * Unescapes a value.
 *
 * @param raw the text between two delimiters
 */
export function unescape(raw: string, syntax: Syntax): string {
  const mark = syntax.delimiters.escape;
  let open = raw.indexOf(mark);
  if (open < 0) return raw;

  let text = '';
  let written = 0;
  while (open >= 0) {
    const close = raw.indexOf(mark, open + 1);
    if (close < 0) break;
    const sequence = raw.slice(open + 1, close);
    const switched = CHARSET_SWITCH.test(sequence) ? runAfterSwitch(raw, sequence, close, syntax) : undefined;
    const meaning = switched?.text ?? meaningOf(sequence, syntax);
    if (meaning === undefined) {
      // Not a sequence: the second mark may begin one.
      open = close;
      continue;
    }
    text += raw.slice(written, open) + meaning;
    written = switched?.end ?? close + 1;
    open = raw.indexOf(mark, written);
  }
  return text + raw.slice(written);
}

/** A message may have some hundred thousand sequences, so the first letter decides what is tried. */
function meaningOf(sequence: string, { delimiters, charset }: Syntax): string | undefined {
  const delimiter = DELIMITER_ESCAPES.get(sequence);
  if (delimiter !== undefined) return delimiters[delimiter] || undefined;
  if (sequence === 'H' || sequence === 'N') return ''; // Start and end of highlighting.

  if (sequence.startsWith('.')) {
    const [, name = '', sign, digits = ''] = FORMATTING_COMMAND.exec(sequence) ?? [];
    const count = sign === '-' ? 0 : Number(digits);
    return FORMATTING.get(name.toLowerCase())?.(digits === '' ? undefined : count);
  }
  if (!sequence.startsWith('X')) return undefined;
  const data = HEXADECIMAL.exec(sequence)?.[1];
  if (data === undefined) return undefined;
  if (data.length > 2) return decodedHex(data, charset);
  const key = charset + data;
  const known = DECODED_BYTES.get(key);
  if (known !== undefined) return known ?? undefined;
  const text = decodedHex(data, charset);
  DECODED_BYTES.set(key, text ?? null);
  return text;
}

/** The text of each byte in each character set: a value may consist of such sequences. Null: the byte has no text. */
const DECODED_BYTES = new Map<string, string | null>();

function decodedHex(data: string, charset: Charset): string | undefined {
  const bytes = new Uint8Array(data.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(data.slice(2 * at, 2 * at + 2), 16);
  const text = decodeText(bytes, charset);
  return text === undefined || CONTROL.test(text) ? undefined : text;
}

/** Checks the text between two escape characters. */
export const isEscapeSequence = (sequence: string, syntax: Syntax): boolean =>
  CHARSET_SWITCH.test(sequence) || meaningOf(sequence, syntax) !== undefined;

// §2.7.2 and §2.7.3: a switch applies up to the next escape sequence or the end of the value.
function runAfterSwitch(raw: string, sequence: string, close: number, { delimiters, charset }: Syntax) {
  const next = raw.indexOf(delimiters.escape, close + 1);
  const end = next < 0 ? raw.length : next;
  const text = decodeInSwitchedSet(sequence, raw.slice(close + 1, end), charset);
  return text === undefined ? undefined : { text, end };
}

const LINE_ENDS: ReadonlyMap<string, string> = new Map([
  ['\r', 'X0D'],
  ['\n', 'X0A'],
]);

/**
 * Escapes a text. `unescape` of the result returns the text, even if it looks like an escape sequence or like the null
 * value `""`.
 */
export function escape(text: string, { delimiters }: Syntax): string {
  const mark = delimiters.escape;
  if (text === '""') return `${mark}X2222${mark}`;
  const names = escapeNames(delimiters);
  let raw = '';
  for (const character of text) {
    const name = names.get(character) ?? LINE_ENDS.get(character);
    raw += name === undefined ? character : mark + name + mark;
  }
  return raw;
}

const namesOf = new WeakMap<Delimiters, ReadonlyMap<string, string>>();

function escapeNames(delimiters: Delimiters): ReadonlyMap<string, string> {
  const known = namesOf.get(delimiters);
  if (known !== undefined) return known;
  const names = new Map([...DELIMITER_ESCAPES].map(([name, role]) => [delimiters[role], name] as const));
  namesOf.set(delimiters, names);
  return names;
}
