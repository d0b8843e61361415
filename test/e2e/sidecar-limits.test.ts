/** The limits of the sidecar: memory, time, connections, strangers. A working sender notices none of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { acknowledge, controlIdOf, message } from '../stack/tools/edge-double.ts';
import { frame, msaOf, type MllpPeer } from '../stack/tools/mllp-peer.ts';
import { setUpSidecar } from '../stack/tools/sidecar-setup.ts';
import { sidecarMetrics } from '../stack/tools/sidecar-metrics.ts';
import { until } from '../stack/services/until.ts';

const MIB = 1024 * 1024;

test('rejects a frame over the limit with AR, or CR if only that was requested, and reads the next frame', async () => {
  const { edge, connect } = await setUpSidecar({ MLLP_MAX_FRAME_BYTES: '20000' });
  const peer = await connect();
  const long = (controlId: string, tail = ''): Buffer =>
    frame(`MSH|^~\\&|APP|FAC|GW|GW|20261101||ADT^A04|${controlId}|P|2.5.1${tail}\rZZZ|${'x'.repeat(32 * MIB)}`);
  const original = await peer.exchange(message('O1', 'x'.repeat(20_000)));
  expect(msaOf(original)).toEqual({ code: 'AR', controlId: 'O1' });
  expect(original).toMatch(/\rERR\|\|\|207\^[^|]*\|E\|too-large/);
  expect(original).toMatch(/^MSH\|\^~\\&\|GW\|GW\|APP\|FAC\|/);
  peer.write(Buffer.concat([long('O2'), frame(message('O3'))]));
  expect(msaOf(await peer.next())).toEqual({ code: 'AR', controlId: 'O2' });
  expect(msaOf(await peer.next())).toEqual({ code: 'AA', controlId: 'O3' });
  peer.write(long('O4', '|||AL|NE'));
  expect(msaOf(await peer.next())).toEqual({ code: 'CR', controlId: 'O4' });
  peer.write(long('O4', '|||AL|AL'));
  expect(msaOf(await peer.next())).toEqual({ code: 'AR', controlId: 'O4' });
  peer.write(Buffer.concat([long('O5', '|||NE|NE'), frame(message('O6'))]));
  expect(msaOf(await peer.next())).toEqual({ code: 'AA', controlId: 'O6' });
  expect(edge.received.map(({ text }) => controlIdOf(text))).toEqual(['O3', 'O6']);
});

test('TCP slows a sender that pipelines faster than the edge, and no message is lost', async () => {
  const { edge, connect, metric, sidecar } = await setUpSidecar();
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  edge.reply = async (received) => {
    await gate;
    return acknowledge(received);
  };
  const count = 60;
  const peer = await connect();
  for (let n = 0; n < count; n += 1) peer.write(frame(message(`B${n}`, `ZZZ|${'x'.repeat(MIB / 2)}`)));
  await metric('mllp_held_bytes', (value) => value > MIB);
  // Nothing moves any more: what the sender has left is in its own buffers and in the kernel's.
  let [before, times] = [-1, 0];
  const bytes = await until('reading has stopped', async () => {
    // Each answer is a pass of the loop in which the sidecar would have read all waiting bytes.
    const now = (await sidecarMetrics(sidecar.healthPort)).get('mllp_bytes_total{direction="in"}') ?? 0;
    times = now === before ? times + 1 : 0;
    before = now;
    return times === 20 ? now : undefined;
  });
  expect(peer.socket.writableLength).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(3 * MIB);
  expect((await sidecarMetrics(sidecar.healthPort)).get('mllp_held_bytes')).toBeLessThan(3 * MIB);
  release();
  for (let n = 0; n < count; n += 1) expect(msaOf(await peer.next()).controlId).toBe(`B${n}`);
  await metric('mllp_held_bytes', (value) => value === 0);
});

test('above the memory limit, connections with messages in progress wait, and connections with a partial frame are closed', async () => {
  const { edge, connect, metric } = await setUpSidecar({ MLLP_MAX_HELD_BYTES: String(MIB) });
  edge.reply = () => ({ status: 503 });
  const waiting = await connect();
  waiting.write(frame(message('H1', 'x'.repeat(MIB - 1000))));
  await until('it is under way', () => edge.received.length > 0);
  const partial = await connect();
  partial.write(`\u000b${'x'.repeat(2000)}`);
  expect(await partial.closed).toBe('');
  await metric('mllp_refusals_total{reason="memory"}', (value) => value === 1);
  // Complete and small: served one after another, with any bytes waiting on other connections.
  const small = await connect();
  edge.reply = (received) => (controlIdOf(received.text) === 'H1' ? { status: 503 } : acknowledge(received));
  for (const id of ['H2', 'H3']) expect(msaOf(await small.exchange(message(id))).controlId).toBe(id);
  edge.reply = (received) => acknowledge(received);
  expect(msaOf(await waiting.next())).toEqual({ code: 'AA', controlId: 'H1' });
});

test('a byte at a time is a message like any other', async () => {
  const { connect } = await setUpSidecar();
  const peer = await connect();
  for (const byte of frame(message('Y1'))) {
    peer.write(Uint8Array.of(byte));
    await nextTurn();
  }
  expect(msaOf(await peer.next())).toEqual({ code: 'AA', controlId: 'Y1' });
});

test.each([
  ['a frame', '\u000bMSH|^~\\&|'],
  ['a frame that is begun again and again', '\u000b'],
  ['an over-long frame', `\u000b${'x'.repeat(2000)}`],
  ['bytes without a frame', 'x'],
])('%s that does not end in its time is dropped, however steadily it grows', async (_, start) => {
  const { edge, connect, metric } = await setUpSidecar({
    MLLP_FRAME_TIMEOUT_SECONDS: '0.6',
    MLLP_MAX_FRAME_BYTES: '1000',
  });
  const peer = await connect();
  const drip = setInterval(() => peer.write(start === '\u000b' ? 'x\u000b' : 'x'), 50);
  const started = performance.now();
  peer.write(start);
  // A connection that is never dropped reaches the test's time-out.
  await peer.closed.finally(() => clearInterval(drip));
  expect(performance.now() - started).toBeGreaterThan(500);
  await metric('mllp_refusals_total{reason="frame-timeout"}', (value) => value === 1);
  expect(edge.received).toEqual([]);
});

test('closes a connection that is silent for the idle time, except while its message is in progress', async () => {
  const { edge, connect, metric } = await setUpSidecar({ MLLP_IDLE_TIMEOUT_SECONDS: '1' });
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  edge.reply = async (received) => {
    await gate;
    return acknowledge(received);
  };
  const busy = await connect();
  const answer = busy.exchange(message('I1'));
  await until('it is under way', () => edge.received.length === 1);
  // Idle for its whole time after the other's last word: by then that one has been silent for longer.
  const started = performance.now();
  expect(await (await connect()).closed).toBe('');
  expect(performance.now() - started).toBeGreaterThan(950);
  release();
  expect(msaOf(await answer).controlId).toBe('I1');
  await metric('mllp_refusals_total{reason="idle-timeout"}', (value) => value >= 1);
});

test('accepts a message without CR after FS, or with line ends between frames', async () => {
  const { connect, metric } = await setUpSidecar({ MLLP_FRAME_TIMEOUT_SECONDS: '0.3' });
  const peer = await connect();
  peer.write(`\u000b${message('L1')}\u001c`);
  expect(msaOf(await peer.next()).controlId).toBe('L1');
  peer.write(`\u000b${message('L4').trimEnd()}\u001c`);
  expect(msaOf(await peer.next()).controlId).toBe('L4');
  peer.write(`\n\u000b${message('L2')}\u001c\r\n\r\n`);
  expect(msaOf(await peer.next()).controlId).toBe('L2');
  await metric('mllp_frames_total{kind="unterminated"}', (value) => value === 2);
  // Line ends are the beginning of nothing: the connection outlives a frame that was begun after them.
  const begun = await connect();
  begun.write('\u000bMSH|');
  expect(await begun.closed).toBe('');
  expect(msaOf(await peer.exchange(message('L3'))).controlId).toBe('L3');
});

test('forwards a message with FS in a field with all its bytes, also if they arrive in several parts', async () => {
  const { edge, connect } = await setUpSidecar();
  const peer = await connect();
  const sent = ['F1', 'F2'].map((id) => `${message(id)}NTE|1||before\u001cbehind\rNTE|2||end\r`);
  peer.write(`\u000b${sent[0]}\u001c\r`);
  expect(msaOf(await peer.next()).controlId).toBe('F1');
  const [start, end] = (sent[1] ?? '').split('\u001c');
  peer.write(`\u000b${start}\u001c`);
  await nextTurn();
  peer.write(`${end}\u001c\r`);
  expect(msaOf(await peer.next()).controlId).toBe('F2');
  expect(edge.received.map(({ text }) => text)).toEqual(sent);
});

const STRANGERS: readonly (readonly [string, string | Uint8Array, string])[] = [
  ['HTTP', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', 'http'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'http'],
  ['a TLS ClientHello', Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x0b, 0x1c, 0x0d), 'tls-on-plain-port'],
  ['a PROXY header, version 1', 'PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n', 'proxy-header-unexpected'],
  ['a PROXY header, version 2', '\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c', 'proxy-header-unexpected'],
  ['noise', 'x'.repeat(1100), 'junk'],
];

test.each(STRANGERS)(
  '%s on the plain port is rejected at once, and a working sender continues',
  async (_, bytes, reason) => {
    const { edge, connect, metric } = await setUpSidecar();
    const worker = await connect();
    expect(msaOf(await worker.exchange(message('W1'))).code).toBe('AA');
    for (const cut of [bytes.length, 1]) {
      const stranger = await connect();
      for (let at = 0; at < Math.min(bytes.length, 1100); at += cut) stranger.write(bytes.slice(at, at + cut));
      expect(await stranger.closed).toBe('');
    }
    await metric(`mllp_refusals_total{reason="${reason}"}`, (value) => value === 2);
    expect(msaOf(await worker.exchange(message('W2'))).code).toBe('AA');
    expect(edge.received).toHaveLength(2);
  },
);

test('closes connections over the total limit and the limit of an address, and reuses released places', async () => {
  const { connect, metric } = await setUpSidecar({
    MLLP_MAX_CONNECTIONS: '5',
    MLLP_MAX_CONNECTIONS_PER_ADDRESS: '3',
  });
  const mine: MllpPeer[] = [];
  for (let n = 0; n < 3; n += 1) {
    const peer = await connect();
    expect(msaOf(await peer.exchange(message(`C${n}`))).code).toBe('AA');
    mine.push(peer);
  }
  expect(await (await connect()).closed).toBe('');
  await metric('mllp_refusals_total{reason="too-many-connections-of-address"}', (value) => value === 1);
  for (const localAddress of ['127.0.0.2', '127.0.0.3']) {
    expect(msaOf(await (await connect({ localAddress })).exchange(message('C4'))).code).toBe('AA');
  }
  // The address that has most gives one up, and gets none itself.
  expect(msaOf(await (await connect({ localAddress: '127.0.0.4' })).exchange(message('C5'))).code).toBe('AA');
  expect(await mine[0]?.closed).toBe('');
  await metric('mllp_refusals_total{reason="gave-way"}', (value) => value === 1);
  expect(await (await connect()).closed).toBe('');
  await metric('mllp_refusals_total{reason="too-many-connections"}', (value) => value === 1);
  mine[1]?.destroy();
  await metric('mllp_connections', (value) => value === 4);
  expect(msaOf(await (await connect()).exchange(message('C6'))).code).toBe('AA');
});

test('many idle connections do not block a sender, and those without a message are closed', async () => {
  const { connect, metric } = await setUpSidecar({
    MLLP_MAX_CONNECTIONS: '40',
    MLLP_MAX_CONNECTIONS_PER_ADDRESS: '10',
    // Long enough for all connections and their first frames on a busy machine.
    MLLP_FIRST_FRAME_TIMEOUT_SECONDS: '5',
  });
  const worker = await connect({ localAddress: '127.0.0.20' });
  expect(msaOf(await worker.exchange(message('P0'))).code).toBe('AA');
  await Promise.all(Array.from({ length: 40 }, (_, n) => connect({ localAddress: `127.0.0.${1 + (n % 4)}` })));
  const pool = await Promise.all(Array.from({ length: 5 }, () => connect({ localAddress: '127.0.0.21' })));
  for (const [at, peer] of [...pool, worker].entries()) {
    expect(msaOf(await peer.exchange(message(`P${at + 1}`))).code).toBe('AA');
  }
  await metric('mllp_refusals_total{reason="gave-way"}', (value) => value >= 5);
  // As soon as enough are free again, who has not sent may stay.
  await metric('mllp_connections', (value) => value <= 20);
  await metric('mllp_refusals_total{reason="no-first-frame"}', (value) => value >= 14);
  for (const [at, peer] of [...pool, worker].entries()) {
    expect(msaOf(await peer.exchange(message(`Q${at}`))).code).toBe('AA');
  }
});

test('an address that no key allows is rejected before a byte is read; an address allowed a moment ago is accepted', async () => {
  const { edge, connect, metric } = await setUpSidecar({}, (double) => {
    double.ranges = ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32', 'nonsense'];
  });
  expect(msaOf(await (await connect()).exchange(message('K1'))).code).toBe('AA');
  const refused = await connect({ localAddress: '127.0.0.2' });
  refused.write(frame(message('K2')));
  expect(await refused.closed).toBe('');
  await metric('mllp_refusals_total{reason="address-not-allowed"}', (value) => value === 1);
  edge.ranges = ['127.0.0.2/31'];
  expect(msaOf(await (await connect({ localAddress: '127.0.0.2' })).exchange(message('K3'))).code).toBe('AA');
  expect(edge.received.map(({ text }) => controlIdOf(text))).toEqual(['K1', 'K3']);
});

test('a crowd of addresses that no key allows is few questions to the edge', async () => {
  const { edge, connect, metric } = await setUpSidecar({}, (double) => {
    double.ranges = ['10.0.0.0/8'];
  });
  await until('the edge was asked at the start', () => edge.asked === 1);
  let release = (): void => undefined;
  edge.untilRanges = new Promise((resolve) => (release = resolve));
  const crowd = await Promise.all(Array.from({ length: 200 }, () => connect()));
  release();
  await Promise.all(crowd.map((peer) => peer.closed));
  await metric('mllp_refusals_total{reason="address-not-allowed"}', (value) => value === 200);
  expect(edge.asked).toBeLessThan(10);
});

test('forwards every address while the edge cannot return the allowed ranges', async () => {
  const { edge, connect } = await setUpSidecar({}, (double) => {
    double.ranges = undefined;
  });
  expect(msaOf(await (await connect()).exchange(message('E1'))).code).toBe('AA');
  expect(edge.received).toHaveLength(1);
});

test('1,000 idle connections and a scan of the port do not disturb a working sender', async () => {
  const { connect, metric } = await setUpSidecar({ MLLP_MAX_CONNECTIONS_PER_ADDRESS: '1200' });
  const idle = await Promise.all(Array.from({ length: 1000 }, () => connect()));
  await metric('mllp_connections', (value) => value === 1000);
  const worker = await connect();
  const scan = (async () => {
    for (let n = 0; n < 200; n += 1) (await connect()).destroy();
  })();
  for (let n = 0; n < 300; n += 1) {
    expect(msaOf(await worker.exchange(message(`Z${n}`))).controlId).toBe(`Z${n}`);
  }
  await scan;
  for (const peer of idle) peer.destroy();
  await metric('mllp_connections', (value) => value === 1);
});

const HEAVY = `OBX|1|NM|X^Y||1.5|mmol/L|||||F\r`.repeat(1500);

test('a sender that takes every available place does not delay another', async () => {
  const { edge, connect } = await setUpSidecar({ FORWARD_CONCURRENCY: '4' });
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  edge.reply = async (received) => {
    if (received.text.length > 10_000) await gate;
    return acknowledge(received);
  };
  const ids = () => edge.received.map(({ text }) => controlIdOf(text));
  const heavy = await Promise.all(Array.from({ length: 24 }, () => connect({ localAddress: '127.0.0.2' })));
  const answers = heavy.map(async (peer, n) => peer.exchange(message(`H${n}`, HEAVY)));
  await until('he has what he can get', () => edge.received.length === 3);
  const other = await connect({ localAddress: '127.0.0.3' });
  expect(msaOf(await other.exchange(message('ADT')))).toEqual({ code: 'AA', controlId: 'ADT' });
  expect(ids()).toHaveLength(4);
  expect(ids()[3]).toBe('ADT');
  release();
  expect((await Promise.all(answers)).map((ack) => msaOf(ack).code)).toEqual(Array<string>(24).fill('AA'));
});

test('senders that connect when every place is busy are served before the heavy sender’s second message', async () => {
  const { edge, connect, metric } = await setUpSidecar({ FORWARD_CONCURRENCY: '4' });
  const waiting: (() => void)[] = [];
  edge.reply = async (received) => {
    await new Promise<void>((resolve) => void waiting.push(resolve));
    return acknowledge(received);
  };
  const ids = () => edge.received.map(({ text }) => controlIdOf(text));
  const send = async (localAddress: string, id: string) => (await connect({ localAddress })).exchange(message(id));
  const answers = Array.from({ length: 12 }, (_, n) => send('127.0.0.2', `H${n}`));
  await until('he has what he can get', () => edge.received.length === 3);
  answers.push(send('127.0.0.3', 'A'));
  await until('no place is free', () => edge.received.length === 4);
  for (const [at, id] of ['B', 'C', 'D'].entries()) answers.push(send(`127.0.0.${4 + at}`, id));
  await metric('mllp_forward_waiting', (value) => value === 12);
  for (let done = 0; done < 3; done += 1) {
    waiting.shift()?.();
    await until('the next one has his turn', () => edge.received.length === 5 + done);
  }
  expect(ids().slice(4).toSorted()).toEqual(['B', 'C', 'D']);
  edge.reply = (received) => acknowledge(received);
  for (const go of waiting) go();
  expect((await Promise.all(answers)).map((ack) => msaOf(ack).code)).toEqual(Array<string>(16).fill('AA'));
});

test('the wait of a message before its first attempt does not count against its time', async () => {
  // Long enough for a second attempt on a machine that pauses for a moment.
  const { edge, connect } = await setUpSidecar({ FORWARD_CONCURRENCY: '1', FORWARD_RETRY_SECONDS: '2' });
  edge.reply = (received) => {
    // The first one is never answered: when it is given up the other has waited for all of its time.
    if (controlIdOf(received.text) === 'W1') return new Promise(() => undefined);
    const tries = edge.received.filter(({ text }) => controlIdOf(text) === 'W2').length;
    return tries === 1 ? { status: 503 } : acknowledge(received);
  };
  const [first, second] = [await connect(), await connect({ localAddress: '127.0.0.2' })];
  first.write(frame(message('W1')));
  await until('it is under way', () => edge.received.length === 1);
  expect(msaOf(await second.exchange(message('W2')))).toEqual({ code: 'AA', controlId: 'W2' });
  expect(await first.closed).toBe('');
});

test('incomplete frames use few places of an address, so that its other senders are served', async () => {
  const { connect, metric } = await setUpSidecar({
    MLLP_MAX_CONNECTIONS_PER_ADDRESS: '8',
    MLLP_MAX_UNFINISHED_FRAMES_PER_ADDRESS: '3',
  });
  const begun = '\u000bMSH|';
  for (let n = 1; n <= 12; n += 1) {
    (await connect()).write(begun);
    await metric('mllp_bytes_total{direction="in"}', (value) => value === n * begun.length);
  }
  await metric('mllp_refusals_total{reason="too-many-unfinished-frames"}', (value) => value === 9);
  const good = await connect();
  expect(msaOf(await good.exchange(message('G1')))).toEqual({ code: 'AA', controlId: 'G1' });
  // In two pieces it is unfinished for a moment too.
  const text = message('G2');
  good.write(`\u000b${text.slice(0, 20)}`);
  await metric('mllp_refusals_total{reason="too-many-unfinished-frames"}', (value) => value === 10);
  good.write(`${text.slice(20)}\u001c\r`);
  expect(msaOf(await good.next())).toEqual({ code: 'AA', controlId: 'G2' });
});
