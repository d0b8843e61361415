/**
 * Replaces terms and dates of a message by invented ones: a value has one substitute in a message, and two values have two.
 * Substitutes keep the length, capitals, digits and script, so that a fault in the value stays.
 */
import { decodeText, type Charset } from './charset.ts';
import { encodeText } from './encode.ts';
import { isEscapeSequence, type Syntax } from './escapes.ts';
import { DOUBTFUL_NUMBER, PLACEHOLDER_TEXTS } from './placeholder.ts';

/** An integer from 0 to below the limit. */
export type Random = (below: number) => number;

export interface Substitutes {
  /** Escape sequences, white space and punctuation stay. */
  readonly text: (raw: string) => string;
  /** One number of days is added to all dates; the time of day stays. */
  readonly date: (raw: string) => string;
  readonly time: (raw: string) => string;
  /** Base64 and hexadecimal data stay valid, or invalid. */
  readonly data: (raw: string) => string;
}

const TERM = /[\p{L}\p{M}\p{N}]+/gu;

/** The terms of a text as `Substitutes` compares them: letters and digits without others between. */
export const termsIn = (text: string): string[] => (text.match(TERM) ?? []).map(keyOf);

const lower = (character: string): string => {
  const small = character.toLowerCase();
  return small.length === character.length ? small : character;
};
function keyOf(term: string): string {
  const small = term.toLowerCase();
  return small.length === term.length ? small : Array.from(term, lower).join('');
}

const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz');
const DIGITS = Array.from('0123456789');
/** Letters beyond ASCII by script. Sets of characters that have one letter of a row have most of it. */
const SCRIPTS: readonly (readonly [script: RegExp, letters: string])[] = [
  [/\p{Script=Cyrillic}/u, 'абвгдежзиклм'],
  [/\p{Script=Greek}/u, 'αβγδεζηθικλμ'],
  [/\p{Script=Hebrew}/u, 'אבגדהוזחטיכל'],
  [/\p{Script=Arabic}/u, 'ابتثجحخدذرزس'],
  [/\p{Script=Han}/u, '一二三四五六七八九十'],
  [/\p{Script=Hiragana}/u, 'あいうえおかきくけこ'],
  [/[\uff66-\uff9f]/u, 'ｱｲｳｴｵｶｷｸｹｺ'],
  [/\p{Script=Katakana}/u, 'アイウエオカキクケコ'],
  [/\p{Script=Hangul}/u, '가나다라마바사아자차'],
  [/[\uff10-\uff19]/u, '１２３４５６７８９'],
];
const LATIN = 'áâäéëíîóôöúü';

/** Parts of web addresses. */
const KEPT: ReadonlySet<string> = new Set(['http', 'https']);
const isKept = (key: string): boolean => KEPT.has(key) || /^(?:0+|9{3,})$/.test(key);

/** For one term, and for all of a message: a script has few letters, and a message may have very many short terms. */
const MAX_TRIES = 100;
const MAX_ALL_TRIES = 10_000;

/**
 * @param avoid terms of the message: no substitute is one of them
 * @param dates digits of the dates of the message: in a text they are dates too
 */
export function createSubstitutes(
  syntax: Syntax,
  random: Random,
  avoid: ReadonlySet<string>,
  dates: ReadonlySet<string>,
): Substitutes {
  const pools = new Map<string, readonly string[]>();
  const substitutes = new Map<string, string>();
  const used = new Set<string>();
  let tries = MAX_ALL_TRIES;
  // Between 1 and 10 years back.
  const days = -(365 + random(3285));
  const pick = (pool: readonly string[]): string => pool[random(pool.length)] ?? 'x';

  const poolOf = (character: string): readonly string[] => {
    if (character >= 'a' && character <= 'z') return LETTERS;
    if (character >= '0' && character <= '9') return DIGITS;
    const known = pools.get(character);
    if (known !== undefined) return known;
    const letters = SCRIPTS.find(([script]) => script.test(character))?.[1] ?? LATIN;
    const usable = [letters, LATIN]
      .map((row) => Array.from(row).filter((letter) => encodeText(letter, syntax.charset) !== undefined))
      .find((row) => row.length > 0);
    const pool = usable ?? LETTERS;
    pools.set(character, pool);
    return pool;
  };

  const draw = (characters: readonly string[]): string => {
    const [first = ''] = characters;
    if (isRepeated(characters)) {
      const isNumber = characters.length > 1 && DIGITS.includes(first);
      return pick(isNumber ? DIGITS.slice(1, 9) : poolOf(first)).repeat(characters.length);
    }
    // A number keeps its leading zeros, and gets no other.
    const isNumber = characters.every((character) => DIGITS.includes(character));
    const leading = isNumber ? characters.findIndex((character) => character !== '0') : -1;
    return characters
      .map((character, at) => {
        if (at < leading) return character;
        return pick(at === leading ? DIGITS.slice(1) : poolOf(character));
      })
      .join('');
  };

  const isUsable = (found: string, key: string): boolean =>
    found !== key &&
    !used.has(found) &&
    !PLACEHOLDER_TEXTS.has(found.toUpperCase()) &&
    DOUBTFUL_NUMBER.test(found) === DOUBTFUL_NUMBER.test(key) &&
    isRepeated(Array.from(found)) === isRepeated(Array.from(key));

  const invent = (key: string): string => {
    const characters = Array.from(key);
    let last = draw(characters);
    for (let attempt = 0; attempt < MAX_TRIES && tries > 0; attempt += 1) {
      if (isUsable(last, key) && (attempt >= MAX_TRIES / 2 || !avoid.has(last))) return last;
      tries -= 1;
      const next = draw(characters);
      if (next !== key) last = next;
    }
    return last;
  };

  const term = (sent: string): string => {
    if (dates.has(sent)) return shiftDate(sent, days) ?? sent;
    const key = keyOf(sent);
    if (isKept(key)) return sent;
    const known = substitutes.get(key);
    const found = known ?? invent(key);
    if (known === undefined) {
      substitutes.set(key, found);
      used.add(found);
    }
    const letters = Array.from(found);
    return Array.from(sent, (character, at) => {
      const letter = letters[at] ?? '';
      return lower(character) === character ? letter : letter.toUpperCase();
    }).join('');
  };
  const terms = (text: string): string => text.replaceAll(TERM, term);

  return {
    text: (raw) => eachText(raw, syntax, terms),
    date: (raw) => shiftDate(raw, days) ?? eachText(raw, syntax, terms),
    time: (raw) => {
      if (!TIME.test(raw.trim())) return eachText(raw, syntax, terms);
      const [hour = '0', minute = '0', second = '0'] = raw.trim().match(/\d\d/g) ?? [];
      return Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59 ? raw.replaceAll(/\d/g, '9') : raw;
    },
    data: (raw) => eachText(raw, syntax, (text) => text.replaceAll(/[0-9A-Fa-f]/g, 'A').replaceAll(/[G-Zg-z]/g, 'G')),
  };
}

