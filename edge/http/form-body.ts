/**
 * The text of a form (application/x-www-form-urlencoded), for every surface that accepts one. Escapes are UTF-8 whatever
 * the charset says (WHATWG URL §5.1). The charset is of the bytes between them: Java's HttpClient 4 says ISO-8859-1 of a
 * form that is all ASCII.
 */
import { Fault } from '../../shared/fault.ts';
import { quote } from '../../shared/quote.ts';
import { decodeUtf8 } from './body.ts';
import { parseMediaType } from './media-type.ts';

const FORM = 'application/x-www-form-urlencoded';
const UTF_8 = new Set(['utf-8', 'utf8']);
/** These have ASCII as their first half, and other characters than UTF-8 in the second. */
const LIKE_ASCII = new Set(['iso-8859-1', 'us-ascii', 'windows-1252']);

/**
 * How the body of a form is decoded, by its Content-Type. The decoder throws Fault `malformed` for bytes that are not
 * UTF-8, and for bytes that are not ASCII where the charset is another.
 *
 * @throws Fault `unsupported-media-type` for another media type or a charset that is not supported
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
    throw new Fault('unsupported-media-type', `the charset of the form was ${quote(charset)}: send it in UTF-8`);
  }
  return (bytes) => {
    if (bytes.every((byte) => byte < 0x80)) return decodeUtf8(bytes);
    const message = `the form is sent as ${charset} and is not all ASCII: send it in UTF-8, or escape what is not ASCII`;
    throw new Fault('malformed', message);
  };
}
