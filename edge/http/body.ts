/**
 * Reads a request's body within a limit for declared and streamed lengths. Hono's `body-limit` trusts a declared length,
 * keeps a Content-Encoding, and reads before the caller is known.
 */
import { joined } from '../../shared/bytes.ts';
import { Fault } from '../../shared/fault.ts';
import type { Gzip } from '../deps.ts';
import { timeLimit } from './deadline.ts';

/** For the full body, however slowly it arrives: the largest accepted body needs some 70 kB a second. */
const DEADLINE_MS = 30_000;

const tooSlow = (ms: number) =>
  new Fault('timeout', `the body did not arrive completely within ${ms / 1000} s`, {
    headers: { Connection: 'close' },
  });

const isGzip = (coding: string): boolean => coding === 'gzip' || coding === 'x-gzip';

/** The coding of a body in lower case (RFC 9110 §8.4). */
export const codingOf = ({ headers }: Pick<Request, 'headers'>): string =>
  (headers.get('content-encoding') ?? 'identity').trim().toLowerCase();

/**
 * Reads a body that may be gzip. The limit applies to the bytes that arrive, and to the content.
 *
 * @throws Fault as `readBody`; `malformed` for bytes that are not gzip
 */
export async function readInflated(gzip: Gzip, request: Request, maxBytes: number): Promise<Uint8Array> {
  const coding = codingOf(request);
  if (coding !== 'identity' && !isGzip(coding)) throw unsupportedCoding('gzip');
  const bytes = await readBytes(request, maxBytes);
  return isGzip(coding) ? gzip.inflate(bytes, maxBytes) : bytes;
}

/** @param supported for the answer (RFC 9110 §15.5.16) */
const unsupportedCoding = (supported: 'gzip' | 'identity'): Fault =>
  new Fault(
    'unsupported-media-type',
    supported === 'gzip'
      ? 'Content-Encoding must be gzip: compress the body with it, or send it without Content-Encoding'
      : 'Content-Encoding is not supported here: send the body without it',
    { headers: { 'Accept-Encoding': supported } },
  );

/**
 * @param maxBytes the limit, inclusive
 * @param deadlineMs for the full body
 * @throws Fault `timeout` (408), `malformed` if the caller disconnected, `too-large` (413), or `unsupported-media-type`
 *   for a `Content-Encoding`
 */
export async function readBody(request: Request, maxBytes: number, deadlineMs = DEADLINE_MS): Promise<Uint8Array> {
  if (codingOf(request) !== 'identity') throw unsupportedCoding('identity');
  return readBytes(request, maxBytes, deadlineMs);
}

async function readBytes(request: Request, maxBytes: number, deadlineMs = DEADLINE_MS): Promise<Uint8Array> {
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
  return joined(chunks);
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
