/**
 * The sidecar with real sockets: what it forwards, what it acknowledges, and that it acknowledges nothing else. The
 * edge is a double where an outage or a strange answer is the point; the real one is in sidecar-faults.test.ts.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { MLLP_ACCEPT_LENGTH_HEADER } from '../../shared/mllp-contract.ts';
import { acknowledge, controlIdOf, message, type DoubleReply, type Forwarded } from '../stack/tools/edge-double.ts';
import { frame, msaOf } from '../stack/tools/mllp-peer.ts';
import { setUpSidecar } from '../stack/tools/sidecar-setup.ts';
import { until } from '../stack/services/until.ts';

/** A reply that waits until the test says so. */
function held(): { readonly wait: Promise<void>; readonly release: () => void } {
  let release = (): void => undefined;
  const wait = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { wait, release };
}

describe('forwarding', () => {
  test('bytes reach the edge unchanged, and its ACK is returned unchanged', async () => {
    const { edge, connect } = await setUpSidecar();
    const peer = await connect();
    const sent = `${message('A1')}ZZZ|\u00e4\u0000\u00ff\\X0D\\\r\n`;
    peer.write(frame(Buffer.from(sent, 'latin1')));
    const ack = await peer.next();
    expect(edge.received.map(({ text }) => text)).toEqual([sent]);
    expect(ack).toBe(acknowledge({ text: sent, claims: edge.received[0]!.claims }).body);
  });

  test('the token has the sidecar and the source, expires within a minute, and is new for each attempt', async () => {
    const { edge, connect } = await setUpSidecar({ SIDECAR_NAME: 'ward-7' });
    const replies: (DoubleReply | undefined)[] = [{ status: 500 }, undefined];
    edge.reply = (received) => (replies.length > 0 ? replies.shift() : acknowledge(received));
    const peer = await connect();
    expect(msaOf(await peer.exchange(message('A1')))).toEqual({ code: 'AA', controlId: 'A1' });
    const claims = edge.received.map((each) => each.claims);
    expect(claims).toHaveLength(3);
    expect(new Set(claims.map(({ jti }) => jti)).size).toBe(3);
    for (const { iss, src, tls, iat, exp } of claims) {
      expect([iss, src, tls]).toEqual(['ward-7', '127.0.0.1', undefined]);
      expect(exp - iat).toBeLessThanOrEqual(60);
    }
  });

  test('pipelined messages are forwarded one after another, and answered in their order', async () => {
    const { edge, connect } = await setUpSidecar();
    let underWay = 0;
    edge.reply = async (received) => {
      underWay += 1;
      expect(underWay).toBe(1);
      // The first are the slowest: a sidecar that answers in order of completion mixes them up.
      await delay(Math.max(0, 10 - edge.received.length));
      underWay -= 1;
      return acknowledge(received);
    };
    const ids = Array.from({ length: 60 }, (_, index) => `P${index}`);
    const peer = await connect();
    peer.write(Buffer.concat(ids.map((id) => frame(message(id)))));
    const answered: string[] = [];
    for (const _ of ids) answered.push(msaOf(await peer.next()).controlId);
    expect(answered).toEqual(ids);
    expect(edge.received.map(({ text }) => controlIdOf(text))).toEqual(ids);
  });

  test('a slow message of one connection does not hold up another', async () => {
    const { edge, connect } = await setUpSidecar();
    const slow = held();
    edge.reply = async (received) => {
      if (controlIdOf(received.text) === 'SLOW') await slow.wait;
      return acknowledge(received);
    };
    const [first, second] = [await connect(), await connect()];
    const slowAnswer = first.exchange(message('SLOW'));
    await until('the slow one is under way', () => edge.received.length === 1);
    for (let n = 0; n < 20; n += 1) expect(msaOf(await second.exchange(message(`Q${n}`))).code).toBe('AA');
    slow.release();
    expect(msaOf(await slowAnswer).controlId).toBe('SLOW');
  });

  test('a sender that closes its side after sending still gets its ACKs', async () => {
    const { connect } = await setUpSidecar();
    const peer = await connect();
    peer.socket.end(Buffer.concat([frame(message('H1')), frame(message('H2'))]));
    expect([msaOf(await peer.next()).controlId, msaOf(await peer.next()).controlId]).toEqual(['H1', 'H2']);
    expect(await peer.closed).toBe('');
  });

  test('a message that wants no acknowledgement gets none, and the next message is forwarded', async () => {
    const { edge, connect, metric } = await setUpSidecar();
    edge.reply = (received) => (controlIdOf(received.text) === 'N1' ? { status: 204 } : acknowledge(received));
    const peer = await connect();
    peer.write(Buffer.concat([frame(message('N1')), frame(message('N2'))]));
    expect(msaOf(await peer.next()).controlId).toBe('N2');
    await metric('mllp_acks_total{code="none"}', (value) => value === 1);
  });

  test('the edge can close the connection: the ACK arrives, and later pipelined messages are not forwarded', async () => {
    const { edge, connect } = await setUpSidecar();
    edge.reply = (received) => {
      const reply = acknowledge(received, 'AR');
      return { ...reply, headers: { ...reply.headers, 'MLLP-Connection': 'close' } };
    };
    const peer = await connect();
    peer.write(Buffer.concat([frame(message('R1')), frame(message('R2')), frame(message('R3', 'x'.repeat(200_000)))]));
    expect(msaOf(await peer.next())).toEqual({ code: 'AR', controlId: 'R1' });
    expect(await peer.closed).toBe('');
    // A message forwarded behind it would have arrived before this one.
    edge.reply = (received) => acknowledge(received);
    expect(msaOf(await (await connect()).exchange(message('R9'))).controlId).toBe('R9');
    expect(edge.received.map(({ text }) => controlIdOf(text))).toEqual(['R1', 'R9']);
  });
});

