/** Clients as the world uses them, unchanged: create, read, vread, search, next page, conditional create, conflict. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';

import { MedplumClient, OperationOutcomeError } from '@medplum/core';
import type { Bundle, Patient } from '@medplum/fhirtypes';
import { Client as FhirKitClient } from 'fhir-kit-client';
import smart from 'fhirclient';
import { describe, expect, test } from 'vitest';

import { type Body, type Subject } from './subject.ts';

const family = 'Clientson';
const newPatient = (value: string): Patient & Body => ({
  resourceType: 'Patient',
  identifier: [{ system: 'urn:client', value }],
  name: [{ family }],
});

export function clientCases(subject: () => Subject): void {
  test('fhir-kit-client', async () => {
    const client = new FhirKitClient({ baseUrl: subject().root, bearerToken: subject().token });
    const value = randomUUID();
    const made: Body = await client.create({ resourceType: 'Patient', body: newPatient(value) });
    const id = String(made['id']);
    expect(await client.read({ resourceType: 'Patient', id })).toEqual(made);
    const changed: Body = await client.update({
      resourceType: 'Patient',
      id,
      body: { ...made, active: true } as never,
    });
    expect(changed['meta'].versionId).toBe('2');
    expect(await client.vread({ resourceType: 'Patient', id, version: '1' })).toEqual(made);
    const history: Body = await client.history({ resourceType: 'Patient', id });
    expect(history['total']).toBe(2);

    const ifNoneExist = { headers: { 'If-None-Exist': `identifier=${value}` } };
    const again: Body = await client.create({ resourceType: 'Patient', body: newPatient(value), options: ifNoneExist });
    expect(again['id']).toBe(id);
    await client.create({ resourceType: 'Patient', body: newPatient(randomUUID()) });
    const page = await client.search({
      resourceType: 'Patient',
      searchParams: { name: family.toUpperCase(), _count: '1' },
    });
    const next: Body | undefined = await client.nextPage({ bundle: page as never });
    expect(next?.['entry']).toHaveLength(1);
    const posted: Body = await client.search({
      resourceType: 'Patient',
      searchParams: { identifier: value },
      options: { postSearch: true },
    });
    expect(posted['total']).toBe(1);

    const conflict = client.update({
      resourceType: 'Patient',
      id,
      body: changed as never,
      options: { headers: { 'If-Match': 'W/"1"' } },
    });
    await expect(conflict).rejects.toMatchObject({ response: { status: 412 } });
    const entry = [{ resource: newPatient(randomUUID()), request: { method: 'POST', url: 'Patient' } }];
    for (const type of ['batch', 'transaction'] as const) {
      const reply: Body = await client[type]({ body: { resourceType: 'Bundle', type, entry } });
      expect(reply['entry'][0].response.status).toBe('201 Created');
    }
    expect(await client.capabilityStatement()).toMatchObject({ fhirVersion: '4.0.1' });
    // `smartAuthMetadata` asks for the CapabilityStatement too, which has no addresses, and takes what is answered first.
    expect(await client.request('.well-known/smart-configuration')).toMatchObject({
      token_endpoint: `${subject().gateway.oauthBaseUrl}/oauth2/token`,
    });
  });

  test('fhirclient (SMART JS)', async () => {
    const kept = new Map<string, unknown>();
    const storage = {
      get: async (key: string) => kept.get(key),
      set: async (key: string, value: unknown) => (kept.set(key, value), value),
      unset: async (key: string) => kept.delete(key),
    };
    const incoming = new IncomingMessage(new Socket());
    const client = smart(incoming, new ServerResponse(incoming), storage).client({
      serverUrl: subject().root,
      tokenResponse: { access_token: subject().token },
    });
    const value = randomUUID();
    const made: Body = await client.create(newPatient(value) as never);
    const id = String(made['id']);
    expect(await client.request(`Patient/${id}`)).toEqual(made);
    expect(await client.request(`Patient/${id}/_history/1`)).toEqual(made);
    const changed: Body = await client.update({ ...made, active: true });
    expect(changed['meta'].versionId).toBe('2');
    const again: Body = await client.create(newPatient(value) as never, {
      headers: { 'If-None-Exist': `identifier=${value}` },
    });
    expect(again['id']).toBe(id);
    await client.create(newPatient(randomUUID()) as never);
    const pages: Body[] = [];
    for await (const page of client.pages(`Patient?name=${family}&_count=1`)) {
      pages.push(page);
      if (pages.length === 2) break;
    }
    expect(pages.map((page) => (page['entry'] as Body[]).length)).toEqual([1, 1]);
    const conflict = client.update(changed, { headers: { 'If-Match': 'W/"1"' } });
    await expect(conflict).rejects.toMatchObject({ status: 412 });
    expect(await client.getFhirRelease()).toBe(4);
  });

  describe('@medplum/core', () => {
    test('MedplumClient', async () => {
      const client = new MedplumClient({
        baseUrl: `${subject().gateway.fhirBaseUrl}/`,
        fhirUrlPath: 'fhir',
        accessToken: subject().token,
        cacheTime: 0,
        fetch,
      });
      const value = randomUUID();
      const made = await client.createResource<Patient>(newPatient(value));
      expect(await client.readResource('Patient', made.id)).toEqual(made);
      const changed = await client.updateResource<Patient>({ ...made, active: true });
      expect(changed.meta?.versionId).toBe('2');
      expect(await client.updateResource<Patient>(changed)).toEqual(changed);
      expect(await client.readVersion('Patient', made.id, '1')).toEqual(made);
      expect((await client.readHistory('Patient', made.id)).total).toBe(2);
      const again = await client.createResourceIfNoneExist<Patient>(newPatient(value), `identifier=${value}`);
      expect(again.id).toBe(made.id);
      const upserted = await client.upsertResource<Patient>(newPatient(value), `identifier=${value}`);
      expect(upserted.id).toBe(made.id);
      await client.createResource<Patient>(newPatient(randomUUID()));
      const page: Bundle<Patient> = await client.search('Patient', `name=${family}&_count=1`);
      const next = page.link?.find(({ relation }) => relation === 'next')?.url ?? '';
      expect((await client.get<Bundle>(next)).entry).toHaveLength(1);
      const batch = await client.executeBatch({
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [{ resource: newPatient(randomUUID()), request: { method: 'POST', url: 'Patient' } }],
      });
      expect(batch.entry?.[0]?.response?.status).toBe('201 Created');
      const stale = client.updateResource<Patient>({ ...made, gender: 'other' }, { headers: { 'If-Match': 'W/"1"' } });
      await expect(stale).rejects.toThrow(OperationOutcomeError);
      expect(await client.validateResource(newPatient(value))).toMatchObject({ issue: [{ severity: 'information' }] });
    });
  });
}
