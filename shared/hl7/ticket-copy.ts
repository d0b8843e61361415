/**
 * A copy of a message for a ticket: without the patient, with the faults. The data type of a field decides (field-types.ts). Codes
 * and coding systems stay. Dates move by one number of days. Any other value is replaced (substitutes.ts), also in a Z segment.
 */
import { attempt } from '../fault.ts';
import { charsetNamed, decodeText, isUtf8BeyondAscii, latin1, type Charset } from './charset.ts';
import { declaredCharsets, decodeMessage } from './decode.ts';
import { declaresDelimiters, RECOMMENDED } from './delimiters.ts';
import { withFillers } from './document-token.ts';
import { encodeLossy } from './encode.ts';
import { fieldType } from './field-types.ts';
import { isSegmentId, readMessage, type Message, type Segment } from './message.ts';
import { HYPHENATED_PLACEHOLDER, PLACEHOLDER_TEXTS } from './placeholder.ts';
import { createSubstitutes, dayOf, type Random, type Substitutes, termsIn } from './substitutes.ts';
import { splitBy, valueAt } from './value.ts';

/** Codes, counts and names of systems stay. */
type Kind = 'code' | 'count' | 'system' | 'date' | 'time' | 'data' | 'text';
const KINDS: ReadonlySet<string> = new Set<Kind>(['code', 'count', 'system', 'date', 'time', 'data', 'text']);
const isKind = (name: string): name is Kind => KINDS.has(name);

const CODED =
  'code|text|system|code|text|system|code|code|text|code|text|system|code|system|system|code|system|system|code|system|system|code';
const PERSON_END = 'code|CE|DR|code|TS|TS|text|CWE|CWE';

/** By data type: the kind or the type of each component. A type that is not here, and a further component, is text. */
const PARTS: Readonly<Record<string, string>> = {
  ID: CODED,
  IS: CODED,
  SI: 'count',
  DT: 'date',
  DTM: 'date',
  TS: 'date|code',
  TM: 'time',
  CE: CODED,
  CWE: CODED,
  CNE: CODED,
  CF: CODED,
  HD: 'system|system|code',
  EI: 'text|HD|system|code',
  EIP: 'EI|EI',
  CX: 'text|text|code|HD|code|HD|date|date|CWE|CWE',
  XPN: 'text|text|text|text|text|text|code|code|CE|DR|code|TS|TS|text',
  XCN: `text|text|text|text|text|text|text|code|HD|code|text|code|code|HD|${PERSON_END}`,
  PPN: 'text|text|text|text|text|text|text|code|HD|code|text|code|code|HD|TS|code|CE|DR|code|TS|TS|text',
  XON: 'text|code|text|text|code|HD|code|HD|code|text',
  XAD: 'text|text|text|text|text|code|code|text|text|text|code|DR|TS|TS',
  XTN: 'text|code|code|text|text|text|text|text|text|text|text|text|TS|TS',
  PL: 'text|text|text|HD|code|code|text|text|text|EI|HD',
  MSG: 'code|code|code',
  PT: 'code|code',
  VID: 'code|CE|CE',
  ED: 'HD|code|code|code|data',
  RP: 'text|HD|code|code',
  ERL: 'code|code|code|code|code|code',
  ELD: 'code|code|code|CE',
  CQ: 'text|CE',
  DR: 'TS|TS',
  DLN: 'text|text|date',
  FC: 'code|TS',
  JCC: 'code|code|text',
  DLD: 'code|TS',
  CP: 'text|code|text|text|CE|code',
  PRL: 'CE|text|text',
  NDL: 'text|TS|TS|text|text|text|HD|code|code|text|text',
  TQ: 'CQ|text|text|TS|TS|code|text|text|code|text|CE|text',
  SPS: 'CWE|CWE|text|CWE|CWE|CWE|CWE',
  MOC: 'text|CE',
};

/** Types whose text is a person's: no code of the message may repeat a term of it. */
const OF_PERSONS: ReadonlySet<string> = new Set(['CX', 'XPN', 'XCN', 'PPN', 'XAD', 'XTN', 'DLN']);
/** Components of a name that are titles. */
const TITLES: Readonly<Record<string, readonly number[]>> = { XPN: [4, 5, 6], XCN: [5, 6, 7], PPN: [5, 6, 7] };
/** Fields with another kind than their type: the county is part of an address, and a sub-id counts lines. */
const OTHER_TYPES: Readonly<Record<string, string>> = { 'PID-12': 'XAD', 'OBX-4': 'SI' };

interface Leaf {
  readonly raw: string;
  readonly kind: Kind;
  readonly isOfPerson: boolean;
  readonly isIdentifier: boolean;
  readonly isInHeader: boolean;
}
type Visit = (leaf: Leaf) => string;

/** A code has no white space; a power of ten in a unit may. */
const CODE = /^(?:[!-~µμ°²³]{1,60}|[x×*]\s{0,3}10)$/iu;
const SYSTEM = /^[\p{L}\p{N}\p{P}\p{S} ]{1,60}$/u;
const COUNT = /^\d{1,4}(?:\.\d{1,4}){0,3}[A-Za-z]?$/;
const isCode = (raw: string): boolean => CODE.test(raw.trim()) && !raw.includes('@');
const isSystem = (raw: string): boolean => SYSTEM.test(raw) && raw.split(' ').length <= 6;

