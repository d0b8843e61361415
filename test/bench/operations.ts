/** The requests of the benches, for a site with patients. */
import { randomUUID } from 'node:crypto';

import type { Client } from 'pg';

import { toWrite, writeResources } from '../../edge/store/resource.ts';
import { es256PrivateJwk } from '../../shared/es256-jwk.ts';
import type { JsonObject } from '../../shared/json.ts';
import { MLLP_CONTENT_TYPE, MLLP_MESSAGES_PATH } from '../../shared/mllp-contract.ts';
import { createSigner, sha256Of } from '../../sidecar/token.ts';
import { GIVEN, SYLLABLES } from '../inputs/population.ts';
import { ASSERTION_TYPE, clientAssertion, getToken } from '../stack/services/client.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { randomFrom } from '../stack/tools/random.ts';
import type { Call, Operation } from './load.ts';
import { adt, oru, type Person } from './messages.ts';
import type { Stack } from './stack.ts';

const PATIENTS = 20_000;
/** Some patients have Observations from the start: five of each of ten codes. */
const OBSERVED = 50;
const CODES = 10;
const OF_EACH_CODE = 5;
/** A part of the family name of some six of a hundred patients. */
const PART_OF_NAME = 'fitz';
/** More than one measurement uses. They are signed before it, so that signing is not measured. */
const ASSERTIONS = 2_000;
/** An assertion may be valid for five minutes at most. */
const ASSERTION_SECONDS = 290;
/** The number of patients whose messages repeat. */
const KNOWN_PATIENTS = 100;
/** The source address of the sidecar's messages. */
const ADDRESS = '192.0.2.10';

type Headers = Readonly<Record<string, string>>;

/** A site and the requests to it. */
export interface SiteRequests {
  readonly site: string;
  readonly operations: readonly Operation[];
  /** A read of a Patient, for the limits. */
  readonly read: { readonly patient: string; readonly headers: Headers };
}

const observationOf = (patient: string, code: string): JsonObject => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code }] },
  subject: { reference: `Patient/${patient}` },
  valueQuantity: { value: 71.5, unit: 'kg' },
});

const among = (list: string, random: () => number): string => {
  const parts = list.split(' ');
  return parts[Math.floor(random() * parts.length)] ?? '';
};
const familyOf = (random: () => number): string => [1, 2, 3].map(() => among(SYLLABLES, random)).join('');

/** Stores many patients as the FHIR API does, with identifiers from `B-1`. @returns the ids of those with Observations */
async function fillPatients(client: Client, site: string, patients: number): Promise<string[]> {
  const random = randomFrom(1);
  const store = async (resources: readonly JsonObject[]): Promise<string[]> => {
    const ids = resources.map(() => randomUUID());
    const writes = resources.map((resource, at) => toWrite(resource, ids[at] ?? '', 'create'));
    const { text, params } = writeResources(site, writes);
    await client.query(text, [...params]);
    return ids;
  };
  const ids = await store(
    Array.from({ length: patients }, (_, n) => ({
      resourceType: 'Patient',
      identifier: [{ value: `B-${n + 1}` }],
      name: [{ family: familyOf(random), given: [among(GIVEN, random)] }],
    })),
  );
  const observed = ids.slice(0, OBSERVED);
  const codes = Array.from({ length: CODES * OF_EACH_CODE }, (_, n) => `${29_463 + (n % CODES)}-7`);
  await store(observed.flatMap((patient) => codes.map((code) => observationOf(patient, code))));
  // Not the empty tables: PostgreSQL would make and keep plans for empty tables.
  await client.query(
    'analyze resource, resource_identifier, resource_token, patient_search, patient_name, patient_identity, patient_trait',
  );
  return observed;
}

/** The messages of a person have the same times, so that a repeated one changes nothing. */
const AT = new Date('2026-11-01T07:30:00Z');
const COLLECTED = new Date('2026-11-01T07:00:00Z');
/** Each has another name and birth date. Equal persons are possible duplicates, and to compare them costs more than their messages. */
function personOf(mrn: string): Person {
  const random = randomFrom(48_271 * Number(mrn.replaceAll(/\D/g, '')));
  const birthDate = new Date(Date.UTC(1930, 0, 1) + Math.floor(random() * 33_000) * 86_400_000).toISOString();
  return { mrn, family: familyOf(random), given: among(GIVEN, random), birthDate: birthDate.slice(0, 10) };
}
const admission = (control: string, mrn: string): string => adt({ control, at: AT }, personOf(mrn));
const results = (control: string, mrn: string): string =>
  oru({ control, at: AT }, personOf(mrn), COLLECTED, ['718-7', '6690-2']);

