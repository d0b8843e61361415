/**
 * Reads the bytes of a message from a request. If it is too long, only the beginning is read, so that the answer has
 * MSH-10.
 */
import { Fault } from '../../../shared/fault.ts';
import type { Gzip } from '../../deps.ts';
import { salvageHeader, type Header } from '../../../shared/hl7/header.ts';
import { codingOf, readInflated } from '../../http/body.ts';

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
 * @throws TooLong with the header; Fault `unsupported-media-type` for a Content-Encoding other than gzip
 */
export async function readMessageBytes(gzip: Gzip, request: Request, maxBytes: number): Promise<Uint8Array> {
  let head = new Uint8Array(0);
  const watched = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (head.length < HEAD_BYTES) head = Uint8Array.from([...head, ...chunk.subarray(0, HEAD_BYTES - head.length)]);
      controller.enqueue(chunk);
    },
  });
  // A declared length is checked too, but after the beginning was read.
  const headers = new Headers(request.headers);
  headers.delete('content-length');
  const body = request.body?.pipeThrough(watched) ?? null;
  const streamed = { method: 'POST', headers, body, duplex: 'half' } satisfies RequestInit & { duplex: 'half' };
  try {
    return await readInflated(gzip, new Request(request.url, streamed), maxBytes);
  } catch (error) {
    if (error instanceof Fault && error.kind === 'too-large') {
      const message = `the message is larger than HL7_MAX_MESSAGE_BYTES (${maxBytes} bytes)`;
      const isPlain = codingOf(request) === 'identity';
      throw new TooLong(
        new Fault('too-large', message, { cause: error }),
        salvageHeader(isPlain ? head : gzip.inflateStart(head).subarray(0, HEAD_BYTES)),
      );
    }
    throw error;
  }
}
