/** Every call of fhir-kit-client. */
import { randomUUID } from 'node:crypto';

import { Client } from 'fhir-kit-client';
import { expect } from 'vitest';

import { type Body, patient, type Subject } from '../fhir/subject.ts';
import { methodsOf, outcomesOf, type Refused, type CallReport } from './outcomes.ts';

/** Getters and setters of the client, and the beginning of a search's address. */
export const ASKS_NOTHING = ['baseUrl', 'customHeaders', 'bearerToken', 'baseSearch'];

interface HttpError {
  readonly response: { readonly status: number; readonly data: unknown };
}

function refusedOf(error: unknown): Refused | undefined {
  if (!(error instanceof Error && 'response' in error)) return undefined;
  const { response } = error as unknown as HttpError;
  return { status: response.status, text: JSON.stringify(response.data) };
}

export async function fhirKitClientCalls(subject: Subject): Promise<CallReport> {
  const { root, token } = subject;
  const client = new Client({ baseUrl: root, bearerToken: token });
  const value = randomUUID();
  const resourceType = 'Patient';
  const made: Body = await client.create({ resourceType, body: patient(value) as never });
  const id = String(made['id']);
  await subject.create({ resourceType: 'Condition', subject: { reference: `Patient/${id}` } });
  const bundle = (type: string) => ({
    resourceType: 'Bundle',
    type,
    entry: [{ resource: patient(randomUUID()), request: { method: 'POST', url: resourceType } }],
  });
  const searchParams = { identifier: value };
  const page = async () => (await client.search({ resourceType, searchParams: { _count: '1' } })) as never;
  const outcomes = await outcomesOf(
    {
      capabilityStatement: () => client.capabilityStatement(),
      smartAuthMetadata: () => client.smartAuthMetadata(),
      request: () => client.request(`Patient/${id}`),
      read: () => client.read({ resourceType, id }),
      vread: () => client.vread({ resourceType, id, version: '1' }),
      create: () => client.create({ resourceType, body: patient(randomUUID()) as never }),
      'create if none exists': async () => {
        const options = { headers: { 'If-None-Exist': `identifier=${value}` } };
        const again: Body = await client.create({ resourceType, body: patient(value) as never, options });
        expect(again['id']).toBe(id);
      },
      update: () => client.update({ resourceType, id, body: { ...made, active: true } as never }),
      'update of a part': async () => {
        const part: Body = await client.request(`Patient/${id}?_elements=gender`);
        expect(part).not.toHaveProperty('identifier');
        await client.update({ resourceType, id, body: { ...part, gender: 'male' } as never });
      },
      'update by search': async () => {
        const changed: Body = await client.update({
          resourceType,
          searchParams,
          body: patient(value, { gender: 'other' }) as never,
        });
        expect(changed['id']).toBe(id);
      },
      patch: () => client.patch({ resourceType, id, jsonPatch: [{ op: 'replace', path: '/gender', value: 'female' }] }),
      delete: () => client.delete({ resourceType, id }),
      batch: () => client.batch({ body: bundle('batch') }),
      transaction: () => client.transaction({ body: bundle('transaction') }),
      'operation $validate': () => client.operation({ name: '$validate', resourceType, input: patient(value) }),
      'operation $everything': () => client.operation({ name: '$everything', resourceType, id, method: 'GET' }),
      'operation $lastn': () => client.operation({ name: '$lastn', resourceType: 'Observation', method: 'GET' }),
      search: async () =>
        expect(((await client.search({ resourceType, searchParams })) as Body)['entry']).toHaveLength(1),
      'search of all types': () => client.search({ searchParams: { _id: id } }),
      'search in a compartment': () =>
        client.search({ resourceType: 'Condition', compartment: { resourceType, id }, searchParams: {} }),
      resourceSearch: () => client.resourceSearch({ resourceType, searchParams }),
      'resourceSearch by POST': () =>
        client.resourceSearch({ resourceType, searchParams, options: { postSearch: true } }),
      systemSearch: () => client.systemSearch({ searchParams: { _id: id } }),
      'systemSearch by POST': () => client.systemSearch({ searchParams: { _id: id }, options: { postSearch: true } }),
      compartmentSearch: () =>
        client.compartmentSearch({ resourceType: 'Condition', compartment: { resourceType, id } }),
      nextPage: async () =>
        expect(await client.nextPage({ bundle: await page() })).toMatchObject({ type: 'searchset' }),
      // Pages go forward only: it finds no such link, and asks for nothing.
      prevPage: async () => expect(await client.prevPage({ bundle: await page() })).toBeUndefined(),
      history: () => client.history({ resourceType, id }),
      'history of a type': () => client.history({ resourceType }),
      'history of all types': () => client.history(),
      resourceHistory: () => client.resourceHistory({ resourceType, id }),
      typeHistory: () => client.typeHistory({ resourceType }),
      systemHistory: () => client.systemHistory(),
      resolve: () => client.resolve({ reference: `Patient/${id}` }),
      'resolve an absolute reference': () => client.resolve({ reference: `${root}/Patient/${id}` }),
    },
    refusedOf,
  );
  return { outcomes, methods: methodsOf(Client.prototype) };
}
