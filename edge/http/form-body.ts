/**
 * Decodes forms (application/x-www-form-urlencoded) for all surfaces. Percent-escapes are always UTF-8 (WHATWG URL §5.1). The
 * declared charset applies to the bytes between them: Java's HttpClient 4 declares ISO-8859-1 for a form in ASCII.
 */
import { Fault } from '../../shared/fault.ts';
import { quote } from '../../shared/quote.ts';
import { decodeUtf8 } from './body.ts';
import { parseMediaType } from './media-type.ts';

const FORM = 'application/x-www-form-urlencoded';
const UTF_8 = new Set(['utf-8', 'utf8']);
/** Character sets whose first half is ASCII and whose second half is not UTF-8. */
const LIKE_ASCII = new Set(['iso-8859-1', 'us-ascii', 'windows-1252']);

/**
 * Returns the decoder for a form's Content-Type. It throws Fault `malformed` for bytes that are not UTF-8, and for bytes
 * that are not ASCII if the declared charset is another.
 *
 * @throws Fault `unsupported-media-type` for another media type or an unsupported charset
 */
export function formDecoder(contentType: string | null): (bytes: Uint8Array) => string {
  const { type, parameters } = parseMediaType(contentType ?? '');
  if (type !== FORM) {
    const given = quote(contentType ?? undefined);
    throw new Fault('unsupported-media-type', `the Content-Type was ${given}, expected ${FORM}`);
  }
  const charset = parameters.get('charset') ?? 'utf-8';
  if (UTF_8.has(charset.toLowerCase())) return decodeUtf8;
  if (!LIKE_ASCII.has(charset.toLowerCase())) {
    throw new Fault('unsupported-media-type', `the form's charset was ${quote(charset)}, expected UTF-8`);
  }
  return (bytes) => {
    if (bytes.every((byte) => byte < 0x80)) return decodeUtf8(bytes);
    const message = `the form is declared as ${charset} but contains other characters than ASCII: send UTF-8, or escape them`;
    throw new Fault('malformed', message);
  };
}
