/**
 * Reads the bytes of a message from a request. If it is too long, only the beginning is read, so that the answer has
 * MSH-10.
 */
import { Fault } from '../../../shared/fault.ts';
import type { Expect, Gzip } from '../../deps.ts';
import { salvageHeader, type Header } from '../../../shared/hl7/header.ts';
import { codingOf, declaredLength, readInflated } from '../../http/body.ts';

/** A message over the size limit, with its header. */
export class TooLong extends Error {
  override readonly name = 'TooLong';
  readonly fault: Fault;
  readonly header: Header;

  constructor(fault: Fault, header: Header) {
    super(fault.message);
    this.fault = fault;
    this.header = header;
  }
}

/** Real MSH have about 150 bytes. */
const HEAD_BYTES = 4096;

/**
 * @param maxBytes the limit, inclusive
 * @param expect called before much is read
 * @param limit the name of the limit
 * @throws TooLong with the header; Fault `unsupported-media-type` for a Content-Encoding other than gzip
 */
export async function readMessageBytes(
  gzip: Gzip,
  request: Request,
  maxBytes: number,
  expect: Expect,
  limit = 'HL7_MAX_MESSAGE_BYTES',
): Promise<Uint8Array> {
  let head = new Uint8Array(0);
  const watch = (chunk: Uint8Array): void => {
    if (head.length < HEAD_BYTES) head = Uint8Array.from([...head, ...chunk.subarray(0, HEAD_BYTES - head.length)]);
  };
  const headers = new Headers(request.headers);
  // The beginning is read before the message is rejected.
  if (declaredLength(request) > maxBytes) headers.delete('content-length');
  try {
    return await readInflated(gzip, { headers, body: request.body }, maxBytes, expect, watch);
  } catch (error) {
    if (error instanceof Fault && error.kind === 'too-large') {
      const message = `the message is larger than ${limit} (${maxBytes} bytes)`;
      const isPlain = codingOf(request) === 'identity';
      throw new TooLong(
        new Fault('too-large', message, { cause: error }),
        salvageHeader(isPlain ? head : gzip.inflateStart(head).subarray(0, HEAD_BYTES)),
      );
    }
    throw error;
  }
}
