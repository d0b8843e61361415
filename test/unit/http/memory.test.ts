/** Few large requests at once: which request waits for which, for how long, and what is released. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createMemory, needOf } from '../../../edge/http/memory.ts';

const MIB = 1024 * 1024;
/** 76 of it are for work, of which one request gets 57, and 34.5 for bodies. */
const HELD = (76 / 44) * 64 * MIB;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const memory = () => createMemory(HELD, Date.now);
/** How a wait ended. */
const outcomeOf = (wait: Promise<void>) => {
  const outcome: { ended?: 'started' | 'refused' } = {};
  void wait.then(
    () => (outcome.ended = 'started'),
    () => (outcome.ended = 'refused'),
  );
  return outcome;
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** A body that is read until `end`. */
const arriving = (share: ReturnType<ReturnType<typeof memory>>, source: string, bytes: number) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const started: { yes?: true } = {};
  const done = share.read(source, async (expect) => {
    await expect(bytes);
    started.yes = true;
    await promise;
  });
  return { started, end: resolve, done };
};

test('a small request never waits beside the largest ones', async () => {
  const shares = memory();
  await shares().reserve('a', 1000 * MIB);
  const stuck = arriving(shares(), 'a', 10 * MIB);
  const other = arriving(shares(), 'b', 10 * MIB);
  await pass(0);
  await shares().reserve('a', 512 * 1024);
  expect(await shares().read('a', async (expected) => expected(64 * 1024).then(() => 'read'))).toBe('read');
  stuck.end();
  other.end();
});

test('a large request waits for another one, and starts when that is answered', async () => {
  const shares = memory();
  const first = shares();
  await first.reserve('a', 57 * MIB);
  const second = outcomeOf(shares().reserve('b', 20 * MIB));
  await pass(1000);
  expect(second.ended).toBeUndefined();
  first.end();
  await pass(50);
  expect(second.ended).toBe('started');
});

test('few answers wait, because each occupies a connection that the request with the memory may need', async () => {
  const shares = createMemory(HELD, Date.now, 16);
  const first = shares();
  await first.reserveAnswer('a', 8 * MIB);
  const ofA = Array.from({ length: 6 }, () => outcomeOf(shares().reserveAnswer('a', 8 * MIB)));
  const ofOthers = ['b', 'b', 'c', 'c', 'c'].map((source) => outcomeOf(shares().reserveAnswer(source, 8 * MIB)));
  await pass(0);
  // Four connections of a source, and eight of all.
  expect(ofA.map(({ ended }) => ended)).toEqual([...Array<undefined>(4), 'refused', 'refused']);
  expect(ofOthers.map(({ ended }) => ended)).toEqual([...Array<undefined>(4), 'refused']);
  first.end();
  await pass(50);
  expect(ofA[0]?.ended).toBe('started');
});

test('no answer waits with one connection', async () => {
  const shares = createMemory(HELD, Date.now, 1);
  await shares().reserveAnswer('a', 8 * MIB);
  const second = outcomeOf(shares().reserveAnswer('b', 8 * MIB));
  await pass(0);
  expect(second.ended).toBe('refused');
});

test('a request waits 10 s in all, for its body and for its work', async () => {
  const shares = memory();
  await shares().reserve('a', 57 * MIB);
  const bodies = arriving(shares(), 'b', 10 * MIB);
  await pass(0);
  const share = shares();
  const outcome = outcomeOf(
    share.read('b', async (expected) => {
      await expected(MIB);
      await share.reserve('b', 30 * MIB);
    }),
  );
  await pass(6000);
  bodies.end();
  await pass(3900);
  expect(outcome.ended).toBeUndefined();
  await pass(200);
  expect(outcome.ended).toBe('refused');
});

test('the answer after a long wait has Retry-After and names the setting', async () => {
  const shares = memory();
  await shares().reserve('a', 57 * MIB);
  const refused = shares().reserve('b', 57 * MIB);
  const checked = expect(refused).rejects.toMatchObject({
    kind: 'unavailable',
    headers: { 'Retry-After': '5' },
    message: expect.stringContaining('MAX_HELD_BYTES'),
  });
  await pass(10_100);
  await checked;
});

