/**
 * Every interaction with every parameter and header that clients might send. Unknown ones are rejected. Headers that proxies
 * and browsers add change nothing.
 */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { operationsWithout } from '../../stack/tools/undescribed.ts';
import { type Body, patient, type Subject } from './subject.ts';

/** A request of the interaction for an existing patient. */
interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: Body | string;
  readonly type?: string;
}

const INTERACTIONS = {
  read: (id) => ({ method: 'GET', path: `/Patient/${id}` }),
  vread: (id) => ({ method: 'GET', path: `/Patient/${id}/_history/1` }),
  history: (id) => ({ method: 'GET', path: `/Patient/${id}/_history` }),
  typeHistory: () => ({ method: 'GET', path: '/Patient/_history' }),
  everything: (id) => ({ method: 'GET', path: `/Patient/${id}/$everything` }),
  everythingByPost: (id) => ({
    method: 'POST',
    path: `/Patient/${id}/$everything`,
    body: { resourceType: 'Parameters' },
  }),
  // One page: a cursor is another text each time.
  search: (id) => ({ method: 'GET', path: `/Patient?_id=${id}` }),
  searchByPost: () => ({
    method: 'POST',
    path: '/Patient/_search',
    body: 'identifier=table',
    type: 'application/x-www-form-urlencoded',
  }),
  create: () => ({ method: 'POST', path: '/Patient', body: patient(randomUUID()) }),
  update: (id) => ({ method: 'PUT', path: `/Patient/${id}`, body: patient('table', { id }) }),
  conditionalUpdate: (id) => ({
    method: 'PUT',
    path: `/Patient?_id=${id}`,
    body: patient('table', { id }),
  }),
  patch: (id) => ({ method: 'PATCH', path: `/Patient/${id}`, body: '[]', type: 'application/json-patch+json' }),
  conditionalPatch: (id) => ({
    method: 'PATCH',
    path: `/Patient?_id=${id}`,
    body: '[]',
    type: 'application/json-patch+json',
  }),
  validate: () => ({ method: 'POST', path: '/Patient/$validate', body: patient('table') }),
  validateInstance: (id) => ({ method: 'POST', path: `/Patient/${id}/$validate`, body: patient('table', { id }) }),
  match: () => ({ method: 'POST', path: '/Patient/$match', body: patient('table', { gender: 'male' }) }),
  bundle: () => ({ method: 'POST', path: '', body: { resourceType: 'Bundle', type: 'batch', entry: [] } }),
  metadata: () => ({ method: 'GET', path: '/metadata' }),
} satisfies Readonly<Record<string, (id: string) => Request>>;

type Name = keyof typeof INTERACTIONS;
const NAMES = Object.keys(INTERACTIONS) as Name[];

const PAGED = ['history', 'typeHistory', 'everything', 'everythingByPost'];

/** Parameters of R4, of other servers and invented ones, with the interactions that support them. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  'foo=1': [],
  'Identifier=x': [],
  'identifier:exact=x': [],
  '_include=Patient:organization': [],
  '_revinclude=Provenance:target': [],
  '_has:Observation:patient:code=x': [],
  '_at=2020': [],
  '_type=Patient': ['everything', 'everythingByPost'],
  'start=2020-01-01': [],
  'end=2020-01-01': [],
  '_tag=x': [],
  '_contained=true': [],
  '_totalMethod=count': [],
  '_fields=id': [],
  '_pretty=perhaps': [],
  '_since=1970-01-01T00:00:00Z': PAGED,
  '_elements=identifier': ['read', 'vread', 'search', 'searchByPost'],
  '_total=accurate': ['search', 'searchByPost'],
  '_sort=_lastUpdated': ['search', 'searchByPost'],
  '_count=1': ['search', 'searchByPost', ...PAGED],
  'identifier=table': ['search', 'searchByPost', 'conditionalUpdate', 'conditionalPatch'],
  'mode=create': ['validate'],
  'mode=full': ['metadata'],
};

/** Unsupported parameters: R4's other search parameters of a Patient and of all types, and those of other servers. */
const UNKNOWN = `
  active address address-city address-country address-postalcode address-state address-use death-date deceased email family
  general-practitioner given language link organization phone phonetic telecom _content _text _filter _has _list _query
  _profile _security _source _contained _containedType _offset _page _totalMethod _fields _getpages _narrative _graph
  _compartment _project _page_token _explain page limit offset sort q callback _dc debug utm_source
`
  .trim()
  .split(/\s+/);

const EPOCH = 'Thu, 01 Jan 1970 00:00:00 GMT';
/** Their answer has a tag, and 304 says that the client has it. */
const TAGGED = ['read', 'vread', 'metadata'];
const UNVERSIONED = [...PAGED, 'search', 'searchByPost', 'metadata'];
const OF_READS = [
  'create',
  'update',
  'conditionalUpdate',
  'patch',
  'conditionalPatch',
  'validate',
  'validateInstance',
  'match',
  'bundle',
  ...UNVERSIONED,
];

const WITHOUT_BODY = ['read', 'vread', 'history', 'typeHistory', 'everything', 'search', 'metadata'];

