/** Every call of MedplumClient that asks a FHIR server. */
import { randomUUID } from 'node:crypto';

import { MedplumClient, OperationOutcomeError } from '@medplum/core';
import type { Patient } from '@medplum/fhirtypes';
import { expect } from 'vitest';

import { observation, patient, type Subject } from '../fhir/subject.ts';
import { methodsOf, namesIn, outcomesOf, type Refused, type CallReport } from './outcomes.ts';

/** Methods about the client's state, addresses and cache, the parts of all calls, and features for browser apps. */
const OWN = namesIn(`
  isInitialized getInitPromise initializeLogLevel attemptResumeActiveLogin getBaseUrl getAuthorizeUrl
  getTokenUrl getLogoutUrl getFhircastHubUrl getCdsServicesUrl getDefaultHeaders clear
  clearActiveLogin invalidateUrl invalidateAll invalidateSearches notifyResourceModified
  ensureCodeChallenge fhirUrl fhirSearchUrl getCached getCachedReference getActiveLogin setActiveLogin
  getAccessToken isAuthenticated setAccessToken getLogins addLogin refreshProfile
  syncStoredLoginProject isLoading isSuperAdmin isProjectAdmin getProject getProjectMembership
  getProfile getProfileAsync getUserConfiguration getAccessPolicy keyValue getBundle isCacheEnabled
  getCacheEntry setCacheEntry cacheResource deleteCacheEntry dispatchResourceModified request
  parseBody fetchWithRetry logRequest logResponse setCurrentRateLimit rateLimitStatus getRetryDelay
  pollStatus executeAutoBatch isInternalUrl addFetchOptionsDefaults setRequestContentType
  getRequestHeader setRequestHeader setRequestBody handleUnauthenticated requestAuthorization
  refreshIfExpired refresh runRefreshWithLock setBasicAuth setLogLevel getLogLevel setVerbose
  handleTokenError fetchTokens verifyTokens checkSessionDetailsMatchLogin setupStorageListener
  wrappedFetch uploadwithProgress
`);
/** Methods for the parts of a Medplum server outside FHIR: users, bots, agents, mail, web sockets. */
const MEDPLUMS = namesIn(`
  dispatchEvent addEventListener removeEventListener removeAllListeners listenerCount startNewUser
  startNewProject startNewPatient startLogin startGoogleLogin signOut signInWithRedirect
  signOutWithRedirect signInWithExternalAuth exchangeExternalAccessToken getExternalAuthRedirectUri
  startPkce processCode executeBot sendEmail pushToAgent createPdf getCdsServices callCdsService
  fhircastSubscribe fhircastUnsubscribe fhircastConnect fhircastPublish fhircastGetContext invite
  getSubscriptionManager subscribeToCriteria unsubscribeFromCriteria getMasterSubscriptionEmitter
`);
/** How it gets a token is tried with the other recipes (oauth-clients.test.ts). */
const TOKENS = ['startClientLogin', 'startJwtBearerLogin', 'startJwtAssertionLogin'];
export const ASKS_NOTHING = [...OWN, ...MEDPLUMS, ...TOKENS];

/** It keeps the OperationOutcome, not the status. */
function refusedOf(error: unknown): Refused | undefined {
  return error instanceof OperationOutcomeError ? { status: null, text: JSON.stringify(error.outcome) } : undefined;
}

