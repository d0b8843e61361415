/**
 * A request's body as bytes, within a limit that holds for declared and for streamed lengths. Not Hono's `body-limit`: it
 * believes a declared length, keeps a Content-Encoding, and reads before it is known who calls.
 */
import { Fault } from '../../shared/fault.ts';

/**
 * @param maxBytes the limit, inclusive
 * @throws Fault `too-large` (413), or `unsupported-media-type` for a `Content-Encoding`: nothing is decompressed here,
 *   so that a small body cannot become a large one
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new Fault('unsupported-media-type', 'a Content-Encoding is not supported: send the body as it is');
  }
  const tooLarge = () => new Fault('too-large', `the body is larger than ${maxBytes} bytes`);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge();
  if (request.body === null) return new Uint8Array(0);

  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > maxBytes) {
      await reader.cancel();
      throw tooLarge();
    }
    chunks.push(value);
  }
  const only = chunks[0];
  if (chunks.length === 1 && only !== undefined) return only;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/**
 * Bytes as UTF-8 text.
 *
 * @throws Fault `malformed` on invalid UTF-8; a byte order mark is kept, for the reader to refuse or to use
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Fault('malformed', 'the body is not valid UTF-8');
  }
}