/** Headers that would hold or fail where they are looked at; by interaction, where they have no effect and may not. */
const HEADERS: readonly (readonly [name: string, value: string, without: readonly string[]])[] = [
  // There is no version to compare with (RFC 9110 §13.1.1, §13.1.2, §13.1.4).
  ['if-match', 'W/"99"', UNVERSIONED],
  ['if-match', 'garbage', UNVERSIONED],
  ['if-unmodified-since', EPOCH, UNVERSIONED],
  ['if-none-match', '*', UNVERSIONED],
  // For reads only (RFC 9110 §13.1.3).
  ['if-modified-since', EPOCH, [...OF_READS, 'read', 'vread']],
  ['if-none-exist', 'foo=1', []],
  ['accept', 'application/fhir+xml', []],
  ['content-type', 'application/fhir+xml', WITHOUT_BODY],
  ['content-encoding', 'gzip', WITHOUT_BODY],
];

/** Headers that proxies, browsers and client libraries add. */
const HARMLESS: Readonly<Record<string, string>> = {
  'accept-charset': 'utf-8',
  'accept-language': 'de',
  baggage: 'a=b',
  'cache-control': 'no-cache',
  dnt: '1',
  forwarded: 'for=192.0.2.1',
  from: 'a@example.test',
  origin: 'https://app.test',
  pragma: 'no-cache',
  prefer: 'respond-async, wait=5',
  priority: 'u=1',
  range: 'bytes=0-10',
  referer: 'https://app.test/',
  'sec-fetch-mode': 'cors',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'user-agent': 'HAPI-FHIR/8.0',
  via: '1.1 proxy',
  'x-forwarded-for': '192.0.2.1',
  'x-requested-with': 'XMLHttpRequest',
};

const REFUSED = [400, 406, 412, 415];

export function strictTableCases(subject: () => Subject): void {
  let id: Promise<string> | undefined;
  const send = async (name: Name, query: string, headers: Readonly<Record<string, string>> = {}) => {
    id ??= subject().create(patient('table'));
    const request: Request = INTERACTIONS[name](await id);
    const { method, path, body, type } = request;
    const joined = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
    const own = type === undefined ? {} : { 'content-type': type };
    return subject().call(method, joined, { headers: { ...own, ...headers }, ...(body === undefined ? {} : { body }) });
  };

  const namesIn = (outcome: Body) =>
    new Set((outcome['issue'] as Body[]).flatMap((issue) => (issue['location'] ?? []) as string[]));
  const ALL = new Set(UNKNOWN.map((name) => `http.${name}`));
  const QUERY = UNKNOWN.map((name) => `${name}=x`).join('&');

  test('in a bundle each entry rejects all that it does not know, and names it', async () => {
    id ??= subject().create(patient('table'));
    const patients = `Patient/${await id}`;
    const entry = [
      { request: { method: 'GET', url: `${patients}?${QUERY}` } },
      { request: { method: 'GET', url: `${patients}/_history?${QUERY}` } },
      { request: { method: 'GET', url: `${patients}/_history/1?${QUERY}` } },
      { request: { method: 'GET', url: `Patient?${QUERY}` } },
      { request: { method: 'POST', url: `Patient?${QUERY}` }, resource: patient(randomUUID()) },
      { request: { method: 'PUT', url: `${patients}?${QUERY}` }, resource: patient('table', { id: await id }) },
      { request: { method: 'PUT', url: `Patient?${QUERY}` }, resource: patient('table') },
    ];
    const { body } = await subject().call('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } });
    for (const { response } of body['entry'] as Body[]) {
      expect(response.status).toBe('400 Bad Request');
      expect(namesIn(response.outcome)).toEqual(ALL);
    }
  });

  test('the table has every operation of the API reference', async () => {
    const requests = Object.values(INTERACTIONS).map((request) => request('1'));
    expect(await operationsWithout('Patient', requests)).toEqual([]);
  });

  describe.each(NAMES)('%s', (name) => {
    test('names all that it does not know', async () => {
      const { status, body } = await send(name, QUERY);
      expect([status, namesIn(body)]).toEqual([400, ALL]);
    });

    test('rejects a header that would mean something else', async () => {
      if (name === 'metadata') return;
      const { method } = INTERACTIONS[name]('');
      for (const [header, value] of [
        ['content-range', 'bytes 0-9/20'],
        ['x-provenance', '{"resourceType":"Provenance"}'],
        ['x-http-method-override', 'DELETE'],
      ] as const) {
        const { status, text } = await send(name, '', { [header]: value });
        expect([status, text.toLowerCase()]).toEqual([400, expect.stringContaining(`http.${header}`)]);
      }
      expect((await send(name, '', { 'x-http-method-override': method })).status).toBeLessThan(300);
    });

    test('rejects every parameter that it does not know', async () => {
      for (const [parameter, known] of Object.entries(PARAMETERS)) {
        const { status, text } = await send(name, parameter);
        if (known.includes(name)) expect(status, `${parameter} ${text}`).toBeLessThan(300);
        else expect([parameter, status]).toEqual([parameter, 400]);
      }
    });

    test('obeys or rejects a condition', async () => {
      for (const [header, value, without] of HEADERS) {
        const { status, text } = await send(name, '', { [header]: value });
        if (header === 'if-none-match' && TAGGED.includes(name)) expect(status).toBe(304);
        else if (without.includes(name)) expect(status, `${header} ${value} ${text}`).toBeLessThan(300);
        else expect(REFUSED, `${header} ${value} ${status}`).toContain(status);
      }
    });

    test('is the same with headers that proxies and browsers add', async () => {
      const plain = await send(name, '');
      const decorated = await send(name, '', HARMLESS);
      expect([decorated.status, plain.status < 300]).toEqual([plain.status, true]);
      for (const [header, value] of Object.entries(HARMLESS)) {
        if (name !== 'search') break;
        expect([header, (await send(name, '', { [header]: value })).text]).toEqual([header, plain.text]);
      }
    });
  });
}