describe('the edge away', () => {
  const NOT_AN_ANSWER: readonly (readonly [string, DoubleReply | undefined])[] = [
    ['500', { status: 500 }],
    ['503 with an ACK in it', { ...acknowledge({ text: message('X'), claims: {} as never }), status: 503 }],
    ['404, the sidecar not recognised', { status: 404 }],
    ['429', { status: 429 }],
    ['a redirect', { status: 302, headers: { Location: 'http://127.0.0.1/' } }],
    ['a proxy’s page with status 200', { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<h1>Hi</h1>' }],
    ['200 with nothing in it', { status: 200, headers: { 'Content-Type': 'application/hl7-v2' } }],
    [
      'two ACKs of which the first is longer than both',
      {
        ...acknowledge({ text: message('X'), claims: {} as never }),
        headers: { 'Content-Type': 'application/hl7-v2', [MLLP_ACCEPT_LENGTH_HEADER]: '100000' },
      },
    ],
    ['a cut connection', undefined],
  ];

  test.each(NOT_AN_ANSWER)('%s is not an ACK: retried until there is one', async (_, reply) => {
    const { edge, connect } = await setUpSidecar();
    edge.reply = (received) => (edge.received.length <= 2 ? reply : acknowledge(received));
    const peer = await connect();
    expect(msaOf(await peer.exchange(message('T1')))).toEqual({ code: 'AA', controlId: 'T1' });
    expect(edge.received).toHaveLength(3);
    expect(new Set(edge.received.map(({ text }) => text)).size).toBe(1);
  });

  test('closes the connection without an ACK when the edge is unavailable for the retry time, and forwards no later message', async () => {
    const { edge, connect, metric, sidecar } = await setUpSidecar({ FORWARD_RETRY_SECONDS: '0.6' });
    edge.reply = ({ text }) => (controlIdOf(text) === 'D1' ? acknowledge({ text } as Forwarded) : { status: 503 });
    const peer = await connect();
    const started = performance.now();
    peer.write(Buffer.concat(['D1', 'D2', 'D3'].map((id) => frame(message(id)))));
    expect(msaOf(await peer.next())).toEqual({ code: 'AA', controlId: 'D1' });
    expect(await peer.closed).toBe('');
    expect(performance.now() - started).toBeGreaterThan(550);
    expect(new Set(edge.received.map(({ text }) => controlIdOf(text)))).toEqual(new Set(['D1', 'D2']));
    await metric('mllp_refusals_total{reason="edge-unavailable"}', (value) => value === 1);
    const isRefusal = (line: string) => line.includes('forward.refused') && line.includes('503');
    await until('it is logged', () => sidecar.logs().some(isRefusal));
  });

  test('closes the connection soon after the retry time when the edge hangs, for any timeout of an attempt', async () => {
    const { edge, connect, metric } = await setUpSidecar({
      FORWARD_RETRY_SECONDS: '0.5',
      FORWARD_ATTEMPT_TIMEOUT_SECONDS: '600',
    });
    edge.reply = () => new Promise(() => undefined);
    const peer = await connect();
    const started = performance.now();
    peer.write(frame(message('G1')));
    // A try that ignored the deadline would outlast the test's own time-out.
    expect(await peer.closed).toBe('');
    expect(performance.now() - started).toBeGreaterThan(450);
    await metric('mllp_refusals_total{reason="edge-unavailable"}', (value) => value === 1);
  });

  test('aborts an attempt when the edge hangs, and retries', async () => {
    const { edge, connect, metric } = await setUpSidecar({ FORWARD_ATTEMPT_TIMEOUT_SECONDS: '0.3' });
    edge.reply = (received) => (edge.received.length === 1 ? new Promise(() => undefined) : acknowledge(received));
    const peer = await connect();
    expect(msaOf(await peer.exchange(message('W1'))).code).toBe('AA');
    // On a busy machine it may be given up more than once; it is answered once.
    expect(edge.received.length).toBeGreaterThan(1);
    await metric('mllp_forward_attempts_total{result="unreachable"}', (value) => value >= 1);
    await metric('mllp_forward_attempts_total{result="answered"}', (value) => value === 1);
  });

  test('without an edge the sidecar listens and is not ready, and becomes ready with the edge', async () => {
    const { edge, sidecar } = await setUpSidecar({}, (double) => {
      double.ranges = undefined;
    });
    const ready = async (): Promise<Response> => fetch(`http://127.0.0.1:${sidecar.healthPort}/readyz`);
    expect((await fetch(`http://127.0.0.1:${sidecar.healthPort}/healthz`)).status).toBe(200);
    const answer = await ready();
    expect([answer.status, await answer.json()]).toMatchObject([503, { status: 'not ready' }]);
    edge.ranges = ['*'];
    await until('ready', async () => (await ready()).status === 200);
  });

  test('stops the retries of a message whose sender has disconnected', async () => {
    const { edge, connect, metric } = await setUpSidecar();
    edge.reply = () => ({ status: 503 });
    const peer = await connect();
    peer.write(frame(message('G1')));
    await until('a first try', () => edge.received.length > 0);
    peer.socket.resetAndDestroy();
    await metric('mllp_connections', (value) => value === 0);
    const other = await connect();
    edge.reply = (received) => acknowledge(received);
    // A message in flight when the sender closed has arrived by then.
    await other.exchange(message('G2'));
    const tries = edge.received.filter(({ text }) => controlIdOf(text) === 'G1').length;
    // Longer than the next wait of the first message could have been.
    for (let n = 0; n < 30; n += 1) await other.exchange(message(`G2-${n}`)).then(() => delay(10));
    expect(edge.received.filter(({ text }) => controlIdOf(text) === 'G1')).toHaveLength(tries);
  });
});

describe('SIGTERM', () => {
  test('stops accepting, processes and acknowledges complete frames, drops incomplete ones, and ends with 0', async () => {
    const { edge, sidecar, connect } = await setUpSidecar();
    const slow = held();
    edge.reply = async (received) => {
      await slow.wait;
      return acknowledge(received);
    };
    const peer = await connect();
    const idle = await connect();
    peer.write(Buffer.concat([frame(message('S1')), frame(message('S2')), Buffer.from('\u000bMSH|^~\\&|half')]));
    await until('the first is under way', () => edge.received.length === 1);
    const stopped = sidecar.stop();
    expect(await idle.closed).toBe('');
    const ready = await fetch(`http://127.0.0.1:${sidecar.healthPort}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('shutting down')]);
    const late = await connect();
    expect(await late.closed).toBe('');
    slow.release();
    expect([msaOf(await peer.next()), msaOf(await peer.next())].map(({ controlId }) => controlId)).toEqual([
      'S1',
      'S2',
    ]);
    expect(await peer.closed).toBe('');
    await stopped;
    expect(await sidecar.exited).toBe(0);
    expect(edge.received).toHaveLength(2);
  });

  test('a message that the edge does not answer in time is not acknowledged', async () => {
    const { edge, sidecar, connect } = await setUpSidecar({ SHUTDOWN_GRACE_SECONDS: '0.3' });
    edge.reply = () => new Promise(() => undefined);
    const peer = await connect();
    peer.write(frame(message('S3')));
    await until('it is under way', () => edge.received.length === 1);
    await sidecar.stop();
    expect(await peer.closed).toBe('');
    expect(await sidecar.exited).toBe(0);
  });
});

test('metrics count connections, frames, bytes, ACKs by code and attempts; logs contain no part of a message', async () => {
  const { edge, connect, metric, sidecar } = await setUpSidecar({ LOG_LEVEL: 'debug' });
  edge.reply = (received) => acknowledge(received, controlIdOf(received.text) === 'M2' ? 'AE' : 'AA');
  const peer = await connect();
  await peer.exchange(message('M1'));
  await peer.exchange(message('M2'));
  peer.write(`\u000bMSH|cut${frame(message('M3')).toString('latin1')}`);
  await peer.next();
  await metric('mllp_connections', (value) => value === 1);
  await metric('mllp_acks_total{code="AA"}', (value) => value === 2);
  await metric('mllp_acks_total{code="AE"}', (value) => value === 1);
  await metric('mllp_frames_total{kind="whole"}', (value) => value === 3);
  await metric('mllp_frames_total{kind="interrupted"}', (value) => value === 1);
  await metric('mllp_forward_attempts_total{result="answered"}', (value) => value === 3);
  await metric('mllp_forward_seconds_count', (value) => value === 3);
  await metric('mllp_bytes_total{direction="in"}', (value) => value > 3 * message('M1').length);
  const answered = () => sidecar.logs().filter((line) => line.includes('message.answered'));
  await until('all three are logged', () => answered().length === 3);
  const log = sidecar.logs().join('\n');
  expect(log).not.toMatch(/MSH|PID|M1|FAC/);
  for (const line of sidecar.logs()) expect(JSON.parse(line)).toMatchObject({ event: expect.stringMatching(/\./) });
});
