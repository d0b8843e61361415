/**
 * Cuts large documents out of a message: base64 in OBX-5.5 where OBX-2 is ED. A token takes the place of each, before the message
 * is decoded. So a scan costs as much as the message around it, and the database stores its bytes once in a site
 * (migrations/0003_resource.sql, table document).
 */
import { joined, release } from '../../../shared/bytes.ts';
import { Fault } from '../../../shared/fault.ts';
import { latin1 } from '../../../shared/hl7/charset.ts';
import { documentToken, documentTokens } from '../../../shared/hl7/document-token.ts';
import { salvageHeader } from '../../../shared/hl7/header.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';
import { sha256Of } from '../../http/crypto.ts';
import { bytesOfBase64 } from '../mapping/datatypes/attachment.ts';
import { TooLong } from './message-bytes.ts';

/** A document of a message. */
export interface CutDocument {
  /** Its place in the message. */
  readonly token: string;
  readonly sha256: string;
  /** Null if it is stored already. */
  readonly base64: string | null;
}

export interface CutMessage {
  /** With tokens. */
  readonly bytes: Uint8Array;
  /** The hash of the message as it was sent, base64url. */
  readonly sha256: string;
  readonly documents: readonly CutDocument[];
}

/** Smaller ones stay in the message and in its resources. */
const MIN_LENGTH = 4096;

const [CR, LF, BACKSLASH] = [0x0d, 0x0a, 0x5c];
/** `\.br\`, `\X0D\`, `\X0A\`, `\X0D0A\`, or two of them. */
const LINE_END = /^(?:\\(?:\.br|X0D|X0A|X0D0A)\\){1,2}/i;
/** A search for a wrong character needs no memory, unlike a match of all of them. */
const NO_BASE64 = /[^A-Za-z0-9+/]/;
/** A delimiter of these would be part of a token or of base64. */
const WORD = /[A-Za-z0-9+/=._\u0001-]/; // oxlint-disable-line no-control-regex

/**
 * @param maxTextBytes the limit of the message without its documents
 * @throws TooLong beyond that
 */
export async function cutMessage(bytes: Uint8Array, maxTextBytes: number): Promise<CutMessage> {
  const cut = { sha256: await sha256Of(bytes), ...(await cutDocuments(bytes)) };
  if (cut.bytes.length > maxTextBytes) {
    const message = `without its documents (base64 in OBX-5 of type ED) the message has ${cut.bytes.length} bytes, more than HL7_MAX_TEXT_BYTES (${maxTextBytes})`;
    throw new TooLong(new Fault('too-large', message), salvageHeader(bytes));
  }
  return cut;
}

/** As `cutMessage`, for bytes that nothing else needs. */
export async function takeMessage(bytes: Uint8Array, maxTextBytes: number): Promise<CutMessage> {
  const message = await cutMessage(bytes, maxTextBytes);
  if (message.bytes.buffer !== bytes.buffer) release(bytes);
  return message;
}

/** The documents of a message that was stored with tokens. */
export const storedDocuments = (bytes: Uint8Array): CutDocument[] =>
  documentTokens(latin1(bytes)).map(({ token, sha256 }) => ({ token, sha256, base64: null }));

/** A resource with its documents, as a FHIR client reads it. */
export function withData(resource: JsonObject, documents: readonly CutDocument[]): JsonObject {
  const base64Of = new Map(documents.map(({ sha256, base64 }) => [sha256, base64]));
  const filled = (value: Json, member: string): Json => {
    if (Array.isArray(value)) {
      const [sha256] = value;
      return (
        (member === 'data' && typeof sha256 === 'string' && base64Of.get(sha256)) ||
        value.map((item) => filled(item, ''))
      );
    }
    return isJsonObject(value) ? filledObject(value) : value;
  };
  const filledObject = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, filled(value, name)]));
  return documents.length === 0 ? resource : filledObject(resource);
}

