/** The sidecar's small parts: its token, who may enter, what is held, waiting, and what it answers by itself. */
import fc from 'fast-check';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { rangeSet } from '../../../sidecar/range-set.ts';
import { plainAddress } from '../../../shared/ip.ts';
import { acknowledgmentCodeOf } from '../../../sidecar/ack-writer.ts';
import { createConnectionLimits } from '../../../sidecar/connection-limits.ts';
import { createBackoff } from '../../../sidecar/backoff.ts';
import { readSidecarConfig } from '../../../sidecar/config.ts';
import { createFairQueue } from '../../../shared/fair-queue.ts';
import { createMemoryBudget } from '../../../sidecar/memory-budget.ts';
import { createMetrics } from '../../../sidecar/metrics.ts';
import { answerOversized } from '../../../sidecar/oversized-ack.ts';
import { createAddressRateLimit } from '../../../sidecar/address-rate-limit.ts';
import { otherProtocolOf } from '../../../sidecar/other-protocol.ts';
import { createSigner, sha256Of } from '../../../sidecar/token.ts';
import { createUnfinishedFrames } from '../../../sidecar/unfinished-frames.ts';
import {
  SIDECAR_TOKEN_AUDIENCE,
  SIDECAR_TOKEN_MAX_LIFETIME_SECONDS,
  SIDECAR_TOKEN_TYPE,
  sidecarClaims,
} from '../../../shared/mllp-contract.ts';
import { makeSecrets } from '../../stack/services/secrets.ts';
import { inputs } from '../../stack/tools/size.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

test('the token has the claims of the contract and verifies with the public key', async () => {
  const secrets = await makeSecrets();
  const { privateKey } = readSidecarConfig({
    EDGE_URL: 'https://edge.example',
    SIDECAR_PRIVATE_KEY: JSON.stringify(secrets.sidecarPrivateKey),
  });
  const sign = createSigner('ward-7', privateKey);
  const sha256 = sha256Of(bytes('MSH|'));
  const state = { version: '1.2.3', connections: 12 };
  const tokens = [sign({ address: '2001:db8::7', tlsSubject: 'CN=x' }, sha256), sign({ address: '' }, sha256, state)];
  const keys = createLocalJWKSet(JSON.parse(secrets.env.MLLP_SIDECAR_KEYS) as { keys: [] });
  const [first, second] = await Promise.all(
    tokens.map(async (token) => {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        audience: SIDECAR_TOKEN_AUDIENCE,
        typ: SIDECAR_TOKEN_TYPE,
        algorithms: ['ES256'],
      });
      expect(protectedHeader.kid).toBe(secrets.sidecarPrivateKey.kid);
      return sidecarClaims.parse(payload);
    }),
  );
  expect(first).toMatchObject({ iss: 'ward-7', src: '2001:db8::7', tls: 'CN=x', sha256 });
  expect(first!.exp - first!.iat).toBe(SIDECAR_TOKEN_MAX_LIFETIME_SECONDS);
  expect(second).not.toHaveProperty('tls');
  expect([first?.state, second?.state]).toEqual([undefined, state]);
  // The state of a newer release is ignored, and its sidecar is served.
  expect(sidecarClaims.parse({ ...second, state: { version: 7 } })).not.toHaveProperty('state.version');
  expect(second!.jti).not.toBe(first!.jti);
});

test.each([
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['192.0.2.7', '192.0.2.7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:db8::7', '2001:db8::7'],
  ['', ''],
])('the plain spelling of %j is %j', (given, plain) => {
  expect(plainAddress(given)).toBe(plain);
});

test('a set of ranges contains the addresses of each range; invalid ranges and addresses match nothing', () => {
  const set = rangeSet(['192.0.2.0/24', '2001:db8::/32', 'nonsense', '::ffff:198.51.100.0/120']);
  for (const inside of ['192.0.2.255', '2001:db8:1::1', '198.51.100.9']) expect(set.contains(inside)).toBe(true);
  for (const outside of ['192.0.3.0', '2001:db9::1', '', 'nonsense']) expect(set.contains(outside)).toBe(false);
  expect(rangeSet(['*']).contains('203.0.113.1')).toBe(true);
  expect(rangeSet([]).contains('203.0.113.1')).toBe(false);
});

