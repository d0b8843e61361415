/**
 * Reads a client assertion as a JWS in compact serialization (RFC 7515 §3.1), before any key is searched. It is stricter than
 * a JOSE library (limits, one spelling, no duplicate members), so that the checked text is the signed text.
 */
import { Fault } from '../../../shared/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../shared/json.ts';
import { decodeBase64url } from '../../../shared/base64url.ts';

/** Real assertions have less than 1 KiB. */
const MAX_ASSERTION_CHARACTERS = 8 * 1024;
const MAX_HEADER_BYTES = 1024;
const MAX_PAYLOAD_BYTES = 4 * 1024;
const MAX_DEPTH = 8;

export interface CompactJws {
  readonly text: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
}

export type ReadJws = { readonly jws: CompactJws } | { readonly reason: string };

/** Parses one segment as a JSON object. */
function readSegment(name: string, segment: string, maxBytes: number): { object: JsonObject } | { reason: string } {
  const bytes = decodeBase64url(segment);
  if (bytes === undefined) return { reason: `the ${name} is not base64url (no padding, no white space)` };
  if (bytes.length > maxBytes) return { reason: `the ${name} has more than ${maxBytes} bytes` };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = parseJson(text, MAX_DEPTH);
    return isJsonObject(value) ? { object: value } : { reason: `the ${name} is not a JSON object` };
  } catch (error) {
    if (error instanceof Fault) return { reason: `the ${name} is ${error.message}` };
    return { reason: `the ${name} is not UTF-8` };
  }
}

/** Parses header and claims, neither of which is verified yet. */
export function readCompactJws(text: string): ReadJws {
  if (text.length > MAX_ASSERTION_CHARACTERS) {
    return { reason: `the assertion has more than ${MAX_ASSERTION_CHARACTERS} characters` };
  }
  const [first, second, third, ...more] = text.split('.');
  if (first === undefined || second === undefined || third === undefined || more.length > 0) {
    const parts = text.split('.').length;
    const encrypted = parts === 5 ? '; five are an encrypted JWT, which is not supported' : '';
    return { reason: `the assertion has ${parts} parts, a signed JWT has three${encrypted}` };
  }
  const header = readSegment('header', first, MAX_HEADER_BYTES);
  if ('reason' in header) return header;
  const claims = readSegment('payload', second, MAX_PAYLOAD_BYTES);
  if ('reason' in claims) return claims;
  if (third === '') return { reason: 'the assertion is not signed' };
  if (decodeBase64url(third) === undefined)
    return { reason: 'the signature is not base64url (no padding, no white space)' };
  return { jws: { text, header: header.object, claims: claims.object } };
}
