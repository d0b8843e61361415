/** Profiles of US Core with FHIR_PROFILES=us-core (edge/docs/behaviour.md, FHIR, Profiles). */
import { beforeAll, describe, expect, test } from 'vitest';

import { US_CORE_RESOURCES } from '../../inputs/us-core-resources.ts';
import { type Body, expectOutcome, patient, type Subject, TYPES } from './subject.ts';

const US_CORE = 'http://hl7.org/fhir/us/core/StructureDefinition/';
const PATIENT = `${US_CORE}us-core-patient`;

export function profileCases(subject: () => Subject): void {
  let token: string;
  let about: string;
  const call = (method: string, path: string, body?: Body) =>
    subject().call(method, path, { token, ...(body === undefined ? {} : { body }) });
  /** A conforming resource about the patient of the site. */
  const conforming = (type: string): Body => {
    const found = US_CORE_RESOURCES.find((one) => one['resourceType'] === type);
    return JSON.parse(JSON.stringify(found).replaceAll('Patient/p1', `Patient/${about}`)) as Body;
  };

  beforeAll(async () => {
    ({ token } = await subject().newSite());
    about = await subject().create(patient('profiles'), token);
  });

  test('a write that claims a profile is checked, in each form of a write', async () => {
    const good = conforming('Patient');
    const id = await subject().create(good, token);
    const { gender: _, ...bad } = good;
    const writes = [
      await call('POST', '/Patient', bad),
      await call('PUT', `/Patient/${id}`, { ...bad, id }),
      await subject().call('PATCH', `/Patient/${id}`, {
        token,
        body: JSON.stringify([{ op: 'remove', path: '/gender' }]),
        headers: { 'content-type': 'application/json-patch+json' },
      }),
      await call('POST', '', {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [{ request: { method: 'POST', url: 'Patient' }, resource: bad }],
      }),
    ];
    for (const reply of writes) {
      expect(reply.status, reply.text).toBe(422);
      expect(reply.text).toContain('is required by us-core-patient');
      expect(reply.text).toMatch(/\.gender"\]/);
    }
    const { body } = await call('GET', `/Patient/${id}`);
    expect(body).toMatchObject({ gender: 'female', meta: { versionId: '1', profile: [PATIENT] } });
  });

  test('a conforming resource of each type is stored', async () => {
    for (const type of TYPES) {
      const reply = await call('POST', `/${type}`, conforming(type));
      expect(reply.status, reply.text).toBe(201);
    }
  });

  test('faults of R4 and of the profile come together', async () => {
    const reply = await call('POST', '/Patient', { ...conforming('Patient'), gender: 'x', identifier: undefined });
    expectOutcome(reply, 400, 'code-invalid', 'Patient.gender');
    expect(reply.text).toContain('is required by us-core-patient');
  });

  test('a resource without a claim, or with that of another profile, is stored', async () => {
    for (const profile of [undefined, 'urn:another', `${PATIENT}|3.1.1`]) {
      const meta = profile === undefined ? {} : { meta: { profile: [profile] } };
      expect((await call('POST', '/Patient', patient('x', meta))).status).toBe(201);
    }
  });

  test('an extension of US Core is checked without a claim', async () => {
    const extension = [{ url: `${US_CORE}us-core-race`, extension: [{ url: 'text', valueString: 'x' }] }];
    expect((await call('POST', '/Patient', patient('x', { extension }))).status).toBe(201);
    const reply = await call('POST', '/Patient', patient('x', { extension: [{ ...extension[0], extension: [] }] }));
    expectOutcome(reply, 400, 'structure');
    const birthsex = [{ url: `${US_CORE}us-core-birthsex`, valueString: 'F' }];
    expectOutcome(await call('POST', '/Patient', patient('x', { extension: birthsex })), 422, 'structure');
  });

  describe('$validate', () => {
    const verdict = async (path: string, body: Body): Promise<Body[]> => {
      const reply = await call('POST', path, body);
      expect(reply.status, reply.text).toBe(200);
      return reply.body['issue'] as Body[];
    };
    const asked = `/Patient/$validate?profile=${encodeURIComponent(PATIENT)}`;

    test('judges by the profile of the request, in the URL and in Parameters', async () => {
      const { meta: _, ...unclaimed } = conforming('Patient');
      expect(await verdict(asked, unclaimed)).toEqual([
        expect.objectContaining({ severity: 'information', diagnostics: expect.stringContaining('us-core-patient') }),
      ]);
      const faults = ['identifier', 'name', 'gender'].map((name) =>
        expect.objectContaining({ severity: 'error', expression: [`Patient.${name}`] }),
      );
      expect(await verdict(asked, { resourceType: 'Patient' })).toEqual(expect.arrayContaining(faults));
      const parameters = {
        resourceType: 'Parameters',
        parameter: [
          { name: 'resource', resource: { resourceType: 'Patient' } },
          { name: 'profile', valueUri: `${PATIENT}|6.1.0` },
        ],
      };
      expect(await verdict('/Patient/$validate', parameters)).toEqual(expect.arrayContaining(faults));
    });

    test('names each fault once where the resource claims the same profile', async () => {
      const body = { resourceType: 'Patient', meta: { profile: [PATIENT] } };
      const places = (await verdict(asked, body)).map(({ expression }) => expression?.[0]);
      expect(places).toEqual(['Patient.identifier', 'Patient.name', 'Patient.gender']);
    });

    test('says which profile was not checked, and rejects an unknown one', async () => {
      const meta = { profile: [PATIENT, 'urn:another'] };
      expect(await verdict('/Patient/$validate', { ...conforming('Patient'), meta })).toContainEqual(
        expect.objectContaining({ severity: 'information', expression: ['Patient.meta.profile'] }),
      );
      const others = ['urn:another', `${US_CORE}us-core-procedure`, `${PATIENT}|3.1.1`];
      for (const profile of others) {
        const reply = await call('POST', `/Patient/$validate?profile=${encodeURIComponent(profile)}`, patient('x'));
        expectOutcome(reply, 422, 'not-supported');
        expect(reply.text).toContain(PATIENT);
      }
    });
  });

  test('the CapabilityStatement lists the profiles of each type', async () => {
    const { body } = await subject().call('GET', '/metadata', { token: null });
    const [rest] = body['rest'] as [Body];
    const of = (type: string): Body => (rest['resource'] as Body[]).find((one) => one['type'] === type) ?? {};
    expect(of('Patient')['supportedProfile']).toEqual([PATIENT]);
    expect(of('Observation')['supportedProfile']).toHaveLength(22);
    expect(of('Group')).not.toHaveProperty('supportedProfile');
    // US Core's server has Practitioner, Encounter and other types that these profiles refer to.
    expect(body['instantiates']).toEqual(['http://hl7.org/fhir/uv/bulkdata/CapabilityStatement/bulk-data']);
  });
}
