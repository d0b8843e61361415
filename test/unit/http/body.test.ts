/** A body that comes slowly, breaks off or is too long: what is said of it, and that it is waited for no longer. */
import { expect, test } from 'vitest';

import { readBody } from '../../../edge/http/body.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** @param source what comes, and how it ends */
function request(source: UnderlyingDefaultSource<Uint8Array>): Request {
  const body = new ReadableStream<Uint8Array>(source);
  const init = { method: 'POST', body, duplex: 'half' } satisfies RequestInit & { duplex: 'half' };
  return new Request('https://gateway.example/', init);
}

test('one that arrives is read', async () => {
  const whole = request({
    start(controller) {
      controller.enqueue(bytes('a'));
      controller.enqueue(bytes('b'));
      controller.close();
    },
  });
  expect(await readBody(whole, 2, 1_000)).toEqual(bytes('ab'));
});

test('one that stops coming is given up, and told to stop', async () => {
  let isCancelled = false;
  const slow = request({
    start: (controller) => controller.enqueue(bytes('a')),
    cancel: () => {
      isCancelled = true;
    },
  });
  await expect(readBody(slow, 100, 20)).rejects.toMatchObject({ kind: 'timeout', headers: { Connection: 'close' } });
  expect(isCancelled).toBe(true);
});

test('one that comes a byte at a time is given up all the same', async () => {
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
  await expect(readBody(drip, 1_000_000, 50)).rejects.toMatchObject({ kind: 'timeout' });
});

test('one whose sender leaves is the sender’s affair', async () => {
  const broken = request({ pull: (controller) => controller.error(new TypeError('connection lost')) });
  await expect(readBody(broken, 100, 1_000)).rejects.toMatchObject({
    kind: 'malformed',
    message: 'the body ended before its declared length',
  });
});