describe('the places of connections', () => {
  /** @returns the addresses that entered, the connections that ended, and the reasons */
  const limitsOf = (maxConnections: number, maxConnectionsPerAddress: number, firstFrameTimeoutMs = 60_000) => {
    const ended: string[] = [];
    const limits = createConnectionLimits(
      { maxConnections, maxConnectionsPerAddress, firstFrameTimeoutMs },
      createMetrics(),
    );
    const tryTo = (address: string | undefined, name = address ?? '') =>
      limits.enter(address, (reason) => ended.push(`${name} ${reason}`));
    const enter = (address: string | undefined, name?: string) => {
      const place = tryTo(address, name);
      if (typeof place === 'string') throw new Error(place);
      onTestFinished(() => place.leave());
      return place;
    };
    return { limits, ended, tryTo, enter };
  };

  test('are counted in total and by source, with an IPv6 /64 as one source, and are released once', () => {
    const { limits, tryTo, enter } = limitsOf(3, 2);
    const first = enter('2001:db8::1');
    enter('2001:db8::2');
    expect(tryTo('2001:db8::3')).toBe('too-many-connections-of-address');
    enter('2001:db8:0:1::1');
    expect(limits.open()).toBe(3);
    first.leave();
    first.leave();
    expect(limits.open()).toBe(2);
    enter('2001:db8::3');
  });

  test('at the limit closes a connection of the largest source: first a silent connection, then the longest idle', () => {
    const { limits, ended, tryTo, enter } = limitsOf(8, 8);
    const places = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((name) => enter('192.0.2.1', name));
    for (const at of [0, 1, 2, 3, 0]) places[at]?.hasSent();
    enter('192.0.2.2', 'b1');
    enter('192.0.2.2', 'b2');
    // The large source does not block others, and gets no more.
    expect(tryTo('192.0.2.1')).toBe('too-many-connections');
    enter('192.0.2.3', 'c1');
    places[5]?.setBusy(true);
    enter('192.0.2.4', 'd1');
    enter('192.0.2.5', 'e1');
    expect(ended).toEqual(['a5 gave-way', 'a2 gave-way', 'a3 gave-way']);
    expect(limits.open()).toBe(8);
    // Three and two are left: a source with one less than the largest gets none.
    expect(tryTo('192.0.2.2')).toBe('too-many-connections');
    enter('192.0.2.6', 'f1');
    expect(ended.at(-1)).toBe('a4 gave-way');
    expect(tryTo('192.0.2.7')).not.toBeTypeOf('string');
    expect(ended.at(-1)).toBe('a1 gave-way');
  });

  test('busy connections are never closed for another', () => {
    const { ended, tryTo, enter } = limitsOf(3, 3);
    for (const name of ['a1', 'a2', 'a3']) enter('192.0.2.1', name).setBusy(true);
    expect(tryTo('192.0.2.2')).toBe('too-many-connections');
    expect(ended).toEqual([]);
  });

  test('a sender behind a balancer counts for its address as soon as it is known, within the limit', () => {
    const { tryTo, enter } = limitsOf(10, 2);
    const places = [1, 2, 3].map(() => enter(undefined));
    expect(places.map((place) => place.setAddress('192.0.2.1'))).toEqual([
      undefined,
      undefined,
      'too-many-connections-of-address',
    ]);
    expect(tryTo('192.0.2.1')).toBe('too-many-connections-of-address');
  });

  test('a connection without a message keeps its place only while enough places are free', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { ended, enter } = limitsOf(10, 6, 60_000);
    const early = enter('192.0.2.1', 'early');
    enter('192.0.2.1', 'silent');
    vi.advanceTimersByTime(600_000);
    expect(ended).toEqual([]);
    for (const name of ['p1', 'p2']) enter('192.0.2.1', name).hasSent();
    vi.advanceTimersByTime(59_000);
    early.hasSent();
    vi.advanceTimersByTime(61_000);
    expect(ended).toEqual(['silent no-first-frame']);
    for (const name of ['q1', 'q2', 'q3']) enter('192.0.2.2', name);
    vi.advanceTimersByTime(120_000);
    expect(ended).toEqual(['silent no-first-frame', 'q1 no-first-frame']);
  });
});

test('held bytes exceed the limit if all addresses together or one address hold too many', () => {
  const held = createMemoryBudget({ maxHeldBytes: 100, maxHeldBytesPerAddress: 60 }, createMetrics());
  const [first, second, other] = [held.open('a'), held.open('a'), held.open('b')];
  first.set(50);
  expect([first.isOver(), other.isOver()]).toEqual([false, false]);
  second.set(20);
  expect([first.isOver(), other.isOver()]).toEqual([true, false]);
  other.set(40);
  expect(other.isOver()).toBe(true);
  second.close();
  expect([first.isOver(), other.isOver()]).toEqual([false, false]);
});

