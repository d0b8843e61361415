/** Compressed streams: what has been produced can be read at once, and a client that leaves ends the source. */
import { constants, gunzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { gzip } from '../../../edge/platform/gzip.ts';

const utf8 = new TextEncoder();

test('a chunk can be inflated before the next chunk exists', async () => {
  const next = Promise.withResolvers<string>();
  let chunks = 0;
  const source = new ReadableStream<Uint8Array>({
    async pull(controller) {
      chunks += 1;
      if (chunks === 3) controller.close();
      else controller.enqueue(utf8.encode(chunks === 1 ? 'first page\n' : await next.promise));
    },
  });
  const reader = gzip.compressStream(source).getReader();
  const received: Uint8Array[] = [];
  const content = () => gunzipSync(Buffer.concat(received), { finishFlush: constants.Z_SYNC_FLUSH }).toString();
  const receive = async () => {
    const { value } = await reader.read();
    if (value !== undefined) received.push(value);
    return value !== undefined;
  };
  await receive();
  await receive();
  expect(content()).toBe('first page\n');
  next.resolve('second page\n');
  while (await receive());
  expect(gunzipSync(Buffer.concat(received)).toString()).toBe('first page\nsecond page\n');
});

test('a source that fails breaks the stream off before its trailer', async () => {
  const failing = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('the export was cancelled')),
  });
  await expect(new Response(gzip.compressStream(failing)).bytes()).rejects.toThrow('the export was cancelled');
});

test('a client that leaves cancels the source', async () => {
  let cancelled: unknown;
  const source = new ReadableStream<Uint8Array>({ cancel: (reason) => void (cancelled = reason) });
  await gzip.compressStream(source).cancel('left');
  expect(cancelled).toBe('left');
});
