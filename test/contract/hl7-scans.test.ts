/** Scanned documents in HL7 messages: 10 MiB over HTTP and MLLP, stored once in a site, and the bytes that an isolate holds. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { getToken } from '../stack/services/client.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { startSidecar, type SidecarProcess } from '../stack/services/sidecar.ts';
import { until } from '../stack/services/until.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { type Gateway, ONE_RUNTIME, startGateway } from '../stack/tools/gateway.ts';
import { msh } from '../stack/tools/hl7-text.ts';
import { connectPeer, msaOf } from '../stack/tools/mllp-peer.ts';
import { sized } from '../stack/tools/size.ts';

const MIB = 1024 * 1024;
/** The default of HL7_MAX_MESSAGE_BYTES. */
const MAX_HL7_MESSAGE_BYTES = 10 * MIB;

/** A PDF of this many bytes, no two alike. */
const pdf = (bytes: number): Buffer => Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(bytes - 9)]);
const inLines = (base64: string): string => (base64.match(/.{1,76}/g) ?? []).join('\\.br\\');
const mdm = (patient: string, number: string, base64: string): string =>
  [
    msh('MDM^T02'),
    `PID|1||${patient}^^^HOSP^MR||Scan^Ada||19700101|F`,
    `TXA|1|OP^Operative^L|AP|||||||||${number}|||||AU`,
    `OBX|1|ED|PDF^Scan^L||^AP^PDF^Base64^${base64}||||||F`,
    '',
  ].join('\r');

