/**
 * Reads a request's body within a limit for declared and streamed lengths. Hono's `body-limit` trusts a declared length,
 * keeps a Content-Encoding, and reads before the caller is known.
 */
import { Fault } from '../../shared/fault.ts';
import { timeLimit } from './deadline.ts';

/** For the full body, however slowly it arrives: the largest accepted body needs some 70 kB a second. */
const DEADLINE_MS = 30_000;

const tooSlow = (ms: number) =>
  new Fault('timeout', `the body did not arrive completely within ${ms / 1000} s`, {
    headers: { Connection: 'close' },
  });

/**
 * @param maxBytes the limit, inclusive
 * @param deadlineMs for the full body
 * @throws Fault `timeout` (408), `malformed` if the caller disconnected, `too-large` (413), or `unsupported-media-type`
 *   for a `Content-Encoding`. The gateway never decompresses, so that a small body cannot become a large one.
 */
export async function readBody(request: Request, maxBytes: number, deadlineMs = DEADLINE_MS): Promise<Uint8Array> {
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new Fault('unsupported-media-type', 'Content-Encoding is not supported: send the body without it');
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
      const { done, value } = await Promise.race([reader.read(), within.expired]);
      if (done) break;
      length += value.byteLength;
      if (length > maxBytes) throw tooLarge();
      chunks.push(value);
    }
  } catch (error) {
    // The pending read must not become an unhandled rejection.
    reader.cancel().catch(() => undefined);
    if (error instanceof Fault) throw error;
    throw within.hasExpired()
      ? tooSlow(deadlineMs)
      : new Fault('malformed', 'the body ended before its declared length', { cause: error });
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
 * Decodes UTF-8, without a byte order mark (RFC 8259 §8.1).
 *
 * @throws Fault `malformed` for invalid UTF-8
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new Fault('malformed', 'the body is not valid UTF-8');
  }
}