export async function medplumCalls(subject: Subject): Promise<CallReport> {
  const client = new MedplumClient({
    baseUrl: `${subject.gateway.fhirBaseUrl}/`,
    fhirUrlPath: 'fhir',
    accessToken: subject.token,
    cacheTime: 0,
    fetch,
  });
  const value = randomUUID();
  const query = `identifier=${value}`;
  const made = await client.createResource(patient(value) as Patient);
  const { id } = made;
  const observed = await subject.create(observation(id));
  const reference = { reference: `Patient/${id}` };
  const page = { _count: '1', identifier: value };
  const outcomes = await outcomesOf(
    {
      get: () => client.get(client.fhirUrl('Patient', id)),
      post: () => client.post(client.fhirUrl('Patient'), patient(randomUUID())),
      put: () => client.put(client.fhirUrl('Patient', id), { ...made, gender: 'female' }),
      patch: () => client.patch(client.fhirUrl('Patient', id), [{ op: 'replace', path: '/gender', value: 'male' }]),
      delete: () => client.delete(client.fhirUrl('Patient', id)),
      search: async () => expect((await client.search('Patient', query)).entry).toHaveLength(1),
      'search with fields': () => client.search('Patient', { ...page, _fields: 'id,name' }),
      'search with _include': () => client.search('Observation', `_id=${observed}&_include=Observation:subject`),
      searchOne: async () => expect((await client.searchOne('Patient', query))?.id).toBe(id),
      searchResources: async () => expect(await client.searchResources('Patient', query)).toHaveLength(1),
      searchResourcePages: async () => {
        for await (const found of client.searchResourcePages('Patient', page)) expect(found[0]?.id).toBe(id);
      },
      readResource: async () => expect((await client.readResource('Patient', id)).id).toBe(id),
      readReference: async () => expect((await client.readReference(reference)).id).toBe(id),
      readHistory: async () => expect((await client.readHistory('Patient', id)).entry?.length).toBeGreaterThan(0),
      readVersion: async () => expect(await client.readVersion('Patient', id, '1')).toEqual(made),
      readPatientEverything: () => client.readPatientEverything(id),
      readPatientSummary: () => client.readPatientSummary(id),
      readResourceGraph: () => client.readResourceGraph('Patient', id, 'x'),
      readCanonical: () => client.readCanonical('ValueSet', 'http://hl7.org/fhir/ValueSet/observation-codes'),
      requestSchema: () => client.requestSchema('Procedure'),
      requestProfileSchema: () =>
        client.requestProfileSchema('http://hl7.org/fhir/us/core/StructureDefinition/us-core-patient'),
      valueSetExpand: () => client.valueSetExpand({ url: 'http://hl7.org/fhir/ValueSet/observation-codes' }),
      createResource: () => client.createResource(patient(randomUUID()) as Patient),
      createResourceIfNoneExist: async () =>
        expect((await client.createResourceIfNoneExist(patient(value) as Patient, query)).id).toBe(id),
      upsertResource: async () =>
        expect((await client.upsertResource(patient(value, { active: true }) as Patient, query)).id).toBe(id),
      updateResource: () => client.updateResource({ ...made, gender: 'other' }),
      'updateResource of a part': async () => {
        const part = await client.searchOne('Patient', `${query}&_elements=gender`);
        expect(part).not.toHaveProperty('identifier');
        if (part !== undefined) await client.updateResource<Patient>({ ...part, gender: 'male' });
      },
      patchResource: () => client.patchResource('Patient', id, [{ op: 'replace', path: '/gender', value: 'male' }]),
      deleteResource: () => client.deleteResource('Patient', id),
      validateResource: () => client.validateResource(patient(value) as Patient),
      executeBatch: () =>
        client.executeBatch({
          resourceType: 'Bundle',
          type: 'batch',
          entry: [{ request: { method: 'GET', url: `Patient/${id}` } }],
        }),
      createAttachment: () => client.createAttachment({ data: 'x', contentType: 'text/plain' }),
      createBinary: () => client.createBinary({ data: 'x', contentType: 'text/plain' }),
      createComment: () => client.createComment(made, 'a comment'),
      createMedia: () => client.createMedia({ data: 'x', contentType: 'text/plain' }),
      uploadMedia: () => client.uploadMedia('x', 'text/plain', 'x.txt'),
      createDocumentReference: () =>
        client.createDocumentReference({
          data: 'x',
          contentType: 'text/plain',
          additionalFields: { subject: reference, type: { text: 'note' } },
        }),
      download: () => client.download(client.fhirUrl('Patient', id)),
      downloadResponse: () => client.downloadResponse(client.fhirUrl('Patient', id)),
      graphql: () => client.graphql(`{ Patient(id: "${id}") { id } }`),
      bulkExport: async () => {
        // So it asks for the status until there is a manifest.
        const options = { pollStatusOnAccepted: true, pollStatusPeriod: 100 };
        const { output } = await client.bulkExport('Patient', 'Patient', undefined, options);
        const [file] = output ?? [];
        expect(file).toMatchObject({ type: 'Patient', count: expect.any(Number) });
        expect(
          await (await client.download(file?.url ?? '', { headers: { Accept: 'application/fhir+ndjson' } })).text(),
        ).toContain(`"id":"${id}"`);
      },
      startAsyncRequest: () => client.startAsyncRequest(`${client.fhirUrl('$export')}?_type=Condition`),
    },
    refusedOf,
  );
  return { outcomes, methods: methodsOf(MedplumClient.prototype) };
}
