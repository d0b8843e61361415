/** A gateway with two sites and what the FHIR cases do to it. */
import type { Client } from 'pg';
import { expect } from 'vitest';

import { createTestDatabase, type TestDatabase } from '../../stack/tools/database.ts';
import { getToken } from '../../stack/services/client.ts';
import { type Gateway, type Runtime, startGateway } from '../../stack/tools/gateway.ts';
import { type ApiKey, createApiKey, createSite } from '../../stack/services/seed.ts';

/** JSON as a test reads it: of every shape, and looked into at once. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Body = Record<string, any>;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** `''` for none. */
  readonly text: string;
  /** The body as JSON; `{}` for none. */
  readonly body: Body;
}

export interface Call {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as FHIR JSON; a string as it is. */
  readonly body?: object | string;
}

export interface Subject {
  readonly gateway: Gateway;
  readonly db: TestDatabase;
  readonly client: Client;
  /** `{base}/fhir`. */
  readonly root: string;
  readonly site: string;
  readonly key: ApiKey;
  readonly token: string;
  /** A token of another site. */
  readonly otherToken: string;
  /** @param path below the root (`/Patient`), or a complete URL */
  readonly call: (method: string, path: string, call?: Call) => Promise<Reply>;
  /** Creates a resource and returns its id. */
  readonly create: (resource: Body, token?: string) => Promise<string>;
  /** A key of the site with the scopes given, and its token. */
  readonly tokenWith: (scopes: readonly string[]) => Promise<string>;
  /** A new site with a new key and its token. */
  readonly newSite: () => Promise<{ readonly site: string; readonly token: string }>;
  stop(): Promise<void>;
}

/** Well within the 300 s of a token. */
const RENEW_AFTER_MS = 150_000;

/** @param env over the environment that makes all surfaces configured */
export async function startSubject(
  runtime: Runtime,
  env: Readonly<Record<string, string>> = {},
  caCertificate?: string,
): Promise<Subject> {
  const db = await createTestDatabase();
  const gateway = await startGateway({
    runtime,
    database: db,
    prefix: '/gateway',
    env,
    ...(caCertificate === undefined ? {} : { caCertificate }),
  });
  const { client } = db;
  // A case has one token of its site. Requests use the newest token of the key, because cases at full size outlive a token.
  const newest = new Map<string, { readonly key: ApiKey; readonly token: string; readonly at: number }>();
  const newToken = async (key: ApiKey) => {
    const at = Date.now();
    return { key, token: await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' }), at };
  };
  const renewed = async (first: string): Promise<string> => {
    const known = newest.get(first);
    if (known === undefined || Date.now() - known.at < RENEW_AFTER_MS) return known?.token ?? first;
    const renewal = await newToken(known.key);
    newest.set(first, renewal);
    return renewal.token;
  };
  const newSite = async () => {
    const site = await createSite(client);
    const first = await newToken(await createApiKey(client, { site, patientMatch: true }));
    newest.set(first.token, first);
    return { site, key: first.key, token: first.token };
  };
  const { site, key, token } = await newSite();
  const { token: otherToken } = await newSite();
  const root = `${gateway.fhirBaseUrl}/fhir`;

  const call = async (method: string, path: string, options: Call = {}): Promise<Reply> => {
    const { body } = options;
    const authorization =
      options.token === null ? {} : { authorization: `Bearer ${await renewed(options.token ?? token)}` };
    const response = await fetch(path.startsWith('http') ? path : root + path, {
      method,
      headers: {
        ...authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/fhir+json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? {} : (JSON.parse(text) as Body),
    };
  };
  const create = async (resource: Body, by?: string): Promise<string> => {
    const reply = await call('POST', `/${resource['resourceType']}`, {
      body: resource,
      ...(by === undefined ? {} : { token: by }),
    });
    expect(reply.status, reply.text).toBe(201);
    return String(reply.body['id']);
  };
  return {
    gateway,
    db,
    client,
    root,
    site,
    key,
    get token() {
      return newest.get(token)?.token ?? token;
    },
    otherToken,
    call,
    create,
    async tokenWith(scopes) {
      const limited = await createApiKey(client, { site, scopes });
      return getToken(gateway.oauthBaseUrl, limited, { audience: 'svc-fhir' });
    },
    newSite,
    async stop() {
      await gateway.kill();
      await db.drop();
    },
  };
}

/** An OperationOutcome of R4 with one issue at least, all of whose codes are R4's. */
export function expectOutcome(reply: Reply, status: number, code: string, place?: string): void {
  expect(reply.status, reply.text).toBe(status);
  expect(reply.headers.get('content-type')).toMatch(/^application\/fhir\+json/);
  expect(reply.headers.get('x-request-id')).toBeTruthy();
  expect(reply.body['resourceType']).toBe('OperationOutcome');
  const issues = reply.body['issue'] as Body[];
  expect(issues.length).toBeGreaterThan(0);
  expect(issues.map((issue) => issue['code'])).toContain(code);
  for (const issue of issues) expect(issue['diagnostics']).toMatch(/\w+ \w+/);
  if (place === undefined) return;
  const places = issues.flatMap((issue) => [...(issue['expression'] ?? []), ...(issue['location'] ?? [])] as string[]);
  expect(places).toContain(place);
}

/** The seven of the specification, written out: what the gateway says of itself is held against them. */
export const TYPES = [
  'Patient',
  'Condition',
  'AllergyIntolerance',
  'Observation',
  'Procedure',
  'DiagnosticReport',
  'DocumentReference',
];

export const patient = (value: string, more: Body = {}): Body => ({
  resourceType: 'Patient',
  identifier: [{ system: 'urn:mrn', value }],
  ...more,
});

export const observation = (patientId: string, more: Body = {}): Body => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
  subject: { reference: `Patient/${patientId}` },
  ...more,
});

/** The ids of a searchset's matches, in order. */
export const idsOf = (reply: Reply): string[] =>
  ((reply.body['entry'] ?? []) as Body[])
    .filter((entry) => entry['search']?.mode === 'match')
    .map((entry) => String(entry['resource'].id));

export const linkOf = (reply: Reply, relation: string): string | undefined =>
  (reply.body['link'] as Body[] | undefined)?.find((link) => link['relation'] === relation)?.['url'] as
    | string
    | undefined;

/** All pages from the first on, at most 1,000. */
export async function walk(subject: Subject, path: string, token?: string): Promise<Reply[]> {
  const pages: Reply[] = [];
  let next: string | undefined = path;
  while (next !== undefined) {
    const page: Reply = await subject.call('GET', next, token === undefined ? {} : { token });
    expect(page.status, page.text).toBe(200);
    pages.push(page);
    expect(pages.length).toBeLessThan(1_000);
    next = linkOf(page, 'next');
  }
  return pages;
}
