/** The path between sidecar and edge: who may call it, which key a message belongs to, and the content of each refusal. */
import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { until } from '../../stack/services/until.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { sidecarToken } from '../../stack/tools/sidecar-token.ts';
import type { Subject } from './subject.ts';

const pid = (id: string) => `PID|1||${id}^^^HOSP^MR||Doe^Jane`;
const from = (application: string, facility: string, control?: string) =>
  msh('ADT^A01', control).replace('|LAB|HOSP|', `|${application}|${facility}|`);

export function mllpCases(subject: () => Subject): void {
  const mllpKey = (allowedIps: readonly string[], more: object = {}) =>
    createApiKey(subject().db.client, { site: subject().site, protocols: ['hl7-mllp'], allowedIps, ...more });
  const refusals = (clientId: string) =>
    subject().db.client.query<{ reason: string; code: string }>(
      'select reason, code from refusal where client_id = $1',
      [clientId],
    );

  test('messages are stored under the key of their address, in one round trip once it is known', async () => {
    const key = await mllpKey(['192.0.2.10']);
    await subject().forward(`${from('A1', 'F1', 'M-0')}\n${pid('M0')}`);
    const before = subject().db.endpoint.requests();
    const reply = await subject().forward(`${from('A1', 'F1', 'M-1')}\n${pid('M1')}`);
    expect(subject().db.endpoint.requests() - before).toBe(1);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('application/hl7-v2');
    expect(reply.headers.get('mllp-connection')).toBe('keep');
    expect(reply.text).toContain('\rMSA|AA|M-1\r');
    expect(await subject().count(`from hl7_message where client_id = '${key.clientId}' and source = 'mllp'`)).toBe(2);
  });

  test('answers 204 without an ACK if the sender requests none', async () => {
    const reply = await subject().forward(`${msh('ADT^A01')}|||NE|NE\n${pid('M1')}`);
    expect(reply).toMatchObject({ status: 204, text: '' });
  });

  test('filters that are set beat those that are not; a longer prefix beats a shorter', async () => {
    const range = await mllpKey(['198.51.100.0/24']);
    const single = await mllpKey(['198.51.100.7']);
    const named = await mllpKey(['*'], { senderApplication: 'NAMED' });
    const src = '198.51.100.7';
    const sent = (key: { clientId: string }) => subject().count(`from hl7_message where client_id = '${key.clientId}'`);
    await subject().forward(`${from('X', 'Y')}\n${pid('M2')}`, { src });
    expect(await sent(single)).toBe(1);
    await subject().forward(`${from('NAMED', 'Y')}\n${pid('M2')}`, { src });
    expect(await sent(named)).toBe(1);
    await subject().forward(`${from('X', 'Y')}\n${pid('M2')}`, { src: '::ffff:198.51.100.8' });
    expect(await sent(range)).toBe(1);
  });

  test('a range matches in any spelling', async () => {
    const key = await mllpKey(['::ffff:198.18.7.128/121']);
    for (const src of ['198.18.7.130', '::ffff:198.18.7.131', '::ffff:c612:784', '0:0:0:0:0:FFFF:198.18.7.133']) {
      expect((await subject().forward(`${from('X', 'Y')}\n${pid('M7')}`, { src })).status).toBe(200);
    }
    expect(await subject().count(`from hl7_message where client_id = '${key.clientId}'`)).toBe(4);
  });

  test('no key of another site gets a sender’s messages, with any names', async () => {
    const { client } = subject().db;
    const victim = await mllpKey(['192.0.2.44']);
    const other = await createSite(client, { addresses: [] });
    const theirs = { site: other, protocols: ['hl7-mllp'], senderApplication: 'VICTIM', senderFacility: 'WARD' };
    for (const range of ['*', '0.0.0.0/0', '192.0.2.44', '::ffff:192.0.2.44', '192.0.2.0/24', '::/0']) {
      await expect(createApiKey(client, { ...theirs, allowedIps: [range] })).rejects.toMatchObject({ code: 'GW423' });
    }
    // The key is older than the operator's assignment of the addresses.
    await createApiKey(client, { ...theirs, protocols: ['hl7'], allowedIps: ['*'] });
    await client.query(`update api_key set protocols = '{hl7-mllp}' where site_id = $1`, [other]);
    const reply = await subject().forward(`${from('VICTIM', 'WARD', 'V-1')}\n${pid('V1')}`, { src: '192.0.2.44' });
    expect(reply.text).toContain('\rMSA|AA|V-1\r');
    expect(await subject().count(`from hl7_message where client_id = '${victim.clientId}'`)).toBe(1);
    expect(await subject().count(`from hl7_message where site_id = '${other}'`)).toBe(0);
    // Nor do they learn of it when it is refused.
    await subject().forward(`${from('VICTIM', 'WARD')}\n${pid('V1')}`, { src: '192.0.2.45' });
    expect(await subject().count(`from refusal where site_id = '${other}'`)).toBe(0);
  });

  test('a key that names a certificate gets messages of its bearer alone, which are stored with it', async () => {
    const key = await mllpKey(['192.0.2.50'], { tlsSubject: 'C=DE, CN=lab' });
    const send = (claims: object) =>
      subject().forward(`${from('X', 'Y')}\n${pid('T1')}`, { src: '192.0.2.50', ...claims });
    expect((await send({})).errors).toEqual(['E 207 ']);
    expect((await send({ tls: 'C=DE, CN=lab2' })).errors).toEqual(['E 207 ']);
    expect((await send({ tls: 'C=DE, CN=lab' })).text).toContain('\rMSA|AA|');
    const kept = `from hl7_message where client_id = '${key.clientId}' and tls_subject = 'C=DE, CN=lab'`;
    expect(await subject().count(kept)).toBe(1);
  });

  test('an unknown address: AR 207, the connection ends, the administrator learns why', async () => {
    const key = await mllpKey(['203.0.113.1'], { senderApplication: 'ONLY', senderFacility: 'HERE' });
    const reply = await subject().forward(`${from('ONLY', 'HERE', 'M-unknown')}\n${pid('M3')}`, {
      src: '203.0.113.99',
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('mllp-connection')).toBe('close');
    expect(reply.text).toContain('\rMSA|AR|M-unknown|');
    expect(reply.errors).toEqual(['E 207 ']);
    expect(reply.text).not.toMatch(/203\.0\.113|Allowed IPs/);
    const found = await until('the refusal', async () => (await refusals(key.clientId)).rows[0]);
    expect(found).toMatchObject({ code: 'no-key', reason: 'the source address 203.0.113.99 is not in Allowed IPs' });
  });

  test('a sidecar with registered ranges and sites forwards for no other: AR 207, stored nowhere', async () => {
    const { client } = subject().db;
    const by = subject().boundSidecar;
    const mine = await mllpKey(['192.0.2.64/27']);
    await mllpKey(['192.0.2.200'], { tlsSubject: 'CN=theirs' });
    const send = (control: string, src: string, claims: object = {}) =>
      subject().forward(`${from('X', 'Y', control)}\n${pid('S1')}`, { src, ...claims }, { by });
    expect((await send('S-1', '192.0.2.70')).text).toContain('\rMSA|AA|S-1');
    const outside = await send('S-2', '192.0.2.200', { tls: 'CN=theirs' });
    expect(outside.errors).toEqual(['E 207 ']);
    expect(outside.text).toContain('\rMSA|AR|S-2|');
    expect(outside.headers.get('mllp-connection')).toBe('close');
    expect(outside.text).not.toMatch(/range|sidecar/);

    const other = await createSite(client, { addresses: [] });
    await client.query(`insert into site_address (site_id, range, assigned_by) values ($1, '192.0.2.100', 'test')`, [
      other,
    ]);
    const allowed = { protocols: ['hl7-mllp'], allowedIps: ['*'], senderApplication: 'THEIRS' };
    await createApiKey(client, { site: other, ...allowed });
    const theirs = (control: string, more: object = {}) =>
      subject().forward(`${from('THEIRS', 'Y', control)}\n${pid('S1')}`, { src: '192.0.2.100' }, more);
    expect((await theirs('S-3', { by })).errors).toEqual(['E 207 ']);
    // Also where the gateway knows the sender by another sidecar, which speaks for all.
    expect((await theirs('S-4')).text).toContain('\rMSA|AA|S-4');
    expect((await theirs('S-5', { by })).errors).toEqual(['E 207 ']);
    expect(await subject().count("from hl7_message where control_id in ('S-2', 'S-3', 'S-5')")).toBe(0);
    expect(await subject().count(`from hl7_message where client_id = '${mine.clientId}'`)).toBe(1);
  });

  test('an address of two sites: AR 207, stored nowhere, and both administrators see the reason', async () => {
    const { client } = subject().db;
    const other = await createSite(client, { addresses: [] });
    const ours = await mllpKey(['203.0.113.50']);
    // The test writes the row itself, since no command of the gateway allows it.
    await client.query(`insert into site_address (site_id, range, assigned_by) values ($1, '203.0.113.50', 'test')`, [
      other,
    ]);
    const allowed = { protocols: ['hl7-mllp'], allowedIps: ['*'], senderApplication: 'X' };
    const theirs = await createApiKey(client, { site: other, ...allowed });
    const reply = await subject().forward(`${from('X', 'Y', 'BOTH')}\n${pid('M4')}`, { src: '203.0.113.50' });
    expect(reply.errors).toEqual(['E 207 ']);
    expect(await subject().count("from hl7_message where control_id = 'BOTH'")).toBe(0);
    for (const key of [ours, theirs]) {
      const found = await until('the refusal', async () => (await refusals(key.clientId)).rows[0]);
      expect(found.code).toBe('ambiguous');
    }
  });

  test('a message without a readable MSH is kept and answered', async () => {
    await mllpKey(['203.0.113.60']);
    const reply = await subject().forward('garbage', { src: '203.0.113.60' });
    expect(reply.status).toBe(200);
    expect(reply.errors).toEqual(['E 100 MSH^1', 'E 101 MSH^1^10']);
  });

  test('the answer lists the allowed ranges, each once and in one spelling', async () => {
    await mllpKey(['2001:db8::/32', '10.0.0.0/8']);
    await mllpKey(['2001:DB8:0::1/32', '10.1.2.3/8', '::ffff:10.0.0.0/104']);
    const reply = await subject().forward('', {}, { method: 'GET', path: '/internal/mllp/allowed-ranges' });
    expect(reply.status).toBe(200);
    const { ranges, maxAgeSeconds } = JSON.parse(reply.text) as { ranges: string[]; maxAgeSeconds: number };
    expect(ranges).toEqual(expect.arrayContaining(['2001:db8::/32', '10.0.0.0/8']));
    expect(ranges.filter((range) => /^10\.|^2001:/i.test(range))).toHaveLength(2);
    expect(maxAgeSeconds).toBeGreaterThan(0);
  });

  test('for all other callers the path is not found', async () => {
    const now = Math.floor(Date.now() / 1000);
    const message = `${msh('ADT^A01')}\n${pid('M5')}`;
    const stored = await subject().count('from hl7_message');
    const wrong: readonly (readonly [Record<string, unknown>, Parameters<Subject['forward']>[2]])[] = [
      [{ aud: 'svc-fhir' }, {}],
      [{ aud: ['svc-mllp-ingest', 'svc-fhir'] }, {}],
      [{ sha256: 'A'.repeat(43) }, {}],
      [{ iat: now - 300, exp: now - 200 }, {}],
      [{ iat: now, exp: now + 3600 }, {}],
      [{ iat: now + 120, exp: now + 180 }, {}],
      [{ jti: 'not-a-uuid' }, {}],
      [{ src: undefined }, {}],
      [{}, { header: { typ: 'JWT' } }],
      [{}, { header: { kid: 'another' } }],
      [{}, { token: subject().token }],
      [{}, { token: 'a.b.c' }],
      [{}, { token: '' }],
      [{}, { method: 'PUT' }],
    ];
    for (const [claims, init] of wrong) {
      const reply = await subject().forward(message, claims, init);
      expect({ claims, init, status: reply.status, text: reply.text }).toEqual({ claims, init, status: 404, text: '' });
    }
    expect(await subject().count('from hl7_message')).toBe(stored);
  });

  test('a token is valid for its message alone, which gets the same answer each time', async () => {
    const message = bytesOf(`${msh('ADT^A01', 'M-6')}\n${pid('M6')}`);
    const token = sidecarToken(subject().gateway, message, { jti: randomUUID() });
    const first = await subject().forward(message, {}, { token });
    expect(await subject().forward(message, {}, { token })).toMatchObject({ status: 200, text: first.text });
    expect(await subject().count(`from hl7_message where control_id = 'M-6'`)).toBe(1);
    const other = bytesOf(`${msh('ADT^A01', 'M-7')}\n${pid('M6')}`);
    expect((await subject().forward(other, {}, { token })).status).toBe(404);
    expect(await subject().count(`from hl7_message where control_id = 'M-7'`)).toBe(0);
  });

  test('the gateway stores a sidecar’s state when it asks for the ranges, and answers also if the state is unreadable', async () => {
    const { gateway, db } = subject();
    const ask = (state: object) => {
      const token = sidecarToken(gateway, new Uint8Array(0), { jti: randomUUID(), iss: 'ward-9', state });
      return subject().forward('', {}, { method: 'GET', path: '/internal/mllp/allowed-ranges', token });
    };
    expect((await ask({ version: 7 })).status).toBe(200);
    expect((await ask({ version: '1.2.3', connections: 4, later: true })).status).toBe(200);
    const noted = await until('it is noted', async () => {
      const { rows } = await db.client.query<{ version: string | null; connections: number | null }>(
        `select version, connections from sidecar_seen where issuer = 'ward-9' and reported_at is not null`,
      );
      return rows[0];
    });
    expect(noted).toEqual({ version: '1.2.3', connections: 4 });
  });

  test('a report of connections is stored for the keys of their messages, once, and only for sites of the sidecar', async () => {
    const { gateway, db } = subject();
    const key = await mllpKey(['203.0.113.90']);
    const answered = await subject().forward(`${msh('ADT^A01', 'CONN')}\n${pid('M9')}`, { src: '203.0.113.90' });
    const sender = answered.headers.get('mllp-sender') ?? '';
    expect(sender.split('/').slice(1)).toEqual([key.clientId, 'LAB', 'HOSP']);
    const [run, opened] = [randomUUID(), Date.now() - 60_000];
    const record = (over: object) => ({
      id: randomUUID(),
      src: '203.0.113.90',
      isTls: true,
      tls: 'CN=lab',
      senders: [sender],
      openedAt: opened,
      closedAt: null,
      reason: null,
      connections: 1,
      ...over,
    });
    const closed = { closedAt: opened + 1000, reason: 'sender-closed' };
    const send = (report: object, claims: object = {}, by?: Subject['boundSidecar']) => {
      const text = JSON.stringify(report);
      const token = sidecarToken(gateway, bytesOf(text), { jti: randomUUID(), iss: 'ward-9', ...claims }, {}, by);
      return subject().forward(text, {}, { path: '/internal/mllp/connections', token });
    };
    const stored = async () => {
      const { rows } = await db.client.query<{
        is_open: boolean;
        connections: number;
        tls_subject: string;
        reason: string | null;
      }>(
        `select closed_at is null as is_open, connections, tls_subject, reason from mllp_connection
          where client_id = $1 order by is_open, reason`,
        [key.clientId],
      );
      return rows.map((row) => [row.is_open ? 'open' : row.reason, row.connections, row.tls_subject]);
    };
    const again = record(closed);
    const report = {
      run,
      open: [record({})],
      closed: [
        again,
        // It belongs to its address only: without the subject.
        record({ ...closed, senders: [], tls: undefined, reason: 'tls-handshake', connections: 7 }),
        // An unknown address, an unknown key, and a value that is not the gateway's.
        record({ ...closed, senders: [], src: '203.0.113.91' }),
        record({ ...closed, senders: [`${randomUUID()}/svc-x//`] }),
        record({ ...closed, senders: ['%E0%A4/x'], src: '203.0.113.92' }),
      ],
    };
    // The rows of one report do not see each other: the address is known from the next one.
    expect((await send({ run, open: [record({})], closed: [] })).status).toBe(204);
    for (let n = 0; n < 2; n += 1) expect((await send(report)).status).toBe(204);
    expect(await stored()).toEqual([
      ['sender-closed', 1, 'CN=lab'],
      ['tls-handshake', 7, ''],
      ['open', 1, 'CN=lab'],
    ]);
    // A record that has grown replaces the earlier one, and the open ones are replaced.
    expect((await send({ run, open: [], closed: [{ ...again, connections: 3 }] })).status).toBe(204);
    expect(await stored()).toEqual([
      ['sender-closed', 3, 'CN=lab'],
      ['tls-handshake', 7, ''],
    ]);
    const elsewhere = await createApiKey(db.client, { site: await createSite(db.client), protocols: ['hl7'] });
    const foreign = { run, open: [record({ senders: [`${elsewhere.site}/${elsewhere.clientId}//`] })], closed: [] };
    expect((await send(foreign, {}, subject().boundSidecar)).status).toBe(204);
    expect(await subject().count(`from mllp_connection where client_id = '${elsewhere.clientId}'`)).toBe(0);
    expect((await send({ run, open: [{ ...record({}), reason: 'DROP TABLE' }], closed: [] })).status).toBe(422);
    expect((await subject().forward('[', {}, { path: '/internal/mllp/connections' })).status).toBe(422);
    expect((await send({ run, open: [], closed: [] }, { aud: 'svc-fhir' })).status).toBe(404);
    expect(await stored()).toHaveLength(2);
  });

  test('a token for the ranges is valid once', async () => {
    const path = '/internal/mllp/allowed-ranges';
    const token = sidecarToken(subject().gateway, new Uint8Array(0), { jti: randomUUID() });
    expect((await subject().forward('', {}, { method: 'GET', path, token })).status).toBe(200);
    expect((await subject().forward('', {}, { method: 'GET', path, token })).status).toBe(404);
  });
}
