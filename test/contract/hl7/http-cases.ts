/** `POST /hl7/messages`: who may send, which messages are accepted, and that the status never contradicts the ACK. */
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import type { Runtime } from '../../stack/tools/gateway.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { testOfOne } from '../on-runtimes.ts';
import { replyOf, type Subject } from './subject.ts';

/** For a number without a system, name and birth date identify the patient. */
const JANE = { name: [{ family: 'Doe', given: ['Jane'] }], birthDate: '1980-02-29' };
const pid = (id: string) => `PID|1||${id}^^^HOSP^MR||Doe^Jane||19800229|F`;

export function httpCases(subject: () => Subject, runtime: Runtime): void {
  const ofOne = testOfOne(runtime);
  const url = () => `${subject().gateway.hl7BaseUrl}/hl7/messages`;
  const withToken = (token: string) =>
    subject().post(`${msh('ADT^A01')}\n${pid('H0')}`, { authorization: `Bearer ${token}` });

  test('a message is stored, answered with AA and 200, in two round trips', async () => {
    const { db } = subject();
    const before = db.endpoint.requests();
    const reply = await subject().post(`${msh('ADT^A01', 'H-1')}\n${pid('H1')}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(reply.headers.get('x-request-id')).toBeTruthy();
    expect(reply.text).toMatch(
      /^MSH\|\^~\\&\|GATEWAY\|SITE\|LAB\|HOSP\|[^\r]*\|ACK\^A01\^ACK\|[^\r]+\rMSA\|AA\|H-1\r$/,
    );
    expect(db.endpoint.requests() - before).toBe(2);
    expect(await subject().count(`from hl7_message where control_id = 'H-1'`)).toBe(1);
  });

  test('a gzip message is stored as its content, which the size limit counts; another coding is 415', async () => {
    const gzip = { 'content-encoding': 'gzip' };
    const text = `${msh('ADT^A01', 'H-GZ')}\n${pid('HGZ')}`;
    const reply = await subject().post(gzipSync(bytesOf(text)), gzip);
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('MSA|AA|H-GZ')]);
    expect(await subject().count(`from hl7_message where control_id = 'H-GZ'`)).toBe(1);
    const large = `${msh('ADT^A01', 'H-BOMB')}\n${pid('HGZ')}\nNTE|1||${'x'.repeat(11 * 1024 * 1024)}`;
    const bomb = await subject().post(gzipSync(bytesOf(large)), gzip);
    expect([bomb.status, bomb.text]).toEqual([413, expect.stringContaining('MSA|AR|H-BOMB')]);
    const br = await subject().post(text, { 'content-encoding': 'br' });
    expect([br.status, br.headers.get('accept-encoding')]).toEqual([415, 'gzip']);
  });

  ofOne('a message about more patients than allowed is rejected permanently, and kept', async () => {
    const pids = Array.from({ length: 101 }, (_, at) => pid(`X${at}`)).join('\n');
    const reply = await subject().post(`${msh('ADT^A08', 'H-101')}\n${pids}`);
    expect([reply.status, reply.headers.get('retry-after'), reply.errors]).toEqual([422, null, ['E 207 PID^101']]);
    expect(await subject().count(`from hl7_message where control_id = 'H-101' and not has_failed`)).toBe(1);
  });

  ofOne('a message that concerns 16 MiB of stored data is processed; a byte more is rejected permanently', async () => {
    const { db, site } = subject();
    const send = (id: string) => subject().post(`${msh('ADT^A08', id)}\n${pid('BIG')}`);
    await send('H-BIG');
    const grow = async (characters: number): Promise<void> => {
      await db.client.query(
        `update resource r set body = r.body || repeat(' ', $1) from patient_identity i
          where i.site_id = $2 and i.value = 'BIG' and r.site_id = i.site_id and r.type = 'Patient' and r.id = i.id`,
        [characters, site],
      );
    };
    const { rows } = await db.client.query<{ bytes: number }>(
      `select sum(512 + octet_length(key) + octet_length(meta) + octet_length(body) + coalesce(octet_length(contributions), 0))::int
              as bytes from hl7_matches($1, '{BIG}', '{}', '{}')`,
      [site],
    );
    await grow(16 * 1024 * 1024 - (rows[0]?.bytes ?? 0));
    expect(await send('H-BIG-1')).toMatchObject({ status: 200, errors: [] });
    await grow(1);
    const reply = await send('H-BIG-2');
    expect([reply.status, reply.headers.get('retry-after'), reply.errors]).toEqual([422, null, ['E 207 MSH^1']]);
    expect(reply.text).toContain('too-much-stored');
    expect(await subject().count(`from hl7_message where control_id = 'H-BIG-2' and not has_failed`)).toBe(1);
  });

  ofOne('a search over FHIR finds the resources of messages, type by type', async () => {
    const { db, gateway, site } = subject();
    await subject().post(`${msh('ADT^A01')}
      ${pid('H2')}
      AL1|1|DA|PEN^Penicillin^L|SV|Rash
      DG1|1||I10^Hypertension^I10||20260101|F
      PR1|1||99213^Visit^C4||202601010900`);
    await subject().post(`${msh('ORU^R01')}
      ${pid('H2')}
      OBR|1||F-H2|24323-8^Panel^LN|||20260101||||||||||||||||||F
      OBX|1|NM|2345-7^Glucose^LN||5.50|mg/dL^^UCUM|||||F`);
    await subject().post(`${msh('MDM^T02')}
      ${pid('H2')}
      TXA|1|OP^Operative^L|TX|||||||||DOC-H2|||||AU
      OBX|1|TX|OP^Operative^L||text||||||F`);

    const reader = await createApiKey(db.client, { site });
    const token = await getToken(gateway.oauthBaseUrl, reader, { audience: 'svc-fhir' });
    const search = async (query: string) => {
      const headers = { authorization: `Bearer ${token}`, accept: 'application/fhir+json' };
      const response = await fetch(`${gateway.fhirBaseUrl}/fhir/${query}`, { headers });
      const text = await response.text();
      const bundle = JSON.parse(text) as { entry?: { resource: { id: string } }[] };
      return { text, resources: (bundle.entry ?? []).map(({ resource }) => resource) };
    };
    const { resources: patients } = await search('Patient?identifier=H2&name=doe&birthdate=1980-02-29');
    expect(patients).toMatchObject([{ resourceType: 'Patient', gender: 'female' }]);
    const patient = `Patient/${patients[0]?.id}`;
    for (const query of [
      `AllergyIntolerance?patient=${patient}&clinical-status=active&code=PEN`,
      // A local coding system without a URI.
      `AllergyIntolerance?patient=${patient}&code=${gateway.fhirBaseUrl}/fhir/sites/${site}/code-systems/L|PEN`,
      `Condition?patient=${patient}&clinical-status=active&code=http://hl7.org/fhir/sid/icd-10|I10`,
      `Procedure?patient=${patient}&code=99213`,
      `DiagnosticReport?patient=${patient}&status=final`,
      `DocumentReference?patient=${patient}&type=OP`,
    ]) {
      const { resources } = await search(query);
      expect({ query, found: resources.length }).toEqual({ query, found: 1 });
    }
    const { text, resources } = await search(`Observation?patient=${patient}&code=http://loinc.org|2345-7`);
    expect(resources).toHaveLength(1);
    expect(text).toContain('"value":5.50');
  });

  test('a message and a simultaneous conditional create about one new patient make one patient', async () => {
    const { db, gateway, site } = subject();
    const writer = await createApiKey(db.client, { site });
    const token = await getToken(gateway.oauthBaseUrl, writer, { audience: 'svc-fhir' });
    const create = (value: string) =>
      fetch(`${gateway.fhirBaseUrl}/fhir/Patient`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/fhir+json',
          'if-none-exist': `identifier=${value}`,
        },
        body: JSON.stringify({ ...JANE, resourceType: 'Patient', identifier: [{ value }] }),
      });
    const values = ['race-1', 'race-2', 'race-3', 'race-4'];
    const replies = await Promise.all(
      values.flatMap((value) => [create(value), subject().post(`${msh('ADT^A04')}\n${pid(value)}`), create(value)]),
    );
    expect(replies.every(({ status }) => status === 200 || status === 201)).toBe(true);
    for (const value of values) {
      expect(await subject().count(`from resource_identifier where type = 'Patient' and value = '${value}'`)).toBe(1);
    }
  });

  ofOne('a FHIR condition that matches a survivor and its merged patient selects the survivor', async () => {
    const { db, gateway, site } = subject();
    for (const id of ['merged-1', 'merged-2']) await subject().post(`${msh('ADT^A01')}\n${pid(id)}`);
    await subject().post(`${msh('ADT^A40')}\n${pid('merged-1')}\nMRG|merged-2^^^HOSP^MR`);
    const writer = await createApiKey(db.client, { site });
    const token = await getToken(gateway.oauthBaseUrl, writer, { audience: 'svc-fhir' });
    const response = await fetch(`${gateway.fhirBaseUrl}/fhir/Patient`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/fhir+json',
        'if-none-exist': 'identifier=merged-2',
      },
      body: JSON.stringify({ resourceType: 'Patient' }),
    });
    expect(response.status).toBe(200);
    const id = response.headers.get('location')?.split('/Patient/')[1]?.split('/')[0];
    expect(await subject().count(`from resource where id = '${id}' and body like '%"replaces"%'`)).toBe(1);
  });

  ofOne('a retransmission gets the same bytes', async () => {
    const message = `${msh('ADT^A01', 'H-again')}\n${pid('H3')}`;
    const first = await subject().post(message);
    expect((await subject().post(message)).text).toBe(first.text);
  });

  test.each([
    ['a content error', `${msh('ADT^A01')}\nPID|1`, 422, 'AE'],
    ['a refused type', `${msh('SIU^S12')}\n${pid('H4')}`, 422, 'AR'],
    ['no MSH', 'not HL7', 400, 'AR'],
  ])('%s: the status agrees with the ACK', async (_, message, status, code) => {
    const reply = await subject().post(message);
    expect(reply.status).toBe(status);
    expect(reply.text).toContain(`\rMSA|${code}|`);
  });

  test('answers without an ACK if the sender requests none', async () => {
    const reply = await subject().post(`${msh('ADT^A01')}|||NE|NE\n${pid('H5')}`);
    expect(reply).toMatchObject({ status: 204, text: '' });
  });

  test.each(['text/plain', 'application/hl7-v2', 'x-application/hl7-v2+er7', 'text/plain; charset=utf-8'])(
    '%s is accepted and returned',
    async (type) => {
      const reply = await subject().post(`${msh('ADT^A01')}\n${pid('H6')}`, { 'content-type': type });
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')?.split(';')[0]).toBe(type.split(';')[0]);
    },
  );

  test.each(['application/json', 'application/x-www-form-urlencoded', ''])('%s is rejected with 415', async (type) => {
    const reply = await subject().post(`${msh('ADT^A01')}\n${pid('H7')}`, { 'content-type': type });
    expect(reply.status).toBe(415);
    expect(reply.text).toContain('\rMSA|AR|');
  });

  test('1 MiB of text is accepted, one byte more is rejected with 413 and an ACK that names the message', async () => {
    const start = `${msh('ADT^A01', 'H-large')}\r${pid('H8')}\rZZZ|`;
    const exact = start + 'x'.repeat(1024 * 1024 - start.length);
    const reply = await subject().post(exact);
    expect(reply.errors).toEqual(['I 0 ZZZ^1']);
    expect(reply.status).toBe(200);
    const longer = await subject().post(`${exact}x`);
    expect(longer.status).toBe(413);
    expect(longer.text).toContain('\rMSA|AR|H-large|');
  });

  test('other methods: 405 with Allow; other paths: 404', async () => {
    const authorization = `Bearer ${subject().token}`;
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const response = await fetch(url(), { method, headers: { authorization } });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
    }
    const response = await fetch(`${url()}/1`, { method: 'POST', headers: { authorization }, body: 'x' });
    expect(response.status).toBe(404);
  });

  test('no token: 401 without an error code, with an ACK', async () => {
    const reply = await replyOf(
      await fetch(url(), { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' }),
    );
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer (?!.*error)/);
    expect(reply.text).toContain('\rMSA|AR|');
  });

  test('a token of the other audience: 401 invalid_token', async () => {
    const { db, gateway, site } = subject();
    const key = await createApiKey(db.client, { site });
    const reply = await withToken(await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' }));
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  test.each(['Patient', 'Observation', 'DocumentReference'])(
    'without %s.write: 403 insufficient_scope',
    async (missing) => {
      const { db, gateway, site } = subject();
      const scopes = ['Patient', 'Observation', 'DocumentReference'].filter((type) => type !== missing);
      const key = await createApiKey(db.client, {
        site,
        protocols: ['hl7'],
        scopes: [...scopes.map((type) => `system/${type}.write`), `system/${missing}.read`],
      });
      const reply = await withToken(await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' }));
      expect(reply.status).toBe(403);
      expect(reply.headers.get('www-authenticate')).toMatch(
        /error="insufficient_scope".*scope="[^"]*DocumentReference\.write/,
      );
      expect(reply.text).toContain('\rMSA|AR|');
    },
  );

  const checked = async (message: string | Uint8Array, headers: Readonly<Record<string, string>> = {}, query = '') => {
    const response = await fetch(url().replace(/messages$/, `check${query}`), {
      method: 'POST',
      headers: { authorization: `Bearer ${subject().token}`, 'content-type': 'text/plain', ...headers },
      body: Uint8Array.from(bytesOf(message)),
    });
    const type = response.headers.get('content-type');
    const body = await response.text();
    return {
      status: response.status,
      type,
      headers: response.headers,
      body: /json/.test(type ?? '') ? JSON.parse(body) : body,
    };
  };

  test('a checked message gets its verdict in one round trip, and leaves nothing', async () => {
    const { db, key } = subject();
    await subject().post(`${msh('ADT^A04', 'H-C0')}\n${pid('HC')}`);
    const left = () =>
      subject().count(`from (select message_id::text from hl7_message union all select id || version::text from resource
        union all select audit_id::text from audit) x`);
    const before = await left();
    const trips = db.endpoint.requests();
    // The identifier is that of another person, and the control id was used: the real site would say so.
    const good = await checked(
      `${msh('ADT^A08', 'H-C0')}\n${pid('HC').replace('Doe^Jane||19800229', 'Roe^John||19500101')}`,
    );
    expect(db.endpoint.requests() - trips).toBe(1);
    expect([good.status, good.type]).toEqual([200, 'application/json']);
    expect(good.body).toMatchObject({
      judgedAs: 'empty-site',
      outcome: 'AA',
      errors: [],
      problem: null,
      moreResources: 0,
    });
    expect(good.body.ack).toContain('MSA|AA|H-C0');
    expect(good.body.resources).toMatchObject([{ resourceType: 'Patient', name: [{ family: 'Roe' }] }]);
    const bad = await checked(`${msh('ORU^R01', 'H-C1')}\n${pid('HC')}\nOBR|1||F-1||||2026\nOBX|1|NM|||5`);
    expect([bad.status, bad.body.outcome, bad.body.resources]).toEqual([200, 'AE', []]);
    const obr = bad.body.segments.find(({ id }: { id: string }) => id === 'OBR');
    expect(
      JSON.stringify(obr.findings.concat(...obr.fields.map((field: { findings: object[] }) => field.findings))),
    ).toContain('OBR^1^4');
    expect((await checked('nonsense')).body).toMatchObject({
      outcome: 'AR',
      segments: [],
      problem: expect.any(String),
    });
    expect(await left()).toBe(before);
    expect(await subject().count(`from refusal where client_id = '${key.clientId}' and reason like '%OBR%'`)).toBe(0);
  });

  ofOne('a check returns a copy for a ticket, without the patient and with the same faults', async () => {
    const message = `${msh('ADT^A08', 'H-C2')}\n${pid('HC').replace('19800229', '19800230')}`;
    const { body } = await checked(message, {}, '?ticketCopy=true');
    expect(body.errors).toMatchObject([{ at: 'PID^1^7^1^1', reason: 'bad-time' }]);
    expect(body.ticketCopy).not.toMatch(/Doe|Jane|HC|19800230|H-C2/);
    expect((await checked(body.ticketCopy)).body).toMatchObject({ errors: body.errors, ticketCopy: null });
    expect((await checked(message, {}, '?ticketCopy=1')).status).toBe(422);

    const { client } = subject().db;
    await client.query(`update site set placeholders = '{hc-none}' where site_id = $1`, [subject().site]);
    const placeholder = await checked(`${msh('ADT^A08', 'H-C3')}\n${pid('HC-NONE')}`, {}, '?ticketCopy=true');
    expect(placeholder.body.errors).toMatchObject([{ reason: 'placeholder-identifier' }]);
    expect(placeholder.body.ticketCopy).toMatch(/\|HC-NONE\b/);
    expect((await checked(placeholder.body.ticketCopy)).body).toMatchObject({ errors: placeholder.body.errors });
  });

  test('a check that cannot be done is a problem, not an ACK', async () => {
    const { db, gateway, site } = subject();
    const problems = [
      [await checked(msh('ADT^A01'), { 'content-type': 'application/json' }), 415],
      [await checked(msh('ADT^A01'), { authorization: '' }), 401],
      [await checked(`FHS|^~\\&\n${msh('ADT^A01')}\nFTS|1`), 422],
      [await checked(`${msh('ADT^A01')}\nNTE|1||${'x'.repeat(1024 * 1024)}`), 413],
    ] as const;
    for (const [{ status, type, body }, expected] of problems) {
      expect([status, type]).toEqual([expected, 'application/problem+json']);
      expect(body).toMatchObject({ status: expected, detail: expect.any(String), requestId: expect.any(String) });
    }
    expect(problems[1][0].headers.get('www-authenticate')).toContain('Bearer');
    const get = await fetch(url().replace(/messages$/, 'check'));
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    const key = await createApiKey(db.client, { site, protocols: ['hl7'] });
    const authorization = `Bearer ${await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' })}`;
    await db.client.query(`update api_key set allowed_scopes = '{system/Patient.write}' where client_id = $1`, [
      key.clientId,
    ]);
    expect((await checked(msh('ADT^A01'), { authorization })).status).toBe(403);
    await db.client.query(`update api_key set status = 'disabled' where client_id = $1`, [key.clientId]);
    const disabled = await checked(msh('ADT^A01'), { authorization });
    expect([disabled.status, disabled.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('invalid_token'),
    ]);
  });

  test('a disabled key fails at once', async () => {
    const { db, gateway, site } = subject();
    const key = await createApiKey(db.client, { site, protocols: ['hl7'] });
    const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
    await db.client.query(`update api_key set status = 'disabled' where client_id = $1`, [key.clientId]);
    const reply = await withToken(token);
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  ofOne('the tokens of a key lose a withdrawn scope at once, and no other', async () => {
    const { db, gateway, site } = subject();
    const key = await createApiKey(db.client, { site, protocols: ['hl7'] });
    const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
    const allow = (scopes: readonly string[]) =>
      db.client.query('update api_key set allowed_scopes = $2 where client_id = $1', [key.clientId, scopes]);
    const needed = ['system/Patient.write', 'system/Observation.write', 'system/DocumentReference.write'];
    await allow(needed);
    expect((await withToken(token)).text).toContain('\rMSA|AA|');
    await allow(needed.slice(0, 2));
    const before = await stored(key.clientId);
    const reply = await withToken(token);
    expect(reply.status).toBe(403);
    expect(reply.headers.get('www-authenticate')).toMatch(/error="insufficient_scope".*DocumentReference\.write/);
    expect(reply.text).toContain('\rMSA|AR|');
    expect(await stored(key.clientId)).toBe(before);
    await allow(needed);
    await db.client.query(`update api_key set allowed_audiences = '{svc-fhir}' where client_id = $1`, [key.clientId]);
    const other = await withToken(token);
    expect(other.status).toBe(401);
    expect(other.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  const stored = async (clientId: string): Promise<number> => {
    const { rowCount } = await subject().db.client.query('select from hl7_message where client_id = $1', [clientId]);
    return rowCount ?? 0;
  };
}
