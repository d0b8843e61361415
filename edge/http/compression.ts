/**
 * Compression of answers (edge/docs/behaviour.md, Addresses and configuration). An answer or a page of a stream is
 * compressed in one synchronous call, so an isolate compresses one at a time.
 */
import { Fault } from '../../shared/fault.ts';
import type { Deps } from '../deps.ts';
import { parseMediaType } from './media-type.ts';

/** About one packet: a smaller answer arrives no sooner when it is compressed. */
const MIN_LENGTH = 1024;

/**
 * The length from which the client gets gzip (RFC 9110 §12.5.3). It is 0 if the client excludes uncompressed answers, and
 * Infinity if it does not accept gzip or prefers none. It is undefined if the client accepts neither.
 */
export function gzipFrom(accepted: string | null): number | undefined {
  const given = new Map((accepted ?? '').split(',').map(parseMediaType).map(qualityOf));
  const gzip = given.get('gzip') ?? given.get('x-gzip') ?? given.get('*') ?? 0;
  const identity = given.get('identity') ?? given.get('*') ?? Number.MIN_VALUE;
  if (gzip > 0 && gzip >= identity) return identity > 0 ? MIN_LENGTH : 0;
  return identity > 0 ? Infinity : undefined;
}

const qualityOf = ({ type, parameters }: ReturnType<typeof parseMediaType>): [string, number] => [
  type,
  Number(parameters.get('q') ?? '1'),
];

/** @throws Fault `not-acceptable` if the client accepts neither gzip nor an uncompressed answer */
export function requireCoding({ acceptEncoding }: Pick<Deps, 'acceptEncoding'>, request: Request): void {
  if (gzipFrom(acceptEncoding(request)) !== undefined) return;
  throw new Fault(
    'not-acceptable',
    'Accept-Encoding excludes what the server can send: allow gzip, or leave out identity;q=0',
  );
}

interface AnswerInit {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The length of a body that is streamed in pieces. Without it the body counts as large. */
  readonly length?: number | undefined;
}

/** An answer, compressed if the client accepts it. For content without secrets only: its length reveals its repetitions. */
export function compressedAnswer(
  { gzip, acceptEncoding }: Pick<Deps, 'gzip' | 'acceptEncoding'>,
  request: Request,
  body: string | ReadableStream<Uint8Array> | null,
  { status = 200, headers: given, length = typeof body === 'string' ? body.length : Infinity }: AnswerInit,
): Response {
  const headers = new Headers(given);
  headers.append('Vary', 'Accept-Encoding');
  const from = gzipFrom(acceptEncoding(request)) ?? Infinity;
  if (body === null || from === Infinity || length < from) return new Response(body, { status, headers });
  return gzipAnswer(typeof body === 'string' ? gzip.compress(body) : gzip.compressStream(body), { status, headers });
}

/** An answer whose body is gzip already. */
export function gzipAnswer(
  body: BodyInit | null,
  init: { readonly status?: number; readonly headers: Headers },
): Response {
  init.headers.set('Content-Encoding', 'gzip');
  // Workers would compress it a second time.
  const encoded = { ...init, encodeBody: 'manual' as const };
  return new Response(body, encoded);
}
