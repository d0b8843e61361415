/** A part of a resource that is written back would erase the rest: every write refuses it, and `$validate` says so. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

import { type Body, expectOutcome, observation, patient, type Reply, type Subject, TYPES } from './subject.ts';

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue';
const SUBSETTED = { system: SYSTEM, code: 'SUBSETTED' };

export function subsettedCases(subject: () => Subject): void {
  const call: Subject['call'] = (...args) => subject().call(...args);
  const tagged = (resource: Body, tag: Body = SUBSETTED): Body => ({
    ...resource,
    meta: { tag: [{ code: 'mine' }, tag] },
  });
  const refused = (reply: Reply, at: string): void => {
    expectOutcome(reply, 422, 'business-rule', at);
    expect(reply.text).toMatch(/Read the complete resource/);
  };
  const bundle = (type: string, entry: Body) =>
    call('POST', '', { body: { resourceType: 'Bundle', type, entry: [entry] } });

  test.each(['_elements=gender', '_summary=true', '_summary=text', '_summary=data'])(
    'the result of %s cannot be written back',
    async (part) => {
      const id = await subject().create(patient(randomUUID(), { gender: 'female', name: [{ family: 'Kept' }] }));
      const { body, headers } = await call('GET', `/Patient/${id}?${part}`);
      const ifMatch = { 'if-match': headers.get('etag') ?? '' };
      refused(await call('PUT', `/Patient/${id}`, { body, headers: ifMatch }), 'Patient.meta.tag[0]');
      expect((await call('GET', `/Patient/${id}`)).body['name']).toEqual([{ family: 'Kept' }]);
    },
  );

  test('every write rejects it, alone and in bundles', async () => {
    const value = randomUUID();
    const id = await subject().create(patient(value));
    const part = tagged(patient(value));
    const own = { ...part, id };
    const at = 'Patient.meta.tag[1]';
    const noneExist = { 'if-none-exist': `identifier=${value}` };
    refused(await call('POST', '/Patient', { body: part }), at);
    // Also where it would find the resource, and write nothing.
    refused(await call('POST', '/Patient', { body: part, headers: noneExist }), at);
    refused(await call('PUT', `/Patient/${id}`, { body: own }), at);
    refused(await call('PUT', `/Patient/${id}`, { body: part }), at);
    refused(await call('PUT', `/Patient?identifier=${value}`, { body: part }), at);
    const operations = [{ op: 'add', path: '/meta/tag', value: [{ code: 'mine' }, SUBSETTED] }];
    const patch = { 'content-type': 'application/json-patch+json' };
    refused(await call('PATCH', `/Patient/${id}`, { body: JSON.stringify(operations), headers: patch }), at);
    const data = Buffer.from(JSON.stringify(operations)).toString('base64');
    const binary = { resourceType: 'Binary', contentType: 'application/json-patch+json', data };
    for (const entry of [
      { resource: part, request: { method: 'POST', url: 'Patient' } },
      { resource: part, request: { method: 'POST', url: 'Patient', ifNoneExist: `identifier=${value}` } },
      { resource: own, request: { method: 'PUT', url: `Patient/${id}` } },
      { resource: part, request: { method: 'PUT', url: `Patient?identifier=${value}` } },
      { resource: binary, request: { method: 'PATCH', url: `Patient/${id}` } },
    ]) {
      refused(await bundle('transaction', entry), 'Bundle.entry[0].resource.meta.tag[1]');
      const { response } = (await bundle('batch', entry)).body['entry'][0];
      expect(response.status).toBe('422 Unprocessable Content');
    }
    expect((await call('GET', `/Patient/${id}/_history`)).body['total']).toBe(1);
  });

  /** The example of a type in the API reference. */
  const exampleOf = async (type: string): Promise<Body> => {
    const reference = await fetch(`${subject().gateway.fhirBaseUrl}/docs/openapi.json`);
    const { components } = (await reference.json()) as Body;
    return components.schemas[type].examples[0];
  };

  test.each(TYPES)('%s is rejected too, and $validate reports it', async (type) => {
    const id = await subject().create(patient(randomUUID()));
    const about = type === 'AllergyIntolerance' ? 'patient' : 'subject';
    const complete = {
      ...(await exampleOf(type)),
      ...(type === 'Patient' ? {} : { [about]: { reference: `Patient/${id}` } }),
    };
    expect((await call('POST', `/${type}`, { body: complete })).status).toBe(201);
    refused(await call('POST', `/${type}`, { body: tagged(complete) }), `${type}.meta.tag[1]`);
    const verdict = await call('POST', `/${type}/$validate`, { body: tagged(complete) });
    expect([verdict.status, verdict.body['issue'][0].severity]).toEqual([200, 'error']);
    expect(verdict.body['issue'][0]).toMatchObject({ code: 'business-rule', expression: [`${type}.meta.tag[1]`] });
  });

  test('a tag without a system is the same mark, a tag of another system belongs to the client', async () => {
    refused(
      await call('POST', '/Patient', { body: tagged(patient('s1'), { code: 'SUBSETTED' }) }),
      'Patient.meta.tag[1]',
    );
    const stu3 = { system: 'http://hl7.org/fhir/v3/ObservationValue', code: 'SUBSETTED' };
    refused(await call('POST', '/Patient', { body: tagged(patient('s1'), stu3) }), 'Patient.meta.tag[1]');
    for (const tag of [
      { system: 'urn:studies', code: 'SUBSETTED' },
      { system: SYSTEM, code: 'MASKED' },
      { display: 'SUBSETTED' },
    ]) {
      expect((await call('POST', '/Patient', { body: tagged(patient('s2'), tag) })).status).toBe(201);
    }
  });

  test('an invalid part is 400, and a complete resource is accepted', async () => {
    const id = await subject().create(patient(randomUUID()));
    const invalid = { ...tagged(observation(id)), status: 'x' };
    expectOutcome(await call('POST', '/Observation', { body: invalid }), 400, 'code-invalid');
    const { body } = await call('GET', `/Patient/${id}`);
    expect((await call('PUT', `/Patient/${id}`, { body: { ...body, active: true } })).status).toBe(200);
  });
}
