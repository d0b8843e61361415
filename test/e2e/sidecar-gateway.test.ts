/**
 * Sidecar and gateway together: the site of a message, the answer to a stranger, and the effect of a changed key.
 * Several sidecars run without knowledge of each other. Source addresses arrive by PROXY protocol.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { addSiteAddress } from '../../edge/store/site-address.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { ONE_RUNTIME, startGateway, type Gateway } from '../stack/tools/gateway.ts';
import { connectPeer, frame, msaOf, type MllpPeer } from '../stack/tools/mllp-peer.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { startSidecar, type SidecarProcess } from '../stack/services/sidecar.ts';
import { until } from '../stack/services/until.ts';

const adt = (controlId: string, application = 'ADT', facility = 'EAST'): string =>
  `MSH|^~\\&|${application}|${facility}|GW|GW|20261101083000+0100||ADT^A04^ADT_A01|${controlId}|P|2.5.1\r` +
  `EVN|A04|20261101083000+0100\rPID|1||MRN-${controlId}^^^EAST^MR||Way^Ada||19701231|F\rPV1|1|O\r`;

/** The default of HL7_MAX_TEXT_BYTES. */
const MAX_TEXT_BYTES = 1024 * 1024;

describe.each(ONE_RUNTIME)('on %s', (runtime) => {
  let database: TestDatabase;
  let gateway: Gateway;
  let sidecars: SidecarProcess[] = [];
  const sites: string[] = [];

  const from = async (address: string, sidecar = 0): Promise<MllpPeer> => {
    const { port } = sidecars[sidecar] ?? { port: 0 };
    const peer = await connectPeer({ port });
    onTestFinished(() => peer.destroy());
    peer.write(`PROXY TCP${address.includes(':') ? 6 : 4} ${address} ${address} 40000 2575\r\n`);
    return peer;
  };
  const key = (site: number, allowedIps: readonly string[], more: object = {}) =>
    createApiKey(database.client, { site: sites[site] ?? '', protocols: ['hl7-mllp'], allowedIps, ...more });
  const storedIn = async (controlId: string): Promise<number[]> => {
    const { rows } = await database.client.query<{ site_id: string }>(
      'select site_id from hl7_message where control_id = $1',
      [controlId],
    );
    return rows.map((row) => sites.indexOf(row.site_id));
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    gateway = await startGateway({ runtime, database });
    const first = ['192.0.2.0/25', '2001:db8:1::/48', '203.0.113.0/24', '127.0.0.1'];
    const second = ['192.0.2.128/25', '2001:db8:2::7'];
    for (const addresses of [first, second]) sites.push(await createSite(database.client, { addresses }));
    // An engine that serves both distinguishes them by MSH-4.
    for (const [at, facility] of ['NORTH', 'SOUTH'].entries()) {
      const senders = { range: '198.51.100.1', application: '', facility, tlsSubject: '' };
      const assign = addSiteAddress(sites[at] ?? '', senders, 'test');
      await database.client.query(assign.text, [...assign.params]);
    }
    const options = { edgeUrl: gateway.url, privateKey: gateway.secrets.sidecarPrivateKey };
    const env = { MLLP_PROXY_PROTOCOL_FROM: '127.0.0.1' };
    sidecars = [await startSidecar({ ...options, env }), await startSidecar({ ...options, env })];
  });

  afterAll(async () => {
    for (const sidecar of sidecars) await sidecar.stop();
    await gateway?.stop();
    await database?.drop();
  });

  test('a message belongs to the site of its source address, of either family', async () => {
    await key(0, ['192.0.2.0/25', '2001:db8:1::/48']);
    await key(1, ['192.0.2.128/25', '2001:db8:2::7']);
    const senders = { '192.0.2.1': 0, '192.0.2.129': 1, '2001:db8:1::99': 0, '2001:db8:2::7': 1 };
    for (const [index, [address, site]] of Object.entries(senders).entries()) {
      const peer = await from(address);
      expect(msaOf(await peer.exchange(adt(`A${index}`)))).toEqual({ code: 'AA', controlId: `A${index}` });
      expect(await storedIn(`A${index}`)).toEqual([site]);
    }
  });

  test('MSH-3 and MSH-4 distinguish two sites behind one address; on one connection too', async () => {
    await key(0, ['198.51.100.1'], { senderApplication: 'LAB', senderFacility: 'NORTH' });
    await key(1, ['198.51.100.1'], { senderApplication: 'LAB', senderFacility: 'SOUTH' });
    const peer = await from('198.51.100.1');
    expect(msaOf(await peer.exchange(adt('F1', 'LAB', 'NORTH'))).code).toBe('AA');
    expect(msaOf(await peer.exchange(adt('F2', 'LAB', 'SOUTH'))).code).toBe('AA');
    expect([await storedIn('F1'), await storedIn('F2')]).toEqual([[0], [1]]);
    peer.write(Buffer.concat([frame(adt('F3', 'LAB', 'WEST')), frame(adt('F4', 'LAB', 'NORTH'))]));
    const refused = await peer.next();
    expect(msaOf(refused)).toEqual({ code: 'AR', controlId: 'F3' });
    expect(refused).toMatch(/\rERR\|\|\|207\^/);
    expect(await peer.closed).toBe('');
    expect([await storedIn('F3'), await storedIn('F4')]).toEqual([[], []]);
  });

  test('an address that no key allows is closed without a word; allowed, it is served at once', async () => {
    const stranger = await from('203.0.113.5');
    stranger.write(frame(adt('S1')));
    expect(await stranger.closed).toBe('');
    await key(0, ['203.0.113.5']);
    const ack = await (await from('203.0.113.5')).exchange(adt('S2'));
    expect(msaOf(ack)).toEqual({ code: 'AA', controlId: 'S2' });
  });

  test('a key that is disabled ends its sender’s open connection at the next message', async () => {
    const { clientId } = await key(0, ['203.0.113.9']);
    const peer = await from('203.0.113.9');
    expect(msaOf(await peer.exchange(adt('D1'))).code).toBe('AA');
    await database.client.query(`update api_key set status = 'disabled' where client_id = $1`, [clientId]);
    expect(msaOf(await peer.exchange(adt('D2')))).toEqual({ code: 'AR', controlId: 'D2' });
    expect(await peer.closed).toBe('');
    expect(await storedIn('D2')).toEqual([]);
  });

  test('a message gets the same ACK through another sidecar, without shared state', async () => {
    const acks: string[] = [];
    for (const sidecar of [0, 1, 0]) acks.push(await (await from('192.0.2.1', sidecar)).exchange(adt('R1')));
    expect(msaOf(acks[0] ?? '')).toEqual({ code: 'AA', controlId: 'R1' });
    expect(new Set(acks).size).toBe(1);
    const together = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => (await from('192.0.2.1', n % 2)).exchange(adt('R2'))),
    );
    expect(new Set(together).size).toBe(1);
    expect(await storedIn('R2')).toHaveLength(1);
  });

  test('a key with two acknowledgements: CA and AA are separate frames, in this order, and again when the message is sent again', async () => {
    const { clientId } = await key(0, ['203.0.113.77']);
    await database.client.query('update api_key set hl7_accept_ack = true where client_id = $1', [clientId]);
    const asking = (controlId: string) => adt(controlId).replace('|2.5.1\r', '|2.5.1|||AL|AL\r');
    const codes = async (peer: MllpPeer) => [msaOf(await peer.next()), msaOf(await peer.next())];
    const peer = await from('203.0.113.77');
    peer.write(Buffer.concat([frame(asking('E1')), frame(asking('E2'))]));
    for (const controlId of ['E1', 'E2']) {
      expect(await codes(peer)).toEqual([
        { code: 'CA', controlId },
        { code: 'AA', controlId },
      ]);
    }
    const again = await from('203.0.113.77', 1);
    again.write(frame(asking('E1')));
    expect(await codes(again)).toEqual([
      { code: 'CA', controlId: 'E1' },
      { code: 'AA', controlId: 'E1' },
    ]);
    again.write(frame(adt('E3')));
    expect(msaOf(await again.next())).toEqual({ code: 'AA', controlId: 'E3' });
  });

  test('a message of 1 MiB of text is stored; one byte more is AR, and the connection remains usable', async () => {
    const ofLength = (controlId: string, bytes: number): string => {
      const start = `${adt(controlId)}ZZZ|`;
      return `${start}${'x'.repeat(bytes - start.length - 1)}\r`;
    };
    const peer = await from('192.0.2.1');
    expect(msaOf(await peer.exchange(ofLength('M1', MAX_TEXT_BYTES)))).toEqual({ code: 'AA', controlId: 'M1' });
    expect(msaOf(await peer.exchange(ofLength('M2', MAX_TEXT_BYTES + 1)))).toEqual({
      code: 'AR',
      controlId: 'M2',
    });
    expect(msaOf(await peer.exchange(adt('M3')))).toEqual({ code: 'AA', controlId: 'M3' });
    const { rows } = await database.client.query<{ bytes: number }>(
      `select octet_length(raw) as bytes from hl7_message where control_id = 'M1'`,
    );
    expect(rows).toEqual([{ bytes: MAX_TEXT_BYTES }]);
    expect(await storedIn('M2')).toEqual([]);
  });

  test('a message is one request id and one trace in the lines of the sidecar and of the edge', async () => {
    const telling = await startSidecar({
      edgeUrl: gateway.url,
      privateKey: gateway.secrets.sidecarPrivateKey,
      env: { LOG_LEVEL: 'debug' },
    });
    onTestFinished(() => telling.stop());
    await key(0, ['127.0.0.1']);
    const peer = await connectPeer({ port: telling.port });
    expect(msaOf(await peer.exchange(adt('I1')))).toEqual({ code: 'AA', controlId: 'I1' });
    const answered = await until('the answer is logged', () =>
      telling.logs().find((line) => line.includes('"event":"message.answered"')),
    );
    const { requestId, traceId, spanId } = JSON.parse(answered) as Readonly<Record<string, string>>;
    const ofEdge = (event: string) =>
      gateway.logs().find((line) => line.includes(`"event":"${event}"`) && line.includes(`"${requestId}"`));
    await until('the edge has logged the message', () => ofEdge('hl7.message'));
    const request = await until('the edge has logged the request', () => ofEdge('http.request'));
    expect(JSON.parse(request)).toMatchObject({ traceId, parentSpanId: spanId });
  });

  test('a sidecar whose key the gateway no longer knows acknowledges nothing, and its readiness has the reason', async () => {
    const { sidecarPrivateKey } = gateway.secrets;
    const unknown = await startSidecar({
      edgeUrl: gateway.url,
      privateKey: { ...sidecarPrivateKey, kid: 'another' },
      env: { FORWARD_RETRY_SECONDS: '0.5' },
    });
    onTestFinished(() => unknown.stop());
    const peer = await connectPeer({ port: unknown.port });
    peer.write(frame(adt('U1')));
    expect(await peer.closed).toBe('');
    const ready = await fetch(`http://127.0.0.1:${unknown.healthPort}/readyz`);
    const [status, text] = [ready.status, await ready.text()];
    expect([status, text]).toEqual([503, expect.stringContaining('rejected this sidecar')]);
    expect(text).toContain('not-recognised: key or clock');
    const said = () => unknown.logs().filter((line) => line.includes('"event":"edge.'));
    await until('it is logged', () => said().length > 0);
    expect(said().map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'error', event: 'edge.not-recognised', status: 404 },
    ]);
    expect(await storedIn('U1')).toEqual([]);
  });

  test('the connections of a sender are stored: open, closed by the sender, and rejected', async () => {
    const { clientId } = await key(0, ['203.0.113.78']);
    const connections = async () => {
      const { rows } = await database.client.query<{ what: string; connections: number; senders: string[] }>(
        `select coalesce(reason, 'open') as what, connections, senders from mllp_connection where client_id = $1 order by 1`,
        [clientId],
      );
      return rows.map(({ what, connections: count, senders }) => [what, count, senders.join()]);
    };
    const stored = (expected: readonly unknown[]) =>
      until('the report', async () => JSON.stringify(await connections()) === JSON.stringify(expected), 100_000);
    const peer = await from('203.0.113.78');
    expect(msaOf(await peer.exchange(adt('C1', 'LAB', 'NORTH')))).toMatchObject({ code: 'AA' });
    await stored([['open', 1, 'LAB / NORTH']]);
    peer.socket.end();
    (await from('203.0.113.78')).write('GET / HTTP/1.1\r\n\r\n');
    await stored([
      ['http', 1, ''],
      ['sender-closed', 1, 'LAB / NORTH'],
    ]);
  });
});
