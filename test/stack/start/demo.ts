/** The local stack's demo: two sites, a key for each surface, and a few patients put in through the FHIR API itself. */
import { readFile, writeFile } from 'node:fs/promises';

import { Client } from 'pg';

import { getToken } from '../services/client.ts';
import type { StackClient } from './local.ts';
import { ALL_SCOPES, createApiKey, createSite, type ApiKeyOptions } from '../services/seed.ts';

export interface Demo {
  readonly site: string;
  readonly otherSite: string;
  readonly clients: readonly StackClient[];
}

const HL7_SCOPES = ALL_SCOPES.filter((scope) => scope.endsWith('.write'));

type DemoKey = Omit<ApiKeyOptions, 'site'> & { name: string; other?: true };

const DEMO_KEYS: readonly DemoKey[] = [
  { name: 'demo', audiences: ['svc-fhir'], protocols: ['fhir'], tokenTtlSeconds: 3600 },
  { name: 'demo-hl7', scopes: HL7_SCOPES, audiences: ['svc-hl7-http'], protocols: ['hl7'], tokenTtlSeconds: 3600 },
  { name: 'demo-mllp', scopes: HL7_SCOPES, protocols: ['hl7-mllp'], allowedIps: ['127.0.0.1', '::1'] },
  { name: 'demo-disabled', audiences: ['svc-fhir'], protocols: ['fhir'], status: 'disabled' },
  { name: 'other', audiences: ['svc-fhir'], protocols: ['fhir'], tokenTtlSeconds: 3600, other: true },
  {
    name: 'other-hl7',
    scopes: HL7_SCOPES,
    audiences: ['svc-hl7-http'],
    protocols: ['hl7'],
    tokenTtlSeconds: 3600,
    other: true,
  },
];

/**
 * The demo's sites and keys: made the first time, read back from `file` ever after.
 *
 * @param file stores the private keys; below `.local`, never in the repository
 */
export async function demoKeys(databaseUrl: string, file: string): Promise<Demo> {
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) return JSON.parse(kept) as Demo;

  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    const local = { timeZone: 'Europe/Berlin', processingIds: ['P', 'T', 'D'] };
    const site = await createSite(client, { ...local, name: 'Demo hospital', addresses: ['127.0.0.0/8', '::1'] });
    const otherSite = await createSite(client, { ...local, name: 'Other hospital', addresses: ['203.0.113.0/24'] });
    const clients: StackClient[] = [];
    for (const { other, ...options } of DEMO_KEYS) {
      const { clientId, privateJwk } = await createApiKey(client, { ...options, site: other ? otherSite : site });
      clients.push({
        name: options.name,
        site: other ? otherSite : site,
        clientId,
        privateJwk,
        status: options.status ?? 'active',
        scopes: options.scopes ?? ALL_SCOPES,
        audiences: options.audiences ?? [],
        protocols: options.protocols ?? [],
      });
    }
    const demo = { site, otherSite, clients };
    await writeFile(file, JSON.stringify(demo, null, 2), { mode: 0o600 });
    await client.query('commit');
    return demo;
  } finally {
    await client.end();
  }
}

const MRN = 'https://demo-hospital.example/mrn';

const DEMO_PATIENTS = [
  { mrn: 'D-1001', given: ['Erika'], family: 'Müller', gender: 'female', birthDate: '1964-08-12', city: 'Köln' },
  {
    mrn: 'D-1002',
    given: ['Peter', 'James'],
    family: 'Chalmers',
    gender: 'male',
    birthDate: '1974-12-25',
    city: 'Bonn',
  },
  { mrn: 'D-1003', given: ['Zoë'], family: "O'Brien", gender: 'other', birthDate: '2001-02-28', city: 'Cork' },
];

/** Sets the webhook of the demo's site, unless the reader has set another one. @param url on this machine */
export async function demoWebhook(databaseUrl: string, site: string, url: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `update site set alert_webhook = $2
        where site_id = $1 and (alert_webhook is null or alert_webhook ~ '^https://127\\.0\\.0\\.1:[0-9]+/alerts$')`,
      [site, url],
    );
  } finally {
    await client.end();
  }
}

/** Puts the demo patients in as any client would; a second time changes nothing (`If-None-Exist`). */
export async function demoData(oauthBaseUrl: string, fhirBaseUrl: string, demo: Demo): Promise<void> {
  const key = demo.clients.find(({ name }) => name === 'demo');
  if (key === undefined) throw new Error('the demo has no FHIR key');
  const token = await getToken(oauthBaseUrl, key, { audience: 'svc-fhir' });

  const create = async (type: string, condition: string, resource: object): Promise<string> => {
    const response = await fetch(`${fhirBaseUrl}/fhir/${type}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/fhir+json',
        ...(condition === '' ? {} : { 'If-None-Exist': condition }),
      },
      body: JSON.stringify({ resourceType: type, ...resource }),
    });
    const answer = (await response.json()) as { id?: string };
    if (!response.ok || answer.id === undefined)
      throw new Error(`${type}: ${response.status} ${JSON.stringify(answer)}`);
    return response.status === 201 ? answer.id : '';
  };

  for (const { mrn, given, family, city, ...rest } of DEMO_PATIENTS) {
    const id = await create('Patient', `identifier=${MRN}|${mrn}`, {
      identifier: [{ system: MRN, value: mrn }],
      name: [{ text: `${given.join(' ')} ${family}`, family, given }],
      address: [{ text: city, city }],
      ...rest,
    });
    if (id === '') continue;
    await create('Observation', '', {
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '29463-7', display: 'Body weight' }] },
      subject: { reference: `Patient/${id}` },
      effectiveDateTime: '2026-11-01T08:30:00+01:00',
      valueQuantity: { value: 71.5, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
    });
  }
}