export interface SiteOptions {
  readonly patients?: number;
  /** False for a further site: the address of the sidecar's messages belongs to the first one. */
  readonly hasSidecar?: boolean;
}

/** Adds a site with patients. */
export async function addSite(
  { client, url, secrets }: Stack,
  { patients = PATIENTS, hasSidecar = true }: SiteOptions = {},
): Promise<SiteRequests> {
  const site = await createSite(client);
  const key = await createApiKey(client, { site, tokenTtlSeconds: 3600 });
  const observed = await fillPatients(client, site, patients);
  const [patient = ''] = observed;
  const bearer = async (audience: 'svc-fhir' | 'svc-hl7-http'): Promise<Headers> => ({
    Authorization: `Bearer ${await getToken(url, key, { audience })}`,
  });
  const [fhir, hl7] = [await bearer('svc-fhir'), await bearer('svc-hl7-http')];

  const newAssertion = (): Promise<string> =>
    clientAssertion(key, `${url}/oauth2/token`, { claims: { exp: Math.floor(Date.now() / 1000) + ASSERTION_SECONDS } });
  let assertions: string[] = [];
  if (hasSidecar) await createApiKey(client, { site, protocols: ['hl7-mllp'], allowedIps: [ADDRESS] });
  const signToken = createSigner('bench', es256PrivateJwk.parse(secrets.sidecarPrivateKey));
  let n = 0;
  const get = (what: string, path: () => string): Operation => ({
    what,
    expected: 200,
    next: () => ({ path: `/fhir/${path()}`, headers: fhir }),
  });
  const overHttp = (body: string): Call => ({
    method: 'POST',
    path: '/hl7/messages',
    headers: { ...hl7, 'Content-Type': 'text/plain' },
    body,
  });
  const overMllp = (body: string): Call => ({
    method: 'POST',
    path: MLLP_MESSAGES_PATH,
    headers: {
      Authorization: `Bearer ${signToken({ address: ADDRESS }, sha256Of(Buffer.from(body)))}`,
      'Content-Type': MLLP_CONTENT_TYPE,
    },
    body,
  });
  /** @param number PID-3 of the nth message */
  const message = (
    what: string,
    send: (body: string) => Call,
    text: (control: string, mrn: string) => string,
    number: (n: number) => string,
  ): Operation => ({
    what,
    expected: 200,
    next: () => send(text(`BENCH-${(n += 1)}`, number(n))),
  });
  const unknown = (at: number): string => `NEW-${at}`;
  const known = (at: number): string => `KNOWN-${at % KNOWN_PATIENTS}`;

  const operations: Operation[] = [
    {
      what: 'token (ES256, jti claimed)',
      expected: 200,
      async next() {
        const form = new URLSearchParams({
          grant_type: 'client_credentials',
          scope: 'system/Patient.read',
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: assertions.pop() ?? (await newAssertion()),
        });
        const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
        return { method: 'POST', path: '/oauth2/token', headers, body: form.toString() };
      },
      async prepare() {
        assertions = await Promise.all(Array.from({ length: ASSERTIONS }, newAssertion));
      },
    },
    get('Patient read', () => `Patient/${patient}`),
    get('Patient search by identifier', () => `Patient?identifier=B-${(n++ % patients) + 1}`),
    get('Patient search by part of a name', () => `Patient?name=${PART_OF_NAME}&_count=20`),
    get(
      'Observations by patient and code',
      () => `Observation?patient=${observed[(n += 1) % OBSERVED]}&code=http://loinc.org%7C29465-7`,
    ),
    {
      what: 'Observation create',
      expected: 201,
      next: () => ({
        method: 'POST',
        path: '/fhir/Observation',
        headers: { ...fhir, 'Content-Type': 'application/fhir+json' },
        body: JSON.stringify(observationOf(patient, '29463-7')),
      }),
    },
    message('HL7 ADT, a new patient each', overHttp, admission, unknown),
    message('HL7 ADT, patients seen before', overHttp, admission, known),
    message('HL7 ORU, patients seen before', overHttp, results, known),
    message('sidecar ADT, a new patient each', overMllp, admission, unknown),
    message('sidecar ADT, patients seen before', overMllp, admission, known),
  ];
  return { site, operations, read: { patient, headers: fhir } };
}