/** The message with each value replaced. */
function rewrite(message: Message, visit: Visit): string {
  return message.segments.map((segment) => `${rewriteSegment(segment, visit)}\r`).join('');
}

function rewriteSegment(segment: Segment, visit: Visit): string {
  const { field } = segment.source.delimiters;
  const isHeader = declaresDelimiters(segment.id);
  const valueType = segment.id === 'OBX' ? (valueAt(segment, 2) ?? '').trim().toUpperCase() || 'ST' : '';
  return segment.raw
    .split(field)
    .map((raw, at) => {
      const number = isHeader ? at + 1 : at;
      if (at === 0) return rewriteName(segment, raw, visit);
      if (isHeader && number === 2) return raw;
      return rewriteField(raw, segment, number, valueType, visit);
    })
    .join(field);
}

/** A line without a field may be the rest of a text with a line end in it. */
function rewriteName({ id, raw }: Segment, name: string, visit: Visit): string {
  if (isSegmentId(id) && raw !== id) return name;
  const kind = isSegmentId(id) ? 'code' : 'text';
  return visit({ raw: name, kind, isOfPerson: false, isIdentifier: false, isInHeader: false });
}

function rewriteField(raw: string, segment: Segment, field: number, valueType: string, visit: Visit): string {
  const type = OTHER_TYPES[`${segment.id}-${field}`] ?? fieldType(segment.id, field, valueType);
  const { repetition, component, subcomponent } = segment.source.delimiters;
  const isInHeader = segment.id === 'MSH';
  const isOfPerson = OF_PERSONS.has(type ?? '') || (segment.id === 'PID' && type === 'ST');
  const parts = partsOf(type);
  const rewriteComponent = (sent: string, at: number): string =>
    splitBy(sent, subcomponent)
      .map((leaf, below) =>
        visit({
          raw: leaf,
          kind: kindOf(parts[at] ?? 'text', below),
          isOfPerson: isOfPerson && TITLES[type ?? '']?.includes(at + 1) !== true,
          isIdentifier: type === 'CX' && at === 0,
          isInHeader,
        }),
      )
      .join(subcomponent);
  return splitBy(raw, repetition)
    .map((each) => {
      const components = splitBy(each, component);
      const rewritten = components.map(rewriteComponent);
      return (type === 'NR' ? inOrder(components, rewritten) : rewritten).join(component);
    })
    .join(repetition);
}

const BY_TYPE: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(PARTS).map(([type, parts]) => [type, parts.split('|')]),
);
const partsOf = (type: string | undefined): readonly string[] => BY_TYPE.get(type ?? '') ?? [];

/** The kind of a subcomponent. @param part the kind or the type of its component */
function kindOf(part: string, below: number): Kind {
  if (isKind(part)) return below === 0 || part === 'data' ? part : 'text';
  return kindOf(partsOf(part)[below] ?? 'text', 0);
}

/** The ends of a range stay in their order, or in the wrong one. */
function inOrder(sent: readonly string[], [low = '', high = '', ...rest]: readonly string[]): readonly string[] {
  const isReversed = Number(sent[0]) > Number(sent[1]);
  const ends = Number(low) > Number(high) === isReversed ? [low, high] : [high, low];
  return sent.length < 2 ? [low] : [...ends, ...rest];
}

interface Known {
  /** All terms of the message. */
  readonly terms: Set<string>;
  /** Terms that name a person, an address or an identifier. */
  readonly ofPersons: Set<string>;
  readonly dates: Set<string>;
}

function collect(message: Message): Known {
  const known: Known = { terms: new Set(), ofPersons: new Set(), dates: new Set() };
  rewrite(message, ({ raw, kind, isOfPerson }) => {
    const day = kind === 'date' ? dayOf(raw) : undefined;
    if (day !== undefined)
      for (const digits of [day, raw.trim(), /\d*/.exec(raw.trim())?.[0] ?? day]) known.dates.add(digits);
    for (const term of termsIn(raw)) {
      known.terms.add(term);
      // A shorter number, or a letter, is also a usual code.
      if (isOfPerson && kind === 'text' && term.length >= (/^\p{N}+$/u.test(term) ? 5 : 3)) known.ofPersons.add(term);
    }
    return raw;
  });
  return known;
}

/** How the site reads a message. */
export interface Reading {
  /** The character set of a message without MSH-18. */
  readonly charset: string | null;
  /** Identifiers that are placeholders at this site, in capitals, besides those that are placeholders everywhere. */
  readonly placeholders: ReadonlySet<string>;
}

interface Kept extends Known {
  readonly placeholders: ReadonlySet<string>;
}

