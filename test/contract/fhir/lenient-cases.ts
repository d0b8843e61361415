/** `Prefer: handling=lenient` may leave out a parameter, but never a parameter that selects patients. */
import { expect, test } from 'vitest';

import { type Body, expectOutcome, patient, type Subject } from './subject.ts';

const LENIENT = { prefer: 'handling=lenient' };
/** Each would answer with other patients' resources if it were left out. */
const NARROWING: readonly (readonly [type: string, name: string, value: string])[] = [
  ['Observation', 'patient.identifier', '4711'],
  ['Observation', 'patient:Patient', '4711'],
  ['Observation', 'patient:Patient.name', 'q'],
  ['Observation', 'patient:identifier', 'urn:mrn|1'],
  ['Observation', 'subject:Patient.name', 'q'],
  ['Observation', 'subject.name', 'q'],
  ['Observation', 'Patient', '4711'],
  ['Observation', 'encounter', 'Encounter/1'],
  ['Observation', 'encounter.identifier', '1'],
  ['Observation', 'identifier', 'urn:result|1'],
  ['Observation', 'performer:Patient', '1'],
  ['Observation', 'code:in', 'urn:vs'],
  ['Observation', '_id:not', '1'],
  ['Observation', '_has:Provenance:target:agent', '1'],
  ['DiagnosticReport', 'result.code', '1'],
  ['DiagnosticReport', 'based-on', 'ServiceRequest/1'],
  ['DocumentReference', 'related', '1'],
  ['Condition', '_list', '42'],
  ['Condition', '_filter', 'patient eq 1'],
  ['Patient', '_has:Observation:patient:code', '1'],
  ['Patient', 'identifier:of-type', 'urn:t|MR|1'],
  ['Patient', 'name:exact2', 'q'],
  ['Patient', 'phone', '555'],
  ['Patient', 'telecom', '555'],
  ['Patient', 'address-city', 'Köln'],
  ['Patient', 'link', 'Patient/1'],
  ['Patient', 'general-practitioner', 'Practitioner/1'],
  ['Patient', '_text', 'q'],
  ['Patient', '_tag', 'trial'],
  ['Observation', '_source', 'urn:lab'],
  ['Patient', 'patient', '1'],
];
const DROPPED = ['foo', '_', 'utm_source', '_contained', '_score', '_profile', '_include:iterate', '_revinclude'];

export function lenientCases(subject: () => Subject): void {
  const call: Subject['call'] = (...args) => subject().call(...args);
  const query = (name: string, value: string): string => new URLSearchParams([[name, value]]).toString();

  test.each(NARROWING)('%s?%s stays an error', async (type, name, value) => {
    const asked = query(name, value);
    const replies = [
      await call('GET', `/${type}?${asked}`, { headers: LENIENT }),
      await call('POST', `/${type}/_search`, {
        headers: { ...LENIENT, 'content-type': 'application/x-www-form-urlencoded' },
        body: asked,
      }),
    ];
    for (const reply of replies) {
      expectOutcome(reply, 400, 'not-supported', `http.${name}`);
      expect(reply.text).toMatch(/handling=lenient cannot leave it out/);
    }
    const request = { method: 'GET', url: `${type}?${asked}` };
    const batch = await call('POST', '', {
      headers: LENIENT,
      body: { resourceType: 'Bundle', type: 'batch', entry: [{ request }] },
    });
    expect(batch.body['entry'][0].response.status).toBe('400 Bad Request');
  });

  test('_source says where the source is, with either handling', async () => {
    for (const headers of [{}, LENIENT]) {
      const reply = await call('GET', '/Observation?_source=urn:lab', { headers });
      expectOutcome(reply, 400, 'not-supported', 'http._source');
      expect(reply.text).toContain('The message of a version is in its Provenance');
    }
  });

  test.each(DROPPED)('%s is left out and reported', async (name) => {
    const reply = await call('GET', `/Observation?${query(name, 'x')}&_count=1`, { headers: LENIENT });
    expect(reply.status, reply.text).toBe(200);
    const outcome = (reply.body['entry'] as Body[]).find(({ search }) => search.mode === 'outcome');
    expect(outcome?.['resource'].issue[0].location).toEqual([`http.${name}`]);
  });

  test('a condition never leaves out a parameter', async () => {
    for (const name of ['foo', 'patient.identifier', '_has:Observation:patient:code']) {
      const condition = query(name, 'x');
      const headers = { ...LENIENT, 'if-none-exist': condition };
      expectOutcome(await call('POST', '/Patient', { body: patient('l1'), headers }), 400, 'not-supported');
      expectOutcome(
        await call('PUT', `/Patient?${condition}`, { body: patient('l1'), headers: LENIENT }),
        400,
        'not-supported',
      );
      const patch = { ...LENIENT, 'content-type': 'application/json-patch+json' };
      expectOutcome(await call('PATCH', `/Patient?${condition}`, { body: '[]', headers: patch }), 400, 'not-supported');
      const entry = [
        {
          resource: { ...patient('l1'), link: [{ other: { reference: `Patient?${condition}` }, type: 'seealso' }] },
          request: { method: 'POST', url: 'Patient' },
        },
      ];
      const body = { resourceType: 'Bundle', type: 'transaction', entry };
      expectOutcome(await call('POST', '', { body, headers: LENIENT }), 400, 'not-supported');
    }
  });

  test.each(['_typeFilter=Observation?category=laboratory', '_typefilter=x', 'patient=Patient/1'])(
    'an export does not leave out %s',
    async (asked) => {
      const [name = ''] = asked.split('=');
      const headers = { prefer: 'respond-async, handling=lenient' };
      for (const path of ['/$export', '/Patient/$export']) {
        expectOutcome(await call('GET', `${path}?${asked}`, { headers }), 400, 'not-supported', `http.${name}`);
        const parameter = [{ name, valueString: 'x' }];
        const body = { resourceType: 'Parameters', parameter };
        const isPatient = name === 'patient' && path.startsWith('/Patient');
        expectOutcome(await call('POST', path, { headers, body }), 400, isPatient ? 'value' : 'not-supported');
      }
    },
  );
}
