/**
 * Reads a request's body within a limit for declared and streamed lengths. Hono's `body-limit` trusts a declared length,
 * keeps a Content-Encoding, and reads before the caller is known.
 */
import { Fault } from '../../shared/fault.ts';
import type { Expect, Gzip } from '../deps.ts';
import { SMALL_BODY } from './memory.ts';
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

interface Sent {
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array> | null;
}

/** The length that the client declares; NaN without one. */
export const declaredLength = ({ headers }: Pick<Request, 'headers'>): number =>
  Number(headers.get('content-length') ?? Number.NaN);

/**
 * Reads a body that may be gzip. The limit applies to the bytes that arrive, and to the content.
 *
 * @param expect called before more than `SMALL_BODY` is read, and before it is inflated
 * @param watch called with each part that arrives, also with one beyond the limit
 * @throws Fault as `readBody`; `malformed` for bytes that are not gzip
 */
export async function readInflated(
  gzip: Gzip,
  request: Sent,
  maxBytes: number,
  expect: Expect,
  watch?: (chunk: Uint8Array) => void,
): Promise<Uint8Array> {
  const coding = codingOf(request);
  if (coding !== 'identity' && !isGzip(coding)) throw unsupportedCoding('gzip');
  const bytes = await readBytes(request, maxBytes, expect, DEADLINE_MS, watch);
  return isGzip(coding) ? inflate(gzip, bytes, maxBytes, expect) : bytes;
}

async function inflate(gzip: Gzip, bytes: Uint8Array, maxBytes: number, expect: Expect): Promise<Uint8Array> {
  const length = Math.min(maxBytes, statedLength(bytes));
  await expect(length);
  try {
    return gzip.inflate(bytes, length);
  } catch (error) {
    if (length === maxBytes || !(error instanceof Fault && error.kind === 'too-large')) throw error;
  }
  // Several members, of which only the last one's length is at the end.
  await expect(maxBytes);
  return gzip.inflate(bytes, maxBytes);
}

/** The length of the content as the last member of gzip states it (RFC 1952 §2.3.1, ISIZE). */
const statedLength = ({ buffer, byteOffset, byteLength }: Uint8Array): number =>
  byteLength < 4 ? 1 : Math.max(1, new DataView(buffer, byteOffset, byteLength).getUint32(byteLength - 4, true));

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
 * @param expect called before more than `SMALL_BODY` is read
 * @param deadlineMs for the full body
 * @throws Fault `timeout` (408), `malformed` if the caller disconnected, `too-large` (413), or `unsupported-media-type`
 *   for a `Content-Encoding`
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  expect: Expect = async () => undefined,
  deadlineMs = DEADLINE_MS,
): Promise<Uint8Array> {
  if (codingOf(request) !== 'identity') throw unsupportedCoding('identity');
  return readBytes(request, maxBytes, expect, deadlineMs);
}

async function readBytes(
  request: Sent,
  maxBytes: number,
  expect: Expect,
  deadlineMs = DEADLINE_MS,
  watch: (chunk: Uint8Array) => void = () => undefined,
): Promise<Uint8Array> {
  const tooLarge = () => new Fault('too-large', `the body is larger than ${maxBytes} bytes`);
  const declared = declaredLength(request);
  if (declared > maxBytes) throw tooLarge();
  if (request.body === null) return new Uint8Array(0);
  let expected = declared >= 0 ? declared : SMALL_BODY;
  await expect(expected);

  // One buffer for a declared length: only the bytes that arrive use memory.
  let bytes = new Uint8Array(expected);
  let length = 0;
  const reader = readerOf(request.body, expected);
  const within = timeLimit(deadlineMs);
  try {
    for (;;) {
      const part = await Promise.race([reader.read(), within.expired]);
      if (part === undefined) break;
      watch(part);
      const end = length + part.byteLength;
      if (end > maxBytes) throw tooLarge();
      if (end > expected) await expect((expected = maxBytes));
      if (end > bytes.length) bytes = grown(bytes, Math.min(maxBytes, 2 * end));
      bytes.set(part, length);
      length = end;
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
  return bytes.subarray(0, length);
}

interface PartReader {
  /** The next part, valid until the next call; undefined at the end. */
  readonly read: () => Promise<Uint8Array | undefined>;
  readonly cancel: () => Promise<void>;
}

/** Reads a large body through one buffer. Otherwise its parts would be garbage, as large as the body and beside it. */
function readerOf(body: ReadableStream<Uint8Array>, expected: number): PartReader {
  const large = expected > SMALL_BODY ? byteReaderOf(body) : undefined;
  if (large === undefined) {
    const reader = body.getReader();
    return { read: async () => (await reader.read()).value, cancel: () => reader.cancel() };
  }
  let buffer = new ArrayBuffer(SMALL_BODY);
  return {
    async read() {
      const { done, value } = await large.read(new Uint8Array(buffer));
      if (done || value === undefined) return undefined;
      ({ buffer } = value);
      return value;
    },
    cancel: () => large.cancel(),
  };
}

/** Undefined if the runtime has the body as another stream, as Deno has a body that arrived at once. */
function byteReaderOf(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: 'byob' });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function grown(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
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