function replaceLeaf({ raw, kind, isIdentifier, isInHeader }: Leaf, known: Kept, substitutes: Substitutes): string {
  if (raw === '' || raw === '""') return raw;
  const isShared = (): boolean => known.dates.has(raw.trim()) || termsIn(raw).some((term) => known.ofPersons.has(term));
  switch (kind) {
    case 'code':
      return isInHeader || (isCode(raw) && !isShared()) ? raw : substitutes.text(raw);
    case 'count':
      return COUNT.test(raw.trim()) ? raw : substitutes.text(raw);
    case 'system':
      return isSystem(raw) && !isShared() ? raw : substitutes.text(raw);
    case 'date':
      return substitutes.date(raw);
    case 'time':
      return substitutes.time(raw);
    case 'data':
      return substitutes.data(raw);
    case 'text': {
      const text = raw.trim().toUpperCase();
      const isPlaceholder =
        PLACEHOLDER_TEXTS.has(text) ||
        HYPHENATED_PLACEHOLDER.test(text) ||
        SEQUENCES.has(text) ||
        known.placeholders.has(text);
      return isIdentifier && isPlaceholder ? raw : substitutes.text(raw);
    }
  }
}
const SEQUENCES: ReadonlySet<string> = new Set(['123456789', '987654321']);

/** The text of a message, also of a message that cannot be read. */
interface Source {
  readonly text: string;
  readonly charset: Charset;
  /** One character a byte: the bytes do not fit `charset`. */
  readonly isRaw: boolean;
}

function sourceOf(bytes: Uint8Array, defaultCharset: Charset | undefined): Source {
  const decoded = attempt(() => decodeMessage(bytes, defaultCharset));
  if (decoded === undefined) {
    const charset = attempt(() => declaredCharsets(bytes, defaultCharset ?? 'utf-8'))?.[0];
    return { text: latin1(bytes), charset: charset ?? 'iso-8859-1', isRaw: charset !== undefined };
  }
  // A wrong MSH-18 stays wrong only if the bytes stay UTF-8.
  const isWrong = /^(?:iso-8859|windows)-/.test(decoded.charset) && isUtf8BeyondAscii(bytes);
  const text = isWrong ? decodeText(bytes, 'utf-8') : undefined;
  return text === undefined ? { ...decoded, isRaw: false } : { text, charset: 'utf-8', isRaw: false };
}

/** In the place of NUL, which `readMessage` rejects. */
const NUL = '\u0002';

/** The copy in the character set of the message. */
export function ticketCopy(bytes: Uint8Array, reading: Reading, random: Random = randomInteger): Uint8Array {
  const { text, charset, isRaw } = sourceOf(bytes, charsetNamed(reading.charset ?? ''));
  const readable = withFillers(text).replaceAll('\0', NUL);
  const message = attempt(() => readMessage(readable));
  const copy =
    message === undefined
      ? copyLines(readable, charset, random)
      : copyMessage(message, { charset, isRaw, placeholders: reading.placeholders }, random);
  const restored = text.includes('\0') ? copy.replaceAll(NUL, '\0') : copy;
  if (isRaw) return Uint8Array.from(restored, (character) => character.charCodeAt(0));
  const [first, second] = bytes;
  const hasMark =
    (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || (first === 0xef && second === 0xbb);
  return encodeLossy(hasMark ? `\ufeff${restored}` : restored, charset);
}

function copyMessage(
  message: Message,
  { charset, isRaw, placeholders }: Pick<Source, 'charset' | 'isRaw'> & Pick<Reading, 'placeholders'>,
  random: Random,
): string {
  const { delimiters } = message;
  const known = { ...collect(message), placeholders };
  const substitutes = createSubstitutes({ delimiters, charset }, random, known.terms, known.dates);
  return rewrite(message, (leaf) => {
    const isAscii = /^[\0-\x7f]*$/.test(leaf.raw); // oxlint-disable-line no-control-regex
    if (!isRaw || isAscii) return replaceLeaf(leaf, known, substitutes);
    const decoded = decodeText(
      Uint8Array.from(leaf.raw, (character) => character.charCodeAt(0)),
      charset,
    );
    if (decoded !== undefined)
      return latin1(encodeLossy(replaceLeaf({ ...leaf, raw: decoded }, known, substitutes), charset));
    // FF fits none of the sets that have bytes without a character, or few of them.
    return leaf.raw.replaceAll(/[A-Za-z0-9]+/g, substitutes.text).replaceAll(/[\x80-\xff]/g, '\xff');
  });
}

/** A message without delimiters: only the names of segments are known. */
function copyLines(text: string, charset: Charset, random: Random): string {
  const substitutes = createSubstitutes(
    { delimiters: RECOMMENDED, charset },
    random,
    new Set(termsIn(text)),
    new Set(),
  );
  return text.replaceAll(/[^\r\n]+/g, (line) => {
    const id = line.slice(0, 3);
    const isNamed = isSegmentId(id) && (declaresDelimiters(id) || fieldType(id, 1, '') !== undefined);
    return isNamed ? id + substitutes.text(line.slice(3)) : substitutes.text(line);
  });
}

const RANDOM = new Uint32Array(1024);
let unread = 0;

function randomInteger(below: number): number {
  if (unread === 0) {
    crypto.getRandomValues(RANDOM);
    unread = RANDOM.length;
  }
  unread -= 1;
  return (RANDOM[unread] ?? 0) % below;
}
