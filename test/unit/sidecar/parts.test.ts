/** The sidecar's small parts: its token, who may enter, what is held, waiting, and what it answers by itself. */
import { createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';

import { rangeSet } from '../../../sidecar/range-set.ts';
import { plainAddress } from '../../../shared/ip.ts';
import { acknowledgmentCodeOf } from '../../../sidecar/ack-writer.ts';
import { createConnectionLimits } from '../../../sidecar/connection-limits.ts';
import { createBackoff } from '../../../sidecar/backoff.ts';
import { readSidecarConfig } from '../../../sidecar/config.ts';
import { createConcurrencyLimit } from '../../../sidecar/concurrency-limit.ts';
import { createMemoryBudget } from '../../../sidecar/memory-budget.ts';
import { createMetrics } from '../../../sidecar/metrics.ts';
import { answerOversized } from '../../../sidecar/oversized-ack.ts';
import { createAddressRateLimit } from '../../../sidecar/address-rate-limit.ts';
import { otherProtocolOf } from '../../../sidecar/other-protocol.ts';
import { createSigner, sha256Of } from '../../../sidecar/token.ts';
import {
  SIDECAR_TOKEN_AUDIENCE,
  SIDECAR_TOKEN_MAX_LIFETIME_SECONDS,
  SIDECAR_TOKEN_TYPE,
  sidecarClaims,
} from '../../../shared/mllp-contract.ts';
import { makeSecrets } from '../../stack/services/secrets.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

test('the token is what the contract says, verified with the public half', async () => {
  const secrets = await makeSecrets();
  const { privateKey } = readSidecarConfig({
    EDGE_URL: 'https://edge.example',
    SIDECAR_PRIVATE_KEY: JSON.stringify(secrets.sidecarPrivateKey),
  });
  const sign = createSigner('ward-7', privateKey);
  const sha256 = sha256Of(bytes('MSH|'));
  const tokens = [sign({ address: '2001:db8::7', tlsSubject: 'CN=x' }, sha256), sign({ address: '' }, sha256)];
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

test('a set of ranges holds what any of them holds; nonsense on either side holds nothing', () => {
  const set = rangeSet(['192.0.2.0/24', '2001:db8::/32', 'nonsense', '::ffff:198.51.100.0/120']);
  for (const inside of ['192.0.2.255', '2001:db8:1::1', '198.51.100.9']) expect(set.holds(inside)).toBe(true);
  for (const outside of ['192.0.3.0', '2001:db9::1', '', 'nonsense']) expect(set.holds(outside)).toBe(false);
  expect(rangeSet(['*']).holds('203.0.113.1')).toBe(true);
  expect(rangeSet([]).holds('203.0.113.1')).toBe(false);
});

test('places are counted in all and by address, and are given back once', () => {
  const admission = createConnectionLimits({ maxConnections: 2, maxConnectionsPerAddress: 1 }, createMetrics());
  const leave = admission.enter();
  admission.enter();
  expect(admission.enter()).toBe('too-many-connections');
  if (typeof leave === 'string') throw new Error(leave);
  leave();
  leave();
  expect(admission.enter()).toBeTypeOf('function');
  expect(admission.enter()).toBe('too-many-connections');
  const leaveAs = admission.enterAs('a');
  expect(admission.enterAs('a')).toBe('too-many-connections-of-address');
  expect(admission.enterAs('b')).toBeTypeOf('function');
  if (typeof leaveAs === 'string') throw new Error(leaveAs);
  leaveAs();
  expect(admission.enterAs('a')).toBeTypeOf('function');
});

test('held bytes are over when everybody together, or one address, holds more than it may', () => {
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

test('the gate lets in so many, in the order they came, and a failure frees its place', async () => {
  const gate = createConcurrencyLimit(2);
  const order: number[] = [];
  let underWay = 0;
  const work = (n: number) => async (): Promise<void> => {
    underWay += 1;
    expect(underWay).toBeLessThanOrEqual(2);
    order.push(n);
    await Promise.resolve();
    underWay -= 1;
    if (n % 3 === 0) throw new Error('failed');
  };
  const results = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => gate.run(work(n))));
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(4);
});

test('waits grow, never pass the deadline, and end when nobody waits any more', async () => {
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

test('an address may send a second’s worth at once and then keeps its pace; others are not held up', async () => {
  const metrics = createMetrics();
  const pace = createAddressRateLimit(100, metrics);
  const { signal } = new AbortController();
  for (let n = 0; n < 100; n += 1) expect(pace('a', signal)).toBeUndefined();
  const started = performance.now();
  await Promise.all(Array.from({ length: 20 }, async () => pace('a', signal)));
  expect(performance.now() - started).toBeGreaterThan(150);
  expect(pace('b', signal)).toBeUndefined();
  const gone = new AbortController();
  const long = Promise.all(Array.from({ length: 500 }, async () => pace('a', gone.signal)));
  gone.abort();
  // Five seconds' worth: who did not end with the signal runs into the time-out.
  await long;
});

describe('what the sidecar answers by itself', () => {
  const answer = (text: string): string | undefined => {
    const ack = answerOversized(bytes(text), 1000);
    return ack && Buffer.from(ack).toString('latin1');
  };

  test('AR with ERR, in the sender’s delimiters, its control id echoed; MSH-10 of its own, 20 characters at most', () => {
    const ack = answer('MSH$%~\\&$APP$FAC$GW$GW$2026$$ADT%A04$C-1$P$2.5\rPID$');
    expect(ack).toMatch(/^MSH\$%~\\&\$GW\$GW\$APP\$FAC\$/);
    expect(ack).toMatch(/\rMSA\$AR\$C-1\$/);
    expect(ack).toMatch(/\rERR\$\$\$207%[^$]*\$E\$too-large/);
    const [own, another] = [ack, answer('MSH$%~\\&$APP')].map((text) => text?.split('$')[9] ?? '');
    expect(own).toMatch(/^[A-Za-z0-9]{1,20}$/);
    expect(own).not.toBe(another);
  });

  test('also to what has no MSH that can be read', () => {
    for (const text of ['', 'x'.repeat(4096), '\0\0\0']) expect(answer(text)).toMatch(/\rMSA\|AR\|/);
  });

  test('as enhanced mode asks: CR, or nothing', () => {
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