async function cutDocuments(bytes: Uint8Array): Promise<Pick<CutMessage, 'bytes' | 'documents'>> {
  const start = bytes[0] === 0xef ? 3 : 0;
  // MSH-1 and MSH-2.
  const head = latin1(bytes.subarray(start, start + 8));
  const isPlain =
    bytes.length >= MIN_LENGTH &&
    head.startsWith('MSH') &&
    !WORD.test(head.slice(3)) &&
    // PostgreSQL has no NUL, and a U+0001 of the sender must not look like a token.
    !bytes.includes(0) &&
    !bytes.includes(1);
  if (!isPlain) return { bytes, documents: [] };
  const pieces: Uint8Array[] = [];
  const documents = new Map<string, CutDocument>();
  let from = 0;
  for (const range of encapsulatedData(bytes, start)) {
    const content = bytes.subarray(range.from, range.to);
    const layout = layoutOf(content, bytes[start + 6]);
    if (layout === undefined) continue;
    const { base64, width, separator } = layout;
    const sha256 = await sha256Of(width === 0 ? content : base64);
    const token = documentToken({ sha256, size: bytesOfBase64(base64), width, separator });
    documents.set(token, { token, sha256, base64 });
    pieces.push(
      bytes.subarray(from, range.from),
      Uint8Array.from(token, (c) => c.charCodeAt(0)),
    );
    from = range.to;
  }
  if (pieces.length === 0) return { bytes, documents: [] };
  pieces.push(bytes.subarray(from));
  return { bytes: joined(pieces), documents: [...documents.values()] };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The pieces between separators. */
function* split(bytes: Uint8Array, { from, to }: Range, separator: number): Generator<Range> {
  // Without the rest of the message, which would be searched for each piece.
  const part = bytes.subarray(from, to);
  for (let at = 0; at <= part.length;) {
    const next = part.indexOf(separator, at);
    const end = next < 0 ? part.length : next;
    yield { from: from + at, to: from + end };
    at = end + 1;
  }
}

function* linesOf(bytes: Uint8Array, from: number): Generator<Range> {
  // Each is searched again only behind its last place.
  const next = [CR, LF].map((byte) => ({ byte, at: -1 }));
  for (let at = from; at <= bytes.length;) {
    for (const each of next) {
      if (each.at >= at) continue;
      const found = bytes.indexOf(each.byte, at);
      each.at = found < 0 ? bytes.length : found;
    }
    const to = Math.min(...next.map((each) => each.at));
    yield { from: at, to };
    at = to + 1;
  }
}

/** ED.5 of each long repetition of OBX-5 of type ED, where ED.4 is Base64 or empty. */
function* encapsulatedData(bytes: Uint8Array, start: number): Generator<Range> {
  const [field = 0, component = 0, repetition = 0] = bytes.subarray(start + 3);
  const textOf = (range: Range | undefined): string =>
    range === undefined ? '' : latin1(bytes.subarray(range.from, Math.min(range.to, range.from + 16)));
  for (const line of linesOf(bytes, start)) {
    if (line.to - line.from < MIN_LENGTH || textOf(line).slice(0, 3) !== 'OBX' || bytes[line.from + 3] !== field)
      continue;
    // A generator reads no further than its reader.
    const fields = split(bytes, line, field);
    const [, , type, , , value] = fields.take(6);
    if (value === undefined || !/^ED(?![A-Z0-9])/i.test(textOf(type))) continue;
    for (const each of split(bytes, value, repetition)) {
      const [, , , encoding, data] = split(bytes, each, component).take(5);
      if (data === undefined || data.to - data.from < MIN_LENGTH) continue;
      // Its other lines follow, with line ends that are not escaped (shared/hl7/message.ts).
      if (data.to === line.to && isContinued(bytes, line.to, field)) continue;
      if (/^(?:base64)?$/i.test(textOf(encoding))) yield data;
    }
  }
}

/** Checks whether a line that continues it follows a line: ADD, or no segment. */
function isContinued(bytes: Uint8Array, end: number, field: number): boolean {
  let next = end;
  while (bytes[next] === CR || bytes[next] === LF) next += 1;
  if (next >= bytes.length) return false;
  return bytes[next + 3] !== field || latin1(bytes.subarray(next, next + 3)) === 'ADD';
}

interface Layout {
  readonly base64: string;
  /** The characters of a line; 0 for one line. */
  readonly width: number;
  readonly separator: string;
}

const decoder = new TextDecoder();

/** Undefined for bytes that are not the only spelling of this base64. */
function layoutOf(content: Uint8Array, escape: number | undefined): Layout | undefined {
  const text = decoder.decode(content);
  const width = escape === BACKSLASH ? text.indexOf('\\') : -1;
  const separator = width < 1 ? '' : (LINE_END.exec(text.slice(width, width + 16))?.[0] ?? '');
  const lines = separator === '' ? [text] : text.split(separator);
  const last = lines.at(-1)?.length ?? 0;
  const isRegular =
    lines.length === 1 ||
    (last > 0 && last <= width && lines.every((line, n) => line.length === width || n === lines.length - 1));
  const base64 = lines.length === 1 ? text : lines.join('');
  if (!isRegular || base64.length % 4 !== 0 || !/^={0,2}$/.test(base64.slice(firstOf(base64, NO_BASE64))))
    return undefined;
  const end = base64.slice(-4);
  if (btoa(atob(end)) !== end) return undefined;
  return { base64, width: separator === '' ? 0 : width, separator };
}

const firstOf = (text: string, expression: RegExp): number => {
  const at = text.search(expression);
  return at < 0 ? text.length : at;
};