describe.each(ONE_RUNTIME)('on %s', (runtime) => {
  let db: TestDatabase;
  let gateway: Gateway;
  let small: Gateway;
  let sidecar: SidecarProcess;
  let [site, token, smallToken, read] = ['', '', '', ''];

  const tokenOf = async (
    of: string,
    protocol: 'hl7' | 'fhir',
    audience: 'svc-hl7-http' | 'svc-fhir',
    { oauthBaseUrl } = gateway,
  ) => getToken(oauthBaseUrl, await createApiKey(db.client, { site: of, protocols: [protocol] }), { audience });
  const post = async (message: string, by = token, { hl7BaseUrl } = gateway) => {
    const headers = { authorization: `Bearer ${by}`, 'content-type': 'text/plain' };
    const response = await fetch(`${hl7BaseUrl}/hl7/messages`, { method: 'POST', headers, body: message });
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() };
  };
  const fhir = async (path: string, by = read, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${by}`, ...(init.headers as Record<string, string> | undefined) };
    const response = await fetch(`${gateway.fhirBaseUrl}/fhir/${path}`, { ...init, headers });
    return { status: response.status, text: await response.text() };
  };
  const documentOf = async (patient: string): Promise<string> => {
    const { rows } = await db.client.query<{ id: string }>(
      `select r.id from resource r join patient_identity i on i.site_id = r.site_id and i.id = r.patient_id
        where i.value = $1 and r.type = 'DocumentReference'`,
      [patient],
    );
    expect(rows).toHaveLength(1);
    return rows[0]?.id ?? '';
  };
  const stored = async (of = site) => {
    const { rows } = await db.client.query<{ documents: number; bytes: number; uses: number }>(
      `select count(*)::int as documents, coalesce(sum(octet_length(content)), 0)::int as bytes,
              (select count(*)::int from document_use u where u.site_id = $1) as uses
         from document where site_id = $1`,
      [of],
    );
    return rows[0];
  };

  beforeAll(async () => {
    db = await createTestDatabase();
    site = await createSite(db.client, { addresses: ['127.0.0.1'] });
    gateway = await startGateway({ runtime, database: db });
    const env = { MAX_HELD_BYTES: String(MIB) };
    small = await startGateway({ runtime, database: db, secrets: gateway.secrets, env });
    sidecar = await startSidecar({ edgeUrl: gateway.url, privateKey: gateway.secrets.sidecarPrivateKey });
    await createApiKey(db.client, { site, protocols: ['hl7-mllp'], allowedIps: ['127.0.0.1'] });
    token = await tokenOf(site, 'hl7', 'svc-hl7-http');
    smallToken = await tokenOf(site, 'hl7', 'svc-hl7-http', small);
    read = await tokenOf(site, 'fhir', 'svc-fhir');
  });
  afterAll(async () => {
    await sidecar?.stop();
    await small?.kill();
    await gateway?.kill();
    await db?.drop();
  });

  /** The largest document whose message is not too large. */
  const largest = (patient: string, number: string): Buffer =>
    pdf(Math.floor((MAX_HL7_MESSAGE_BYTES - mdm(patient, number, '').length) / 4) * 3);

  test('a scan of 10 MiB arrives over HTTP, is stored once, and is read byte for byte', async () => {
    const before = await stored();
    const content = largest('P1', 'D1');
    const base64 = content.toString('base64');
    const first = await post(mdm('P1', 'D1', base64));
    expect(first).toMatchObject({ status: 200 });
    // Another message, of another patient.
    expect(await post(mdm('P2', 'D2', base64))).toMatchObject({ status: 200 });
    const after = await stored();
    expect(after).toMatchObject({
      documents: (before?.documents ?? 0) + 1,
      bytes: (before?.bytes ?? 0) + content.length,
      uses: (before?.uses ?? 0) + 4,
    });
    const { rows } = await db.client.query<{ bytes: number }>(
      `select sum(octet_length(raw))::int as bytes from hl7_message where raw::text is not null and site_id = $1`,
      [site],
    );
    expect(rows[0]?.bytes).toBeLessThan(10_000);

    const id = await documentOf('P1');
    const resource = JSON.parse((await fhir(`DocumentReference/${id}`)).text);
    const everything = `${resource.subject.reference}/$everything?_count=1&_type=DocumentReference`;
    expect(resource.content[0].attachment.data === base64).toBe(true);
    const paths = [
      `DocumentReference/${id}/_history/1`,
      `DocumentReference/${id}/_history`,
      `DocumentReference?_id=${id}`,
      `DocumentReference?patient=${resource.subject.reference}`,
      everything,
    ];
    for (const path of paths) {
      expect((await fhir(path)).text.includes(`"data":"${base64}"`), path).toBe(true);
    }
  });

  test('a scan of 10 MiB arrives over MLLP', async () => {
    const content = largest('P3', 'D3').toString('base64');
    const message = mdm('P3', 'D3', content);
    const peer = await connectPeer({ port: sidecar.port });
    expect(msaOf(await peer.exchange(message)).code).toBe('AA');
    // The same bytes again.
    expect(msaOf(await peer.exchange(message)).code).toBe('AA');
    peer.destroy();
    expect((await fhir(`DocumentReference/${await documentOf('P3')}`)).text.includes(content)).toBe(true);
  });

  test('base64 in lines is the same document', async () => {
    const base64 = pdf(50_000).toString('base64');
    const before = await stored();
    await post(mdm('P4', 'D4', base64));
    expect(await post(mdm('P5', 'D5', inLines(base64)))).toMatchObject({ status: 200 });
    expect(await stored()).toMatchObject({ documents: (before?.documents ?? 0) + 1 });
    expect((await fhir(`DocumentReference/${await documentOf('P5')}`)).text).toContain(`"data":"${base64}"`);
  });

  test('a FHIR client that changes another element stores no document again, and changes none', async () => {
    const base64 = pdf(30_000).toString('base64');
    await post(mdm('P6', 'D6', base64));
    const id = await documentOf('P6');
    const before = await stored();
    const json = { 'content-type': 'application/fhir+json' };
    const { text } = await fhir(`DocumentReference/${id}`);
    const write = await tokenOf(site, 'fhir', 'svc-fhir');
    const same = await fhir(`DocumentReference/${id}`, write, { method: 'PUT', headers: json, body: text });
    expect(JSON.parse(same.text)).toMatchObject({ meta: { versionId: '1' } });
    const patch = JSON.stringify([{ op: 'add', path: '/description', value: 'Scan' }]);
    const headers = { 'content-type': 'application/json-patch+json' };
    const patched = await fhir(`DocumentReference/${id}`, write, { method: 'PATCH', headers, body: patch });
    expect(JSON.parse(patched.text)).toMatchObject({ meta: { versionId: '2' }, description: 'Scan' });
    expect((await fhir(`DocumentReference/${id}`)).text).toContain(`"data":"${base64}"`);
    expect(await stored()).toEqual(before);
    const { rows } = await db.client.query('select from resource where id = $1 and octet_length(body) < 3000', [id]);
    expect(rows).toHaveLength(1);
  });

  test('another site with the same bytes stores its own, and has none of this one', async () => {
    const other = await createSite(db.client);
    const theirs = await tokenOf(other, 'hl7', 'svc-hl7-http');
    const base64 = pdf(40_000).toString('base64');
    const before = await stored();
    await post(mdm('P7', 'D7', base64));
    expect(await stored(other)).toMatchObject({ documents: 0 });
    await post(mdm('P8', 'D8', base64), theirs);
    expect(await stored(other)).toMatchObject({ documents: 1, uses: 2 });
    expect(await stored()).toMatchObject({ documents: (before?.documents ?? 0) + 1, uses: (before?.uses ?? 0) + 2 });
  });

  test('a message that is too large is rejected with the setting’s name', async () => {
    const base64 = 'QUFB'.repeat(MAX_HL7_MESSAGE_BYTES / 4);
    const reply = await post(mdm('P9', 'D9', base64));
    expect(reply).toMatchObject({ status: 413 });
    expect(reply.text).toContain(`HL7_MAX_MESSAGE_BYTES (${MAX_HL7_MESSAGE_BYTES} bytes)`);
    const text = await post(`${mdm('P9', 'D9', 'QUFB')}ZZZ|${'x'.repeat(MIB)}\r`);
    expect(text).toMatchObject({ status: 413 });
    expect(text.text).toContain('HL7_MAX_TEXT_BYTES');
    const peer = await connectPeer({ port: sidecar.port });
    const ack = await peer.exchange(mdm('P9', 'D9', base64));
    expect(msaOf(ack).code).toBe('AR');
    expect(ack).toContain('MLLP_MAX_FRAME_BYTES');
    expect(msaOf(await peer.exchange(`${mdm('P9', 'D9', 'QUFB')}ZZZ|${'x'.repeat(MIB)}\r`)).code).toBe('AR');
    expect(msaOf(await peer.exchange(mdm('P9', 'D9', 'QUFB'))).code).toBe('AA');
    peer.destroy();
  });

  /** Declares a body of 1 MiB, and sends its first bytes. The gateway reads them soon. */
  const startBody = (by: string): Socket => {
    const { port, hostname, pathname } = new URL(`${small.hl7BaseUrl}/hl7/messages`);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${by}\r\n` +
        `Content-Type: text/plain\r\nContent-Length: ${MIB}\r\n\r\nMSH|`,
    );
    return socket;
  };

  let scans = 0;
  /** A message with a new document of a new patient. */
  const anyScan = (): string => {
    scans += 1;
    return mdm(`W${scans}`, `W${scans}`, pdf(400_000).toString('base64'));
  };

  test('beyond MAX_HELD_BYTES messages wait; what waits too long is 503, and is stored when it is sent again', async () => {
    const messages = Array.from({ length: sized(6, 17) }, anyScan);
    const replies = await Promise.all(messages.map((message) => post(message, smallToken, small)));
    expect(replies.map(({ status }) => status)).toEqual(messages.map(() => 200));

    // A body that does not arrive holds its place.
    const stuck = startBody(smallToken);
    const [late, refused] = await until('the body has its place', async () => {
      const message = anyScan();
      const reply = await post(message, smallToken, small);
      return reply.status !== 200 && ([message, reply] as const);
    });
    expect(refused).toMatchObject({ status: 503, retryAfter: '5' });
    expect(refused.text).toContain('MAX_HELD_BYTES');
    expect(refused.text).not.toContain('MSA|');
    stuck.destroy();
    expect(await post(late, smallToken, small)).toMatchObject({ status: 200 });
  });

  test('over MLLP a message that waits too long has no ACK, and is stored when it is sent again', async () => {
    const env = { FORWARD_RETRY_SECONDS: '1' };
    const toSmall = await startSidecar({ edgeUrl: small.url, privateKey: gateway.secrets.sidecarPrivateKey, env });
    try {
      const other = await createSite(db.client);
      /** @returns false if the connection is closed without an ACK */
      const isStored = async (message: string) => {
        const peer = await connectPeer({ port: toSmall.port });
        const ack = await peer.exchange(message).catch(() => undefined);
        peer.destroy();
        if (ack !== undefined) expect(msaOf(ack).code).toBe('AA');
        return ack !== undefined;
      };
      /** Sends again after a closed connection, as senders do: on a busy machine, a message takes longer than the retries. */
      const store = (message: string) => until('AA', () => isStored(message));
      // One site alone does not delay the messages of another source.
      const stuck = [startBody(smallToken)];
      await store(anyScan());
      stuck.push(startBody(await tokenOf(other, 'hl7', 'svc-hl7-http', small)));
      const message = await until('both bodies have their places', async () => {
        const scan = anyScan();
        return !(await isStored(scan)) && scan;
      });
      for (const each of stuck) each.destroy();
      await store(message);
    } finally {
      await toSmall.stop();
    }
  });
});