test('the queue runs a limited number, each source in order, and a failure frees its place', async () => {
  const queue = createFairQueue(8);
  const { signal } = new AbortController();
  const order: number[] = [];
  let underWay = 0;
  const work = (n: number) => async (): Promise<void> => {
    underWay += 1;
    // A quarter is kept for the next source.
    expect(underWay).toBeLessThanOrEqual(6);
    order.push(n);
    await Promise.resolve();
    underWay -= 1;
    if (n % 3 === 0) throw new Error('failed');
  };
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => queue.run('a', () => signal, work(n))));
  expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(7);
});

test('releases the place of a request that gave up waiting', async () => {
  const queue = createFairQueue(4);
  const [gone, { signal }] = [new AbortController(), new AbortController()];
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, until: AbortSignal) =>
    queue.run(
      name.charAt(0),
      () => until,
      () => {
        begun.push(name);
        return new Promise<void>((end) => void ends.set(name, end));
      },
    );
  const running = ['a1', 'b1', 'a2'].map((name) => begin(name, signal));
  const waits = begin('a3', gone.signal);
  void begin('b2', signal);
  await Promise.resolve();
  ends.get('a2')?.();
  await running[2];
  expect(begun).toEqual(['a1', 'b1', 'a2']);
  gone.abort();
  expect(await waits).toBeUndefined();
  expect(await begin('a4', gone.signal)).toBeUndefined();
  expect(begun).toEqual(['a1', 'b1', 'a2', 'b2']);
});

describe('any work of any sources', () => {
  // More come than go, so that several of few wait at one time.
  const source = fc.constantFrom('a', 'a', 'b', 'b', 'c');
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('come' as const), source }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), at: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), at: fc.nat() }) },
  );

  test('no source exceeds its quarter while others wait, and no source waits for a free place', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(step, { minLength: 30, maxLength: 60 }),
        async (width, steps) => {
          const queue = createFairQueue(width);
          const share = Math.max(1, Math.floor(width / 4));
          const running: { source: string; end: () => void }[] = [];
          let waiting: { source: string; gone: AbortController }[] = [];
          const broken: string[] = [];
          const held = (source: string) => running.filter((each) => each.source === source).length;
          const others = (source: string) => waiting.some((each) => each.source !== source);
          for (const each of steps) {
            if (each.kind === 'come') {
              const entry = { source: each.source, gone: new AbortController() };
              waiting.push(entry);
              void queue.run(
                each.source,
                () => entry.gone.signal,
                () => {
                  waiting = waiting.filter((other) => other !== entry);
                  // A rejection here would be the work's own failure, which this test ignores.
                  if (running.length >= width) broken.push('more than there are places');
                  if (others(each.source) && held(each.source) >= share) broken.push('more than a quarter');
                  return new Promise<void>((end) => void running.push({ source: each.source, end }));
                },
              );
            } else if (each.kind === 'end') {
              running.splice(each.at % Math.max(running.length, 1), 1)[0]?.end();
            } else {
              const [left] = waiting.splice(each.at % Math.max(waiting.length, 1), 1);
              left?.gone.abort();
            }
            // Settled promises run their callbacks a few microtasks later.
            for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
            for (const { source } of running.length < width ? waiting : []) {
              expect(held(source)).toBeGreaterThanOrEqual(share);
            }
          }
          while (running.length > 0) {
            running.pop()?.end();
            for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
          }
          expect({ waiting, broken }).toEqual({ waiting: [], broken: [] });
        },
      ),
      { numRuns: inputs(300) },
    );
  });
});

test('with too many incomplete frames of one source drops its oldest, and none of another source', () => {
  const frames = createUnfinishedFrames(2);
  const dropped: string[] = [];
  const open = (source: string, name: string) => frames.open(source, () => void dropped.push(name));
  const [first, second, third, other] = [open('a', '1'), open('a', '2'), open('a', '3'), open('b', '4')];
  for (const each of [first, second, first, other]) each.watch(true);
  expect(dropped).toEqual([]);
  third.watch(true);
  expect(dropped).toEqual(['1']);
  second.watch(false);
  first.watch(true);
  expect(dropped).toEqual(['1']);
  second.watch(true);
  expect(dropped).toEqual(['1', '3']);
});