test('no more than 32 requests of a source wait', async () => {
  const shares = memory();
  await shares().reserve('a', 57 * MIB);
  const waiting = Array.from({ length: 33 }, () => outcomeOf(shares().reserve('b', 57 * MIB)));
  const other = outcomeOf(shares().reserve('c', 57 * MIB));
  await pass(0);
  expect(waiting.filter(({ ended }) => ended === 'refused')).toHaveLength(1);
  expect(other.ended).toBeUndefined();
  await pass(11_000);
});

test('the source that holds least is next, before earlier requests', async () => {
  const shares = memory();
  const [big, small] = [shares(), shares()];
  await big.reserve('busy', 50 * MIB);
  await small.reserve('busy', 20 * MIB);
  const again = outcomeOf(shares().reserve('busy', 40 * MIB));
  await pass(100);
  const rare = outcomeOf(shares().reserve('rare', 40 * MIB));
  await pass(100);
  big.end();
  await pass(50);
  expect([again.ended, rare.ended]).toEqual([undefined, 'started']);
});

test('a request that needs most of the memory starts before a stream of smaller ones', async () => {
  const shares = memory();
  const held = shares();
  await held.reserve('a', 30 * MIB);
  const large = outcomeOf(shares().reserve('b', 90 * MIB));
  await pass(2100);
  const later = outcomeOf(shares().reserve('c', 20 * MIB));
  await pass(100);
  expect(later.ended).toBeUndefined();
  held.end();
  await pass(50);
  expect(large.ended).toBe('started');
});

test('bodies of one source that do not arrive leave room for those of others', async () => {
  const shares = memory();
  const bodies = Array.from({ length: 8 }, () => arriving(shares(), 'slow', 10 * MIB));
  for (const { done } of bodies) done.catch(() => undefined);
  await pass(0);
  expect(bodies.filter(({ started }) => started.yes)).toHaveLength(1);
  const other = arriving(shares(), 'other', 10 * MIB);
  await pass(50);
  expect(other.started.yes).toBe(true);
  for (const { end } of [...bodies, other]) end();
  await pass(11_000);
});

test('a client that does not read its answers delays its own site only', async () => {
  const shares = memory();
  for (let at = 0; at < 3; at += 1) {
    const share = shares();
    await share.reserve('slow', 20 * MIB);
    share.keep(4 * MIB);
    share.end();
  }
  const own = outcomeOf(shares().reserve('slow', MIB));
  const scan = outcomeOf(shares().reserve('other', 90 * MIB));
  await pass(100);
  expect([own.ended, scan.ended]).toEqual([undefined, 'started']);
  await pass(11_000);
});

test('the memory of an answer is held until the client has read it', async () => {
  const shares = memory();
  const share = shares();
  await share.reserve('a', 57 * MIB);
  const kept = share.keep(57 * MIB);
  share.end();
  const other = outcomeOf(shares().reserve('b', 30 * MIB));
  await pass(100);
  expect(other.ended).toBeUndefined();
  kept?.release();
  await pass(50);
  expect(other.ended).toBe('started');
});

test('an error releases the memory of a body, and a request whose end is unknown holds nothing after a minute', async () => {
  const shares = memory();
  const failed = shares().read('a', async (expected) => {
    await expected(10 * MIB);
    throw new Error('the client has gone');
  });
  await expect(failed).rejects.toThrow('the client has gone');
  const body = arriving(shares(), 'a', 10 * MIB);
  await pass(0);
  expect(body.started.yes).toBe(true);
  body.end();

  await shares().reserve('a', 57 * MIB);
  await pass(60_001);
  await shares().reserve('b', 57 * MIB);
});

test('the answer of a write does not wait, but counts', async () => {
  const shares = memory();
  await shares().reserve('a', 57 * MIB);
  shares().addAnswer('b', 4 * MIB);
  const other = outcomeOf(shares().reserve('c', MIB));
  await pass(100);
  expect(other.ended).toBeUndefined();
  await pass(11_000);
});

test('a request with enough for its body needs no more for a smaller answer', async () => {
  const shares = memory();
  const share = shares();
  await share.reserve('a', 57 * MIB);
  await share.reserveAnswer('a', 2 * MIB);
  share.end();
  await shares().reserve('b', 57 * MIB);
});

test('separators need more than text', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  expect(needOf('json', bytes(','.repeat(1000)))).toBeGreaterThan(20 * needOf('json', bytes('a'.repeat(1000))));
  expect(needOf('hl7', bytes('OBX|1\r'.repeat(100)))).toBeGreaterThan(50 * needOf('hl7', bytes('a'.repeat(600))));
});