const isRepeated = ([first, ...rest]: readonly string[]): boolean => rest.every((character) => character === first);

const DATE = /^(\s*)(\d{4})(\d{2})?(\d{2})?((?:\d{2}){0,3}(?:\.\d{1,9})?(?:[+-]\d{4})?\s*)$/;
const TIME = /^\d{2}(?:\d{2}){0,2}(?:\.\d{1,9})?(?:[+-]\d{4})?$/;

/** Dates that systems write where they know none. */
const isNoDay = (year: number, rest: string): boolean =>
  year < 12 ||
  year > 9000 ||
  ((year === 1800 || year === 1900) && /^(?:0101)?$/.test(rest)) ||
  (year === 1111 && rest === '1111');

/** The digits of a date without its time of day: `19800102` of `198001021530`; undefined for another text. */
export function dayOf(raw: string): string | undefined {
  const [, , year = '', month, day] = DATE.exec(raw) ?? [];
  return month === undefined || day === undefined || isNoDay(Number(year), month + day)
    ? undefined
    : year + month + day;
}

/** Undefined for a text without the form of a date. An invalid day stays invalid. */
function shiftDate(raw: string, days: number): string | undefined {
  const match = DATE.exec(raw);
  if (match === null) return undefined;
  const [, before = '', year = '', month, day, after = ''] = match;
  if (isNoDay(Number(year), `${month ?? ''}${day ?? ''}`)) return raw;
  const sent = new Date(0);
  sent.setUTCFullYear(Number(year), Number(month ?? 1) - 1, Number(day ?? 1));
  const isOnCalendar = sent.getUTCMonth() === Number(month ?? 1) - 1 && sent.getUTCDate() === Number(day ?? 1);
  const moved = new Date(sent.getTime() + days * 86_400_000);
  const pad = (value: number, width: number): string => String(value).padStart(width, '0');
  const newYear = pad(moved.getUTCFullYear(), 4);
  if (!isOnCalendar)
    return `${before}${newYear}${month === undefined ? '' : '99'}${day === undefined ? '' : '99'}${after}`;
  const newMonth = month === undefined ? '' : pad(moved.getUTCMonth() + 1, 2);
  return `${before}${newYear}${newMonth}${day === undefined ? '' : pad(moved.getUTCDate(), 2)}${after}`;
}

/** Calls `replace` for the text between escape sequences. */
function eachText(raw: string, syntax: Syntax, replace: (text: string) => string): string {
  const mark = syntax.delimiters.escape;
  let open = raw.indexOf(mark);
  if (open < 0) return replace(raw);
  let text = '';
  let written = 0;
  while (open >= 0) {
    const close = raw.indexOf(mark, open + 1);
    if (close < 0) break;
    const sequence = raw.slice(open + 1, close);
    text += replace(raw.slice(written, open)) + mark;
    if (isEscapeSequence(sequence, syntax)) {
      text += scrubSequence(sequence, syntax.charset) + mark;
      written = close + 1;
      open = raw.indexOf(mark, written);
    } else {
      // It stays as written, so it must not become a sequence.
      text +=
        sequence.slice(0, 1) +
        sequence
          .slice(1)
          .replaceAll(/[\p{L}\p{M}]/gu, 'z')
          .replaceAll(/\p{N}/gu, '0');
      written = close;
      open = close;
    }
  }
  return text + replace(raw.slice(written));
}

/** Hexadecimal data is text: its letters and digits are replaced, line ends and punctuation stay. */
function scrubSequence(sequence: string, charset: Charset): string {
  if (!sequence.startsWith('X')) return sequence;
  const bytes = (sequence.slice(1).match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  const text = decodeText(Uint8Array.from(bytes), charset) ?? '';
  const hex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0');
  if (!/[\p{L}\p{M}\p{N}]/u.test(text)) return sequence;
  return `X${bytes.map((byte) => hex(scrubByte(byte))).join('')}`;
}

function scrubByte(byte: number): number {
  const character = String.fromCharCode(byte);
  if (/[0-9]/.test(character)) return 0x30;
  return byte > 0x7f || /[A-Za-z]/.test(character) ? 0x78 : byte;
}
