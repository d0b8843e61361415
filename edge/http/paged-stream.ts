/** Bodies that are produced while they are read, so that a slow reader uses little memory. */

/**
 * @param first is sent first; an error before it can still be answered with a status
 * @param rest one page at a time, each produced after the previous one was read; if it throws, the body is cut off
 */
export function pagedStream(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, undefined>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(first);
    },
    async pull(controller) {
      const { value: page, done } = await rest.next();
      if (done === true) controller.close();
      else controller.enqueue(page);
    },
    async cancel() {
      await rest.return(undefined);
    },
  });
}

/** @param pieces text without divided characters */
export function textStream(pieces: Generator<string, undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value: piece, done } = pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(piece));
    },
  });
}
