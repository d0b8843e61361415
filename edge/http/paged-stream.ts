/** Bodies that are made while they are read: what a slow reader has not taken yet is not made. */

/**
 * @param first is sent first; whatever is wrong until it is there can still be answered
 * @param rest one page at a time, made when the one before was taken; where it throws, the body breaks off
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

/** @param pieces text, whose characters are whole in each */
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
