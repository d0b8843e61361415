/** Bodies that are produced while they are read, so that a slow reader uses little memory. */
import type { Deps, Kept } from '../deps.ts';
import { SENDING_MS } from './memory.ts';

/**
 * @param first is sent first; an error before it can still be answered with a status
 * @param rest one page at a time, each produced after the previous one was read; if it throws, the body is cut off
 */
export function pagedStream(
  { measured, share }: Pick<Deps, 'measured' | 'share'>,
  first: string,
  rest: AsyncIterator<string, undefined>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let pieces = piecesOf(first);
  let kept = share().keep(first.length);
  // The request is answered, so each page is measured separately.
  const next = () =>
    measured(async () => {
      const { value: page, done } = await rest.next();
      return done === true ? undefined : { pieces: piecesOf(page), kept: share().keep(page.length) };
    });
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { value: piece, done } = pieces.next();
        if (done !== true) {
          controller.enqueue(encoder.encode(piece));
          return;
        }
        kept?.release();
        pieces = piecesOf('');
        const { result } = await next();
        if (result === undefined) {
          controller.close();
          return;
        }
        ({ pieces, kept } = result);
      }
    },
    async cancel() {
      kept?.release();
      await rest.return?.();
    },
  });
}

/**
 * @param pieces text without divided characters
 * @param kept the memory of the text, released when the client has read it or gives up; it has a minute
 */
export function textStream(pieces: Generator<string, undefined>, kept?: Kept): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    clearTimeout(timer);
    pieces.return(undefined);
    kept?.release();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (kept === undefined) return;
      timer = setTimeout(() => {
        end();
        controller.error(new Error('the client read the answer too slowly'));
      }, SENDING_MS);
    },
    pull(controller) {
      const { value: piece, done } = pieces.next();
      if (done === true) {
        end();
        controller.close();
      } else controller.enqueue(encoder.encode(piece));
    },
    cancel: end,
  });
}

const PIECE_LENGTH = 256 * 1024;

/** The pieces of a long text for `textStream`. */
export function* piecesOf(text: string): Generator<string, undefined> {
  for (let at = 0; at < text.length;) {
    const isDivided = /[\uD800-\uDBFF]/.test(text.charAt(at + PIECE_LENGTH - 1));
    const end = at + PIECE_LENGTH - (isDivided ? 1 : 0);
    yield text.slice(at, end);
    at = end;
  }
}
