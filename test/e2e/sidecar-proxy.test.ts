/** The PROXY protocol on real sockets: accepted from configured balancers, required of them, refused from others. */
import { writeFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';

import { expect, onTestFinished, test } from 'vitest';

import { useFolder } from '../stack/tools/use-folder.ts';
import { makeAuthority } from '../stack/services/certificate.ts';
import { message } from '../stack/tools/edge-double.ts';
import { frame, msaOf } from '../stack/tools/mllp-peer.ts';
import { setUpSidecar } from '../stack/tools/sidecar-setup.ts';

const BALANCER = { MLLP_PROXY_PROTOCOL_FROM: '127.0.0.2, 10.0.0.0/8' };
const FROM_BALANCER = { localAddress: '127.0.0.2' };

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const v2 = (command: number, family: number, rest: readonly number[]): Buffer =>
  Buffer.concat([SIGNATURE, Buffer.from([command, family, rest.length >> 8, rest.length & 0xff, ...rest])]);

const IPV6 = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x07];
const HEADERS: readonly (readonly [string, Buffer, string])[] = [
  ['version 1, IPv4', Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.8 40000 2575\r\n'), '192.0.2.7'],
  ['version 1, IPv6', Buffer.from('PROXY TCP6 2001:db8::7 2001:db8::8 40000 2575\r\n'), '2001:db8::7'],
  ['version 2, IPv4', v2(0x21, 0x11, [192, 0, 2, 7, 192, 0, 2, 8, 1, 2, 3, 4]), '192.0.2.7'],
  ['version 2, IPv6 with a TLV', v2(0x21, 0x21, [...IPV6, ...IPV6, 1, 2, 3, 4, 0x04, 0, 1, 0]), '2001:db8::7'],
];

test.each(HEADERS)(
  '%s: its address counts when the header arrives in one piece, in bytes, or together with messages',
  async (_, header, address) => {
    const { edge, connect } = await setUpSidecar(BALANCER, (double) => {
      double.ranges = [address];
    });
    const peer = await connect(FROM_BALANCER);
    peer.write(header);
    expect(msaOf(await peer.exchange(message('P1'))).code).toBe('AA');
    const bytewise = await connect(FROM_BALANCER);
    for (const byte of header) bytewise.write(Uint8Array.of(byte));
    expect(msaOf(await bytewise.exchange(message('P2'))).code).toBe('AA');
    const glued = await connect(FROM_BALANCER);
    glued.write(Buffer.concat([header, frame(message('P3')), frame(message('P4'))]));
    expect([msaOf(await glued.next()).controlId, msaOf(await glued.next()).controlId]).toEqual(['P3', 'P4']);
    expect(edge.received.map(({ claims }) => claims.src)).toEqual([address, address, address, address]);
  },
);

const REFUSED: readonly (readonly [string, string, Uint8Array])[] = [
  ['none', 'proxy-header-missing', frame(message('X'))],
  ['a bad address', 'proxy-header-invalid', Buffer.from('PROXY TCP4 192.0.2.777 192.0.2.8 1 2\r\n')],
  ['an unknown protocol', 'proxy-header-invalid', Buffer.from('PROXY UDP4 192.0.2.7 192.0.2.8 1 2\r\n')],
  ['a line without an end', 'proxy-header-invalid', Buffer.from(`PROXY TCP4 ${'1'.repeat(200)}`)],
  ['version 3', 'proxy-header-invalid', v2(0x31, 0x11, [192, 0, 2, 7, 192, 0, 2, 8, 1, 2, 3, 4])],
  ['too short for its family', 'proxy-header-invalid', v2(0x21, 0x11, [192, 0, 2, 7])],
  ['of the balancer itself (LOCAL)', 'balancer-check', v2(0x20, 0x00, [])],
];

test.each(REFUSED)('a balancer must send a header; %s is rejected (%s)', async (_, reason, bytes) => {
  const { edge, connect, metric } = await setUpSidecar(BALANCER);
  const peer = await connect(FROM_BALANCER);
  peer.write(bytes);
  peer.write(frame(message('X')));
  expect(await peer.closed).toBe('');
  await metric(`mllp_refusals_total{reason="${reason}"}`, (value) => value === 1);
  expect(edge.received).toEqual([]);
});

test('a header from any other host is rejected; without a header, other hosts are served by their source address', async () => {
  const { edge, connect, metric } = await setUpSidecar(BALANCER);
  for (const [, header] of HEADERS) {
    const liar = await connect();
    liar.write(header);
    liar.write(frame(message('X')));
    expect(await liar.closed).toBe('');
  }
  await metric('mllp_refusals_total{reason="proxy-header-unexpected"}', (value) => value === HEADERS.length);
  expect(msaOf(await (await connect()).exchange(message('O1'))).code).toBe('AA');
  expect(edge.received.map(({ claims }) => claims.src)).toEqual(['127.0.0.1']);
});

test('a balancer that connects and sends nothing is disconnected without a warning', async () => {
  const { connect, metric, sidecar } = await setUpSidecar({ ...BALANCER, MLLP_OPENING_TIMEOUT_SECONDS: '1' });
  (await connect(FROM_BALANCER)).socket.end();
  await metric('mllp_refusals_total{reason="balancer-check"}', (value) => value === 1);
  expect(sidecar.logs().join()).not.toContain('connection.refused');
  expect(await (await connect(FROM_BALANCER)).closed).toBe('');
  await metric('mllp_refusals_total{reason="opening-timeout"}', (value) => value === 1);
  await metric('mllp_connections', (value) => value === 0);
});

test('limits go by the address in the header, not by the balancer’s', async () => {
  const { connect, metric } = await setUpSidecar({ ...BALANCER, MLLP_MAX_CONNECTIONS_PER_ADDRESS: '1' });
  for (const [n, [, header]] of HEADERS.slice(0, 2).entries()) {
    const peer = await connect(FROM_BALANCER);
    peer.write(header);
    expect(msaOf(await peer.exchange(message(`L${n}`))).code).toBe('AA');
  }
  const second = await connect(FROM_BALANCER);
  second.write(HEADERS[0]![1]);
  expect(await second.closed).toBe('');
  await metric('mllp_refusals_total{reason="too-many-connections-of-address"}', (value) => value === 1);
});

test('TLS begins behind the header, also when both come in one packet', async () => {
  const authority = makeAuthority();
  const { certificate, privateKey } = authority.issue(['127.0.0.1']);
  const folder = await useFolder('sidecar-proxy', onTestFinished);
  await writeFile(join(folder, 'cert.pem'), certificate);
  await writeFile(join(folder, 'key.pem'), privateKey);
  const { edge, sidecar } = await setUpSidecar({
    ...BALANCER,
    MLLP_TLS_CERT_FILE: join(folder, 'cert.pem'),
    MLLP_TLS_KEY_FILE: join(folder, 'key.pem'),
  });
  const raw = connectTcp({ port: sidecar.port, host: '127.0.0.1', ...FROM_BALANCER });
  onTestFinished(() => void raw.destroy());
  let before = HEADERS[0]![1];
  const wire = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _, done) {
      raw.write(Buffer.concat([before, chunk]), done);
      before = Buffer.alloc(0);
    },
  });
  raw.on('data', (chunk) => wire.push(chunk));
  const secure = connectTls({ socket: wire, ca: authority.certificate, host: '127.0.0.1' });
  secure.write(frame(message('T1')));
  for await (const chunk of secure) {
    if (String(chunk).includes('MSA|AA|T1')) break;
  }
  expect(edge.received.map(({ claims }) => claims.src)).toEqual(['192.0.2.7']);
});
