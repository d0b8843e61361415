/** Bodies that arrive slowly, end early or are too long: the error, and the end of the wait. */
import { expect, test } from 'vitest';

import { readBody } from '../../../edge/http/body.ts';

const free = async () => undefined;
const bytes = (text: string) => new TextEncoder().encode(text);

/** @param source the parts of the body, and how it ends */
function request(source: UnderlyingDefaultSource<Uint8Array>): Request {
  const body = new ReadableStream<Uint8Array>(source);
  const init = { method: 'POST', body, duplex: 'half' } satisfies RequestInit & { duplex: 'half' };
  return new Request('https://gateway.example/', init);
}

test('reads a body that arrives in parts', async () => {
  const complete = request({
    start(controller) {
      controller.enqueue(bytes('a'));
      controller.enqueue(bytes('b'));
      controller.close();
    },
  });
  expect(await readBody(complete, 2, free, 1_000)).toEqual(bytes('ab'));
});

test.each(['bytes', undefined] as const)('reads a large body of a stream of type %s in order', async (type) => {
  const content = Uint8Array.from({ length: 300_000 }, (_, at) => at % 251);
  const parts = [content.slice(0, 100_001), content.slice(100_001, 100_002), content.slice(100_002)];
  const pull = (controller: ReadableByteStreamController | ReadableStreamDefaultController<Uint8Array>): void => {
    const part = parts.shift();
    if (part !== undefined) return controller.enqueue(part);
    controller.close();
    // A pending read of bytes ends only with its answer.
    if ('byobRequest' in controller) controller.byobRequest?.respond(0);
  };
  const body = type === 'bytes' ? new ReadableStream({ type, pull }) : new ReadableStream<Uint8Array>({ pull });
  const headers = { 'content-length': String(content.length) };
  const init = { method: 'POST', body, headers, duplex: 'half' } satisfies RequestInit & { duplex: 'half' };
  expect(await readBody(new Request('https://gateway.example/', init), 300_000, free, 1_000)).toEqual(content);
});

test('cancels a body that stops arriving', async () => {
  let isCancelled = false;
  const slow = request({
    start: (controller) => controller.enqueue(bytes('a')),
    cancel: () => {
      isCancelled = true;
    },
  });
  await expect(readBody(slow, 100, free, 20)).rejects.toMatchObject({
    kind: 'timeout',
    headers: { Connection: 'close' },
  });
  expect(isCancelled).toBe(true);
});

test('cancels a body that arrives byte by byte', async () => {
  let isCancelled = false;
  const drip = request({
    pull: async (controller) => {
      await new Promise((next) => setTimeout(next, 2));
      if (!isCancelled) controller.enqueue(bytes('a'));
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  await expect(readBody(drip, 1_000_000, free, 50)).rejects.toMatchObject({ kind: 'timeout' });
});

test('a body whose sender disconnects is not a fault of the gateway', async () => {
  const broken = request({ pull: (controller) => controller.error(new TypeError('connection lost')) });
  await expect(readBody(broken, 100, free, 1_000)).rejects.toMatchObject({
    kind: 'malformed',
    message: 'the body ended before its declared length',
  });
});
