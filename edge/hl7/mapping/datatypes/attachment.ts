/**
 * ED, RP and texts as Attachment (v2-to-FHIR `ED[Attachment]`, `RP[Attachment]`, `OBX[DocumentReference]` 7 to 12): the content
 * as base64, or its URL.
 */
import { child, type Part } from '../../../../shared/hl7/value.ts';
import type { Json, JsonObject } from '../../../../shared/json.ts';
import { members, plainTextOf, repetitionText, textOf } from './text.ts';

/** Table 0191 (type of referenced data) to the first half of a media type. */
const MEDIA: ReadonlyMap<string, string> = new Map([
  ['AP', 'application'],
  ['APPLICATION', 'application'],
  ['AU', 'audio'],
  ['AUDIO', 'audio'],
  ['IM', 'image'],
  ['IMAGE', 'image'],
  ['SI', 'image'],
  ['MULTIPART', 'multipart'],
  ['TEXT', 'text'],
  ['TX', 'text'],
  ['FT', 'text'],
  ['VIDEO', 'video'],
]);

/** Table 0291 (subtype of referenced data) to a media type. */
const SUBTYPES: ReadonlyMap<string, string> = new Map([
  ['PDF', 'application/pdf'],
  ['RTF', 'application/rtf'],
  ['MSWORD', 'application/msword'],
  ['WORD', 'application/msword'],
  ['DOCX', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['XML', 'application/xml'],
  ['X-HL7-CDA-LEVEL-ONE', 'application/xml'],
  ['HL7-CDA-LEVEL-ONE', 'application/xml'],
  ['CDA', 'application/xml'],
  ['HTML', 'text/html'],
  ['HTM', 'text/html'],
  ['SGML', 'text/sgml'],
  ['PLAIN', 'text/plain'],
  ['TXT', 'text/plain'],
  ['JPEG', 'image/jpeg'],
  ['JPG', 'image/jpeg'],
  ['GIF', 'image/gif'],
  ['PNG', 'image/png'],
  ['TIFF', 'image/tiff'],
  ['TIF', 'image/tiff'],
  ['G3FAX', 'image/g3fax'],
  ['PICT', 'image/x-pict'],
  ['DICOM', 'application/dicom'],
  ['JOT', 'application/octet-stream'],
  ['BASIC', 'audio/basic'],
  ['WAV', 'audio/wav'],
  ['MP3', 'audio/mpeg'],
  ['MP4', 'video/mp4'],
  ['OCTET-STREAM', 'application/octet-stream'],
  ['ZIP', 'application/zip'],
]);

/** The default if only table 0191 has the type. */
const DEFAULTS: ReadonlyMap<string, string> = new Map([
  ['application', 'application/octet-stream'],
  ['text', 'text/plain'],
]);

const MEDIA_TYPE = /^[a-z]+\/[a-z0-9.+-]+$/i;

/** Rows 4 to 6 of `ED[Attachment]`, row 5 of `RP[Attachment]`: a media type from two tables, undefined when unknown. */
export function mediaType(type: string | undefined, subtype: string | undefined): string | undefined {
  for (const text of [subtype, type]) {
    if (text !== undefined && MEDIA_TYPE.test(text)) return text.toLowerCase();
  }
  const known = SUBTYPES.get(subtype?.toUpperCase() ?? '') ?? SUBTYPES.get(type?.toUpperCase() ?? '');
  if (known !== undefined) return known;
  const media = MEDIA.get(type?.toUpperCase() ?? '');
  if (media === undefined) return undefined;
  return subtype !== undefined && /^[a-z0-9.+-]+$/i.test(subtype)
    ? `${media}/${subtype.toLowerCase()}`
    : DEFAULTS.get(media);
}

const BASE64 = /^[A-Za-z0-9+/]+=*$/;
const HEX = /^(?:[0-9A-Fa-f]{2})+$/;

/** ED.5 as base64, from the encoding in ED.4 (row 8); undefined for an invalid value. */
function encoded(data: string, encoding: string | undefined): string | undefined {
  const upper = encoding?.toUpperCase();
  if (upper === 'HEX') {
    const hex = data.replaceAll(/\s/g, '');
    return HEX.test(hex)
      ? base64(Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)))
      : undefined;
  }
  if (upper === 'A') return textAsBase64(data);
  // Most senders use base64, also without ED.4.
  const packed = /\s/.test(data) ? data.replaceAll(/\s/g, '') : data;
  if (!BASE64.test(packed)) return undefined;
  // Some pad too much or not at all.
  const digits = packed.replaceAll('=', '');
  return digits.length % 4 === 1 ? undefined : digits.padEnd(Math.ceil(digits.length / 4) * 4, '=');
}

/** A document that was cut out of the message (edge/hl7/ingest/cut-documents.ts), as it is stored in a body: its hash and size. */
function cutData(part: Part): Json | undefined {
  const data = child(part, 5);
  if (typeof data !== 'string' || !part.segment.source.documents.has(data)) return undefined;
  const [sha256 = '', size] = data.slice(1).split('.');
  return [sha256, Number(size)];
}

/** The last component as a text, with separators that were not escaped, such as the `&` of HTML. */
function textFrom(part: Part, number: number): string | undefined {
  const { component } = part.segment.source.delimiters;
  return repetitionText({
    ...part,
    raw: part.raw
      .split(component)
      .slice(number - 1)
      .join(component),
  });
}

/** Encapsulated data; undefined when ED.5 is missing or not in the encoding that ED.4 names. */
export function encapsulated(part: Part): JsonObject | undefined {
  const encoding = textOf(part, 4);
  const data = encoding?.toUpperCase() === 'A' ? textFrom(part, 5) : textOf(part, 5);
  const packed = data === undefined ? undefined : (cutData(part) ?? encoded(data, encoding));
  if (packed === undefined) return undefined;
  const contentType = mediaType(textOf(part, 2), textOf(part, 3)) ?? 'application/octet-stream';
  return { contentType, data: packed };
}

/** A pointer (`RP[Attachment]` 3 and 5); RP.1 must be usable as a URL. */
export function pointer(part: Part): JsonObject | undefined {
  const url = plainTextOf(part, 1);
  if (url === undefined) return undefined;
  return members({ contentType: mediaType(textOf(part, 3), textOf(part, 4)), url: url.replaceAll(/\s/g, '%20') });
}

/** The size of a padded base64 text in bytes. */
export const bytesOfBase64 = (packed: string): number =>
  (packed.length / 4) * 3 - [packed.endsWith('='), packed.endsWith('==')].filter(Boolean).length;

/** The size of `data` in bytes; undefined without data. */
export function sizeOf(data: Json | undefined): number | undefined {
  if (typeof data === 'string') return bytesOfBase64(data);
  return Array.isArray(data) ? Number(data[1]) : undefined;
}

/** Text lines as a plain text document. */
export function plainText(text: string): JsonObject {
  return { contentType: 'text/plain; charset=utf-8', data: textAsBase64(text) };
}

function textAsBase64(text: string): string {
  return base64(new TextEncoder().encode(text));
}

function base64(bytes: Uint8Array): string {
  const step = 8190; // arguments of one call, and a multiple of three so that the pieces join
  let out = '';
  for (let at = 0; at < bytes.length; at += step) out += btoa(String.fromCharCode(...bytes.subarray(at, at + step)));
  return out;
}
