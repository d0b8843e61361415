/**
 * A request's body as bytes, within a limit that holds for declared and for streamed lengths. Not Hono's `body-limit`: it
 * believes a declared length, keeps a Content-Encoding, and reads before it is known who calls.
 */
import { Fault } from '../../shared/fault.ts';
import { timeLimit } from './deadline.ts';

/** For all of a body, however slowly it comes: the largest that is taken needs some 70 kB a second. */
const DEADLINE_MS = 30_000;

const tooSlow = (ms: number) =>
  new Fault('timeout', `the body did not arrive in full within ${ms / 1000} s`, { headers: { Connection: 'close' } });

/**
 * @param maxBytes the limit, inclusive
 * @param deadlineMs for all of it
 * @throws Fault `timeout` (408), `malformed` where the caller left in the middle, `too-large` (413), or `unsupported-media-type` for a `Content-Encoding`: nothing is decompressed here,
 *   so that a small body cannot become a large one
 */
export async function readBody(request: Request, maxBytes: number, deadlineMs = DEADLINE_MS): Promise<Uint8Array> {
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
  const within = timeLimit(deadlineMs);
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), within.passed]);
      if (done) break;
      length += value.byteLength;
      if (length > maxBytes) throw tooLarge();
      chunks.push(value);
    }
  } catch (error) {
    // What is not waited for any more may not be told of its end either.
    reader.cancel().catch(() => undefined);
    if (error instanceof Fault) throw error;
    throw within.hasPassed() ? tooSlow(deadlineMs) : new Fault('malformed', 'the body broke off', { cause: error });
  } finally {
    within.clear();
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