test('waits grow, never exceed the deadline, and end when they are aborted', async () => {
  const backoff = createBackoff({ firstMs: 20, factor: 2, maxMs: 1000 });
  const [deadline, { signal }] = [performance.now() + 2_000, new AbortController()];
  let waits = 0;
  // 20, 40, 80 … 1000 at most, each shortened by up to a half; a machine that is slow waits less often, never more.
  while (await backoff.wait(deadline, signal)) waits += 1;
  expect(waits).toBeGreaterThanOrEqual(1);
  expect(waits).toBeLessThanOrEqual(9);
  expect(performance.now()).toBeGreaterThan(deadline - 10);
  const gone = new AbortController();
  const wait = createBackoff({ firstMs: 60_000, factor: 2, maxMs: 60_000 }).wait(Number.POSITIVE_INFINITY, gone.signal);
  gone.abort();
  expect(await wait).toBe(false);
});

test('an address can send the bytes of one second at once and is then limited to its rate; others do not wait', async () => {
  const metrics = createMetrics();
  const pace = createAddressRateLimit(100, metrics);
  const { signal } = new AbortController();
  // From before the first of them: a machine that is slow in between gives the address time to earn some of the rest.
  const started = performance.now();
  for (let n = 0; n < 100; n += 1) expect(pace('a', signal)).toBeUndefined();
  await Promise.all(Array.from({ length: 20 }, async () => pace('a', signal)));
  expect(performance.now() - started).toBeGreaterThan(150);
  expect(pace('b', signal)).toBeUndefined();
  const gone = new AbortController();
  const slow = createAddressRateLimit(0.01, metrics);
  const long = Promise.all(Array.from({ length: 10 }, async () => slow('a', gone.signal)));
  gone.abort();
  // A quarter of an hour's worth: who did not end with the signal runs into the time-out.
  await long;
});

describe('the answer of the sidecar itself', () => {
  const answer = (text: string): string | undefined => {
    const ack = answerOversized(bytes(text), 1000);
    return ack && Buffer.from(ack).toString('latin1');
  };

  test('AR with ERR, in the sender’s delimiters, its control id echoed; a new MSH-10 with at most 20 characters', () => {
    const ack = answer('MSH$%~\\&$APP$FAC$GW$GW$2026$$ADT%A04$C-1$P$2.5\rPID$');
    expect(ack).toMatch(/^MSH\$%~\\&\$GW\$GW\$APP\$FAC\$/);
    expect(ack).toMatch(/\rMSA\$AR\$C-1\$/);
    expect(ack).toMatch(/\rERR\$\$\$207%[^$]*\$E\$too-large/);
    const [own, another] = [ack, answer('MSH$%~\\&$APP')].map((text) => text?.split('$')[9] ?? '');
    expect(own).toMatch(/^[A-Za-z0-9]{1,20}$/);
    expect(own).not.toBe(another);
  });

  test('also without a readable MSH', () => {
    for (const text of ['', 'x'.repeat(4096), '\0\0\0']) expect(answer(text)).toMatch(/\rMSA\|AR\|/);
  });

  test('in enhanced mode with CR, or without an answer', () => {
    expect(answer('MSH|^~\\&|A|B|C|D|||ADT^A04|1|P|2.5.1|||AL|NE\r')).toMatch(/\rMSA\|CR\|1/);
    expect(answer('MSH|^~\\&|A|B|C|D|||ADT^A04|1|P|2.5.1|||NE|NE\r')).toBeUndefined();
  });
});

test.each([
  ['MSH|^~\\&|\rMSA|AA|1\r', 'AA'],
  ['MSH$%~\\&$\rMSA$CR$1\r', 'CR'],
  ['MSH|^~\\&|\rMSA|XX|1\r', 'other'],
  ['M\0S\0H\0', 'other'],
  ['', 'other'],
])('MSA-1 of %j is %s', (ack, code) => {
  expect(acknowledgmentCodeOf(bytes(ack))).toBe(code);
});

test.each([
  ['\u000bMSH|^~\\&|', undefined],
  ['', undefined],
  ['\r\n', undefined],
  ['GET', undefined],
  ['GET /', 'http'],
  ['PROXY TCP4', 'proxy-header-unexpected'],
  ['\r\n\r\n\0\r\nQUIT\n', 'proxy-header-unexpected'],
  ['\u0016\u0003\u0001', 'tls-on-plain-port'],
  ['SSH-2.0-OpenSSH', undefined],
] as const)('%j is %s', (start, reason) => {
  expect(otherProtocolOf(start)).toBe(reason);
});
