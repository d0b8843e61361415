/** Every call of fhirclient, SMART's own library for JavaScript. */
import { randomUUID } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import smart from 'fhirclient';
import { expect } from 'vitest';

import { type Body, observation, patient, type Subject } from '../fhir/subject.ts';
import { methodsOf, outcomesOf, type Refused, type CallReport } from './outcomes.ts';

/** Methods about the client's state, or that only read their arguments. */
export const ASKS_NOTHING = [
  'connect',
  'getPatientId',
  'getEncounterId',
  'getIdToken',
  'getFhirUser',
  'getUserId',
  'getUserType',
  'getAuthorizationHeader',
  'getRequestDefaults',
  'byCode',
  'byCodes',
  'getPath',
  'getState',
  // The recipe gets a new token with an assertion. Without a refresh token neither method sends a request.
  'refresh',
  'refreshIfNeeded',
];

interface HttpError {
  readonly status: number;
  readonly message: string;
}

function refusedOf(error: unknown): Refused | undefined {
  if (!(error instanceof Error && 'status' in error)) return undefined;
  const { status, message } = error as unknown as HttpError;
  return { status, text: message };
}

export async function fhirclientJsCalls(subject: Subject): Promise<CallReport> {
  const { root, token } = subject;
  const value = randomUUID();
  const id = await subject.create(patient(value, { gender: 'other' }));
  const observed = await subject.create(observation(id));
  const incoming = new IncomingMessage(new Socket());
  const kept = new Map<string, unknown>();
  const storage = {
    get: async (key: string) => kept.get(key),
    set: async (key: string, stored: unknown) => (kept.set(key, stored), stored),
    unset: async (key: string) => kept.delete(key),
  };
  const client = smart(incoming, new ServerResponse(incoming), storage).client({
    serverUrl: root,
    tokenResponse: { access_token: token, patient: id },
  });
  const search = `Patient?identifier=${value}`;
  const read = async (): Promise<Body> => client.request(`Observation/${observed}`);
  const outcomes = await outcomesOf(
    {
      getFhirVersion: async () => expect(await client.getFhirVersion()).toBe('4.0.1'),
      getFhirRelease: async () => expect(await client.getFhirRelease()).toBe(4),
      fhirRequest: () => client.fhirRequest(search),
      request: () => client.request(`Patient/${id}`),
      'request with references resolved': async () => {
        const { subject: resolved } = await client.request<Body>(`Observation/${observed}`, {
          resolveReferences: ['subject'],
        });
        expect(resolved.id).toBe(id);
      },
      'request of all pages, flat': async () => {
        const all = await client.request<Body[]>(`${search}&_count=1`, { pageLimit: 0, flat: true });
        expect(all.map((one) => one['id'])).toEqual([id]);
      },
      'request of a chained search': () => client.request(`Observation?patient.identifier=${value}`),
      'request of a compartment': () => client.request(`Patient/${id}/Observation`),
      // For resources of the patient in context, the client searches the patient's compartment or uses a parameter of the type.
      'patient.read': async () => expect(await client.patient.read()).toMatchObject({ id }),
      'patient.request': async () => {
        const { total } = await client.patient.request<Body>('Observation?_total=accurate');
        expect(total).toBe(1);
      },
      create: () => client.create(patient(randomUUID())),
      update: () => client.update(patient(value, { id, gender: 'female' })),
      patch: () => client.patch(`Patient/${id}`, [{ op: 'replace', path: '/gender', value: 'male' }]),
      delete: () => client.delete(`Patient/${id}`),
      resolveRef: async () => client.resolveReferences(await read(), ['subject']),
      resolveReferences: async () => client.resolveReferences(await read(), ['subject']),
      fetchReferences: async () => client.getReferences(await read(), ['subject']),
      getReferences: async () => {
        const found = await client.getReferences(await read(), ['subject']);
        expect(Object.keys(found)).toEqual([`Patient/${id}`]);
      },
      resources: async () => {
        for await (const one of client.resources(search)) expect(one.id).toBe(id);
      },
      pages: async () => {
        for await (const page of client.pages(search)) expect(page.entry).toHaveLength(1);
      },
    },
    refusedOf,
  );
  // Some of its methods are the client's own, and what is of the patient is a part of it.
  return { outcomes, methods: methodsOf(Object.getPrototypeOf(client) as object) };
}
