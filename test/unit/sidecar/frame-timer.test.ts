/** The time of a frame, on a real socket: after a pause, the process first reads what has arrived. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { createFrameTimer } from '../../../sidecar/frame-timer.ts';

const TIME_MS = 50;

/** Blocks the thread for longer than a frame may take. */
const pause = (): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * TIME_MS);

async function socketPair(): Promise<readonly [sender: Socket, receiver: Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sender = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [receiver] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    sender.destroy();
    server.close();
  });
  return [sender, receiver];
}

test.each([
  ['does not expire if the end of the frame arrived during a pause of the process', ['begin', 'end']],
  ['expires if only more of the frame arrived during a pause of the process', ['begin', 'more', 'expired']],
])('%s', async (_, expected) => {
  const [sender, receiver] = await socketPair();
  const events: string[] = [];
  const timer = createFrameTimer(TIME_MS, () => void events.push('expired'));
  receiver.on('data', (chunk) => {
    events.push(String(chunk));
    timer.watch(String(chunk) !== 'end');
  });
  for (const part of expected.slice(0, 2)) {
    sender.write(part);
    if (part === 'begin') await once(receiver, 'data');
  }
  pause();
  await once(receiver, 'data');
  // The frame's time is over by now: it has expired after this turn, or does not.
  await new Promise((resolve) => setTimeout(resolve, 0));
  await new Promise((resolve) => setImmediate(resolve));
  expect(events).toEqual(expected);
});
