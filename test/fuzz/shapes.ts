/**
 * Shapes of requests. Each is a request of a surface that grows in one dimension, up to the largest that the limits admit. Each
 * text is put into each place of each surface, and each list of a request becomes long.
 */
import { ASSERTION_TYPE } from '../stack/services/client.ts';
import { frame } from '../stack/tools/mllp-peer.ts';
import { randomFrom } from '../stack/tools/random.ts';
import type { HttpAttempt } from './attempt.ts';
import type { World } from './world.ts';

export type Grown =
  | { readonly over: 'http'; readonly attempt: HttpAttempt }
  | { readonly over: 'mllp'; readonly content: Uint8Array };

export interface RequestShape {
  readonly surface: string;
  readonly what: string;
  /** The largest size. */
  readonly size: number;
  readonly draft: (world: World, size: number) => Grown;
}

/** The limits of one request: CPU of the gateway and of PostgreSQL, and memory above rest. */
export interface CostLimits {
  readonly cpuMs: number;
  readonly databaseMs: number;
  readonly mebibytes: number;
}

/** Somewhat below the limits of bodies, so that the parts around the text fit. */
const LIMIT = {
  form: 15_000,
  url: 8_000,
  header: 4_000,
  admin: 240_000,
  message: 1_000_000,
  resource: 2_000_000,
} as const;

/** Texts that are expensive for some parser if they are repeated. */
const UNITS: readonly (readonly [name: string, unit: string])[] = [
  ['letters', 'a'],
  ['spaces', ' '],
  ['digits', '7'],
  ['zeros', '0'],
  ['quotes', '"'],
  ['backslashes', '\\'],
  ['commas', ','],
  ['bars', '|'],
  ['carets', '^'],
  ['tildes', '~'],
  ['ampersands', '&'],
  ['dots', '.'],
  ['slashes', '/'],
  ['colons', 'a:'],
  ['equals signs', '=a'],
  ['brackets', '['],
  ['angle brackets', '<a '],
  ['percent signs', '%41'],
  ['line ends', '\r'],
  ['ligatures', '\ufdfa'],
  ['marks out of order', '\u0315\u0300'],
  ['letters beyond 16 bits', '\u{1d6fc}'],
  ['escapes of HL7', '\\X41\\'],
  ['escapes that no set decodes', '\\XE9\\'],
  ['dates', '2001-01-01,'],
  ['words', 'ab '],
  ['labels of keys', 'BEGIN '],
];

const list = <T>(n: number, one: (at: number) => T): T[] => Array.from({ length: n }, (_, at) => one(at));
/** Different letters for each seed, so that no part of them is that of another one. */
const lettersOf = (seed: number, length: number): string => {
  const next = randomFrom(seed);
  return String.fromCodePoint(...list(length, () => 97 + Math.floor(next() * 26)));
};
export const http = (attempt: HttpAttempt): Grown => ({ over: 'http', attempt });

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
export const fhirHeaders = ({ tokens }: World): Record<string, string> => ({
  authorization: `Bearer ${tokens.fhir}`,
  'content-type': 'application/fhir+json',
});
/** A request of the FHIR API. A text is the body as it is. */
export const fhir = (world: World, method: string, path: string, body?: unknown, headers = {}): Grown =>
  http({
    method,
    path: `/fhir${path}`,
    headers: { ...fhirHeaders(world), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
export const post = (world: World, path: string, body: unknown): Grown => fhir(world, 'POST', path, body);
const searchBy = ({ tokens }: World, type: string, body: string): Grown =>
  http({
    method: 'POST',
    path: `/fhir/${type}/_search`,
    headers: { authorization: `Bearer ${tokens.fhir}`, ...FORM },
    body,
  });
export const staff = ({ tokens }: World, method: string, path: string, body?: unknown): Grown =>
  http({
    method,
    path,
    headers: { authorization: `Bearer ${tokens.staff}`, 'content-type': 'application/json', 'if-match': '*' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** A place for a text. The text has at most `limit` bytes as it is sent. */
interface TextPlace {
  readonly surface: string;
  readonly what: string;
  readonly limit: number;
  readonly draft: (world: World, text: string) => Grown;
  /** The bytes of a text as it is sent there. */
  readonly bytesOf: (text: string) => number;
}

const utf8 = (text: string): number => Buffer.byteLength(text);
const asJson = (text: string): number => utf8(JSON.stringify(text)) - 2;
const asForm = (text: string): number => utf8(new URLSearchParams({ x: text }).toString()) - 2;
const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' } };

const PATIENT: Readonly<Record<string, (text: string) => object>> = {
  family: (text) => ({ name: [{ family: text }] }),
  given: (text) => ({ name: [{ given: [text] }] }),
  'text of a name': (text) => ({ name: [{ text }] }),
  identifier: (value) => ({ identifier: [{ system: 'urn:x', value }] }),
  'system of an identifier': (system) => ({ identifier: [{ system, value: 'x' }] }),
  telecom: (value) => ({ telecom: [{ value }] }),
  'line of an address': (text) => ({ address: [{ line: [text] }] }),
  birthDate: (birthDate) => ({ birthDate }),
  reference: (reference) => ({ managingOrganization: { reference } }),
  narrative: (text) => ({
    text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${text}</div>` },
  }),
  extension: (valueString) => ({ extension: [{ url: 'urn:x', valueString }] }),
  'name of a member': (text) => ({ [text]: 1 }),
  photo: (data) => ({ photo: [{ contentType: 'image/png', data }] }),
};
const OBSERVATION: Readonly<Record<string, (text: string) => object>> = {
  code: (code) => ({ code: { coding: [{ system: 'urn:x', code }] } }),
  value: (valueString) => ({ valueString }),
  effective: (effectiveDateTime) => ({ effectiveDateTime }),
  subject: (reference) => ({ subject: { reference } }),
  note: (text) => ({ note: [{ text }] }),
};
const written = (type: string, parts: Readonly<Record<string, (text: string) => object>>, path: string): TextPlace[] =>
  Object.entries(parts).map(([what, of]) => ({
    surface: path.includes('$') ? 'validate' : 'write',
    what: `${type}, ${what}`,
    limit: LIMIT.resource,
    bytesOf: asJson,
    draft: (world, text) => post(world, `/${type}${path}`, { ...observation, resourceType: type, ...of(text) }),
  }));
/** An Observation's members are not a Patient's. */
const ofPatient = (parts: TextPlace[]): TextPlace[] =>
  parts.map((place) => ({
    ...place,
    draft: (world, text) => {
      const grown = place.draft(world, text);
      if (grown.over !== 'http' || typeof grown.attempt.body !== 'string') return grown;
      const { status: _, code: __, ...rest } = JSON.parse(grown.attempt.body) as Record<string, unknown>;
      return http({ ...grown.attempt, body: JSON.stringify(rest) });
    },
  }));

const PARAMETERS: readonly (readonly [type: string, name: string])[] = [
  ['Patient', 'name'],
  ['Patient', 'family:exact'],
  ['Patient', 'name:contains'],
  ['Patient', 'identifier'],
  ['Patient', 'birthdate'],
  ['Patient', '_id'],
  ['Patient', '_lastUpdated'],
  ['Patient', '_sort'],
  ['Patient', '_elements'],
  ['Patient', '_cursor'],
  ['Patient', 'no-such-parameter'],
  ['Observation', 'code'],
  ['Observation', 'patient'],
  ['Observation', 'date'],
  ['Observation', '_include'],
];
const searched: TextPlace[] = PARAMETERS.map(([type, name]) => ({
  surface: 'search',
  what: `${type}?${name}`,
  limit: LIMIT.admin,
  bytesOf: asForm,
  draft: (world, text) => searchBy(world, type, new URLSearchParams({ [name]: text }).toString()),
}));

const headers: TextPlace[] = [
  'accept',
  'prefer',
  'if-none-exist',
  'if-match',
  'if-modified-since',
  'traceparent',
  'authorization',
].map((name) => ({
  surface: 'header',
  what: name,
  limit: LIMIT.header,
  bytesOf: utf8,
  draft: (world, text) =>
    fhir(world, 'POST', '/Patient', '{"resourceType":"Patient"}', { [name]: text.replaceAll(/[\r\n]/g, '') }),
}));

const tokenForm: TextPlace[] = ['scope', 'client_assertion', 'grant_type', 'audience', 'x'].map((name) => ({
  surface: 'token',
  what: name,
  limit: LIMIT.form,
  bytesOf: asForm,
  draft: (_, text) =>
    http({
      method: 'POST',
      path: '/oauth2/token',
      headers: FORM,
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: 'a.b.c',
        [name]: text,
      }).toString(),
    }),
}));

const MSH = (fields: Readonly<Record<number, string>> = {}): string =>
  [
    'MSH',
    '^~\\&',
    ...list(
      10,
      (at) =>
        fields[at + 3] ?? ['LAB', 'EAST', 'GW', 'GW', '20260101', '', 'ADT^A08', String(at), 'P', '2.5.1'][at] ?? '',
    ),
  ].join('|');
const segment = (id: string, fields: Readonly<Record<number, string>>): string =>
  [id, ...list(Math.max(...Object.keys(fields).map(Number)), (at) => fields[at + 1] ?? '')].join('|');
const PID = (fields: Readonly<Record<number, string>> = {}): string =>
  segment('PID', { 3: '4711^^^HOSP^MR', 5: 'Doe^Jane', ...fields });

let sent = 0;
/** The control id is new each time, so that no message is a repetition. */
export function message(world: World, lines: readonly string[], over: 'http' | 'mllp', type = 'ADT^A08'): Grown {
  sent += 1;
  const head = /^(?:MSH|BHS)/.test(lines[0] ?? '') ? [] : [MSH({ 9: type, 10: `cost-${sent}` })];
  // A separate patient for each message, who has no stored results.
  const content = Buffer.from([...head, ...lines].join('\r').replace('|4711^', `|P${sent}^`));
  if (over === 'mllp') return { over, content: frame(content) };
  const { tokens } = world;
  return http({
    method: 'POST',
    path: '/hl7/messages',
    headers: { authorization: `Bearer ${tokens.hl7}`, 'content-type': 'text/plain' },
    body: content,
  });
}

/** Segments whose fields can be long. */
const FIELDS: readonly (readonly [id: string, ...fields: number[]])[] = [
  ['MSH', 3, 4, 5, 7, 9, 10, 11, 12],
  ['PID', 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 18, 22, 29],
  ['NK1', 2, 4, 5],
  ['PV1', 2, 3, 7, 19],
  ['AL1', 2, 3, 5],
  ['DG1', 3, 5],
  ['OBR', 2, 3, 4, 7, 16, 26, 29],
  ['OBX', 2, 3, 4, 5, 6, 7, 8, 11, 14],
  ['NTE', 3],
  ['ZZ1', 1],
];
const RESULT_SEGMENTS = new Set(['OBR', 'OBX', 'NTE']);

function linesWith(id: string, field: number, text: string): { readonly lines: string[]; readonly type: string } {
  const result = RESULT_SEGMENTS.has(id);
  const type = result ? 'ORU^R01' : 'ADT^A08';
  if (id === 'MSH') return { lines: [MSH({ 9: type, [field]: text }), PID()], type };
  if (id === 'PID') return { lines: [PID({ [field]: text })], type };
  const obr = segment('OBR', {
    3: 'F1',
    4: '1^P^L',
    7: '20260101',
    25: 'F',
    ...(id === 'OBR' ? { [field]: text } : {}),
  });
  const obx = segment('OBX', {
    1: '1',
    2: 'ST',
    3: 'K^k^L',
    5: '5',
    11: 'F',
    ...(id === 'OBX' ? { [field]: text } : {}),
  });
  if (result) return { lines: [PID(), obr, obx, ...(id === 'NTE' ? [segment('NTE', { [field]: text })] : [])], type };
  return { lines: [PID(), segment(id, { 1: '1', [field]: text })], type };
}

const inMessages: TextPlace[] = FIELDS.flatMap(([id, ...fields]) =>
  fields.flatMap((field) =>
    (['http', 'mllp', 'workbench'] as const).map((over) => ({
      surface: over === 'workbench' ? 'workbench' : `hl7 ${over}`,
      what: `${id}-${field}`,
      limit: over === 'workbench' ? LIMIT.admin : LIMIT.message,
      bytesOf: over === 'workbench' ? asJson : utf8,
      draft: (world: World, text: string): Grown => {
        const { lines, type } = linesWith(id, field, text);
        if (over !== 'workbench') return message(world, lines, over, type);
        const head = id === 'MSH' ? [] : [MSH({ 9: type })];
        return staff(world, 'POST', '/admin/api/workbench/message', { message: [...head, ...lines].join('\r') });
      },
    })),
  ),
);

const KEY = { name: 'Made', tokenTtlSeconds: 300, protocols: ['fhir'], jwks: { keys: [] } };
const ADMIN: Readonly<Record<string, (world: World, text: string) => Grown>> = {
  'workbench, assertion': (world, text) => staff(world, 'POST', '/admin/api/workbench/assertion', { assertion: text }),
  'workbench, resource': (world, text) =>
    staff(world, 'POST', '/admin/api/workbench/resource', { resourceType: 'Patient', name: [{ text }] }),
  'name of a key': (world, text) => staff(world, 'POST', '/admin/api/api-keys', { ...KEY, name: text }),
  'jwks of a key': (world, text) => staff(world, 'POST', '/admin/api/api-keys', { ...KEY, jwks: text }),
  'addresses of a key': (world, text) => staff(world, 'POST', '/admin/api/api-keys', { ...KEY, allowedIps: text }),
  'scopes of a key': (world, text) => staff(world, 'POST', '/admin/api/api-keys', { ...KEY, allowedScopes: text }),
  'name of a site': (world, text) => staff(world, 'PATCH', '/admin/api/site', { name: text }),
  'identifying types of a site': (world, text) => staff(world, 'PATCH', '/admin/api/site', { identifyingTypes: text }),
  'comment of a replay': (world, text) =>
    staff(world, 'POST', '/admin/api/replays', { outcome: 'AE', apply: 'newest', comment: text }),
};
const administered: TextPlace[] = Object.entries(ADMIN).map(([what, draft]) => ({
  surface: 'admin',
  what,
  limit: LIMIT.admin,
  bytesOf: asJson,
  draft,
}));
const forms: TextPlace[] = [
  ['/admin/workbench', 'message'],
  ['/admin/keys', 'jwks'],
  ['/admin/keys', 'name'],
  ['/admin/settings', 'assigningAuthorities'],
].flatMap(([path = '', name = '']) =>
  [true, false].map((isSignedIn) => ({
    surface: 'page',
    what: `${path}, ${name}${isSignedIn ? '' : ', without a session'}`,
    limit: LIMIT.admin,
    bytesOf: asForm,
    draft: ({ cookie, console: { baseUrl } }: World, text: string) =>
      http({
        method: 'POST',
        path,
        headers: { ...FORM, origin: new URL(baseUrl).origin, ...(isSignedIn ? { cookie } : {}) },
        body: new URLSearchParams({ [name]: text }).toString(),
      }),
  })),
);

const ofTexts: RequestShape[] = [
  ...ofPatient([...written('Patient', PATIENT, ''), ...written('Patient', PATIENT, '/$validate')]),
  ...written('Observation', OBSERVATION, ''),
  ...searched,
  ...headers,
  ...tokenForm,
  ...inMessages,
  ...administered,
  ...forms,
].flatMap(({ surface, what, limit, bytesOf, draft }) =>
  UNITS.map(([name, unit]) => ({
    surface,
    what: `${what}: ${name}`,
    size: Math.floor(limit / Math.max(1, bytesOf(unit))),
    draft: (world: World, size: number) => draft(world, unit.repeat(size)),
  })),
);

/** A document of about 100 kB for each of a list. */
const BIG = 'x'.repeat(100_000);
const entry = (method: string, url: string, more: object = {}): object => ({ request: { method, url }, ...more });
export const batch = (world: World, entries: readonly object[], type = 'batch'): Grown =>
  post(world, '', { resourceType: 'Bundle', type, entry: entries });

type Counted = readonly [surface: string, what: string, size: number, draft: RequestShape['draft']];
const resourceOf =
  (of: (n: number) => object, path = '') =>
  (world: World, n: number): Grown => {
    const body = { resourceType: 'Patient', ...of(n) };
    return post(world, `/${body.resourceType}${path}`, body);
  };
const LISTS: Readonly<Record<string, readonly [number, (n: number) => object]>> = {
  identifiers: [1_000, (n) => ({ identifier: list(n, (at) => ({ system: 'urn:x', value: `${at}` })) })],
  names: [1_000, (n) => ({ name: list(n, (at) => ({ family: `Family ${at}`, given: ['A', 'B'] })) })],
  'names of ligatures': [900, (n) => ({ name: list(n, (at) => ({ family: `${at}${'\ufdfa'.repeat(60)}` })) })],
  extensions: [30_000, (n) => ({ extension: list(n, () => ({ url: 'urn:x', valueInteger: 1 })) })],
  'nested extensions': [
    60,
    (n) => list(n / 2, () => 0).reduce<object>((inner) => ({ extension: [{ url: 'u', ...inner }] }), {}),
  ],
  contained: [20_000, (n) => ({ contained: list(n, (at) => ({ resourceType: 'Organization', id: `o${at}` })) })],
  links: [10_000, (n) => ({ link: list(n, (at) => ({ other: { reference: `Patient/${at}` }, type: 'seealso' })) })],
  references: [20_000, (n) => ({ generalPractitioner: list(n, (at) => ({ reference: `Practitioner/${at}` })) })],
  'unknown members': [100_000, (n) => Object.fromEntries(list(n, (at) => [`x${at}`, 1]))],
  faults: [50_000, (n) => ({ name: list(n, () => ({ family: 1 })) })],
  codings: [
    9_990,
    (n) => ({
      resourceType: 'Observation',
      status: 'final',
      code: { coding: list(n, (at) => ({ system: 'urn:x', code: `${at}` })) },
    }),
  ],
  components: [
    20_000,
    (n) => ({ ...observation, component: list(n, () => ({ code: { text: 'x' }, valueInteger: 1 })) }),
  ],
  decimals: [
    20_000,
    (n) => ({
      ...observation,
      valueSampledData: { origin: { value: 1 }, period: 1, dimensions: 1, data: '1 '.repeat(n * 20) },
    }),
  ],
};
const results = (n: number, of: (at: number) => readonly string[]): string[] => [
  PID(),
  segment('OBR', { 3: 'F1', 4: '1^P^L', 7: '20260101', 25: 'F' }),
  ...list(n, of).flat(),
];
const obx = (at: number, fields: Readonly<Record<number, string>> = {}): string =>
  segment('OBX', { 1: `${at}`, 2: 'ST', 3: `K${at}^k^L`, 5: '5', 11: 'F', ...fields });
const MESSAGES: readonly (readonly [
  what: string,
  size: number,
  type: string,
  lines: (n: number) => readonly string[],
])[] = [
  ['results', 1_990, 'ORU^R01', (n) => results(n, (at) => [obx(at)])],
  ['results with notes', 1_990, 'ORU^R01', (n) => results(n, (at) => [obx(at), 'NTE|1||a'])],
  ['identical results', 1_990, 'ORU^R01', (n) => results(n, () => [obx(1)])],
  [
    'orders',
    990,
    'ORU^R01',
    (n) => [
      PID(),
      ...list(n, (at) => [segment('OBR', { 3: `F${at}`, 4: '1^P^L', 7: '20260101', 25: 'F' }), obx(at)]).flat(),
    ],
  ],
  [
    'isolates with repetitions, and their susceptibilities',
    130,
    'ORU^R01',
    (n) =>
      results(n, (at) => [
        obx(at, { 3: 'I^i^L', 4: '1', 5: `${'a~'.repeat(149)}b` }),
        segment('OBR', { 3: `G${at}`, 4: '1^P^L', 7: '20260101', 25: 'F', 26: 'I&i&L^1^zz' }),
        obx(at),
      ]),
  ],
  ['repetitions of a number', 19_000, 'ORU^R01', (n) => results(1, () => [obx(1, { 2: 'NM', 5: '1~'.repeat(n) })])],
  ['lines of text', 400_000, 'ORU^R01', (n) => results(1, () => [obx(1, { 2: 'TX', 5: 'a~'.repeat(n) })])],
  ['samples', 400_000, 'ORU^R01', (n) => results(1, () => [obx(1, { 2: 'NA', 5: '1^'.repeat(n) })])],
  ['notes', 19_000, 'ORU^R01', (n) => results(1, (at) => [obx(at), ...list(n, (each) => `NTE|${each}||a`)])],
  ['contacts', 4_000, 'ADT^A08', (n) => [PID(), ...list(n, (at) => `NK1|${at}|Doe^J|MTH`)]],
  ['allergies', 1_950, 'ADT^A08', (n) => [PID(), ...list(n, (at) => `AL1|${at}|DA|P${at}^p^L`)]],
  ['diagnoses', 1_950, 'ADT^A08', (n) => [PID(), ...list(n, (at) => `DG1|${at}||I${at}^i^L||20260101|A`)]],
  ['identifiers', 100, 'ADT^A08', (n) => [PID({ 3: list(n, (at) => `${at}^^^A${at}^MR`).join('~') })]],
  ['names', 1_000, 'ADT^A08', (n) => [PID({ 5: list(n, (at) => `F${at}^G`).join('~') })]],
  ['names of ligatures', 900, 'ADT^A08', (n) => [PID({ 5: list(n, (at) => `${at}${'\ufdfa'.repeat(60)}`).join('~') })]],
  ['merges', 100, 'ADT^A40', (n) => list(n, (at) => [PID({ 3: `${at}^^^A^MR` }), `MRG|m${at}^^^A^MR`]).flat()],
  ['unknown segments', 19_000, 'ADT^A08', (n) => [PID(), ...list(n, () => 'ZZ1|a')]],
  ['empty fields', 800_000, 'ADT^A08', (n) => [PID(), `ZZ1${'|'.repeat(n)}`]],
];

/** A message with documents has up to 10 MiB, of which the text has 1 MiB. */
const DOCUMENT_BYTES = 10_000_000;
/** Base64 that no other message has, of a multiple of four characters. */
const base64Of = (characters: number, at: number): string =>
  `${String(sent).padStart(8, '0')}${String(at).padStart(8, '0')}`.padEnd(
    Math.max(16, 4 * Math.floor(characters / 4)),
    'QUJD',
  );
const documentOf = (data: string): string => `^AP^PDF^Base64^${data}`;
const DOCUMENTS: readonly (readonly [what: string, size: number, lines: (n: number) => readonly string[]])[] = [
  ['bytes of a document', DOCUMENT_BYTES, (n) => [obx(1, { 2: 'ED', 5: documentOf(base64Of(n, 0)) })]],
  [
    'bytes of a document in lines',
    DOCUMENT_BYTES * 0.9,
    (n) => [obx(1, { 2: 'ED', 5: documentOf(base64Of(n, 0).replaceAll(/.{76}/g, '$&\\.br\\')) })],
  ],
  ['documents', 1_000, (n) => list(n, (at) => obx(at, { 2: 'ED', 5: documentOf(base64Of(9_900, at)) }))],
  [
    'repetitions with documents',
    1_000,
    (n) => [obx(1, { 2: 'ED', 5: list(n, (at) => documentOf(base64Of(9_900, at))).join('~') })],
  ],
  [
    'documents beyond their limit',
    2_300,
    (n) => list(n, (at) => obx(at, { 2: 'ED', 5: documentOf(base64Of(4_100, at)) })),
  ],
  ['bytes of a text beyond its limit', DOCUMENT_BYTES, (n) => [obx(1, { 5: 'a'.repeat(n) })]],
  ['bytes of a document that is no base64', DOCUMENT_BYTES, (n) => [obx(1, { 2: 'ED', 5: documentOf('*'.repeat(n)) })]],
];

/** New identifiers each time, so that nothing is found. */
let drafts = 0;

/** The patient of `storeRows` with many observations. */
const rowIn = (world: World): string => world.ids.get('rows')?.[0] ?? '';
const patch = (world: World, operations: readonly object[]): Grown =>
  fhir(world, 'PATCH', `/Patient/${rowIn(world)}`, operations, { 'content-type': 'application/json-patch+json' });
const urn = (of: number): string => `urn:uuid:00000000-0000-4000-8000-${String(of).padStart(12, '0')}`;
const created = (type: string, resource: object, more: object = {}): object =>
  entry('POST', type, { ...more, resource: { resourceType: type, ...resource } });
const createdIf = (ifNoneExist: string, patient: object): object => ({
  request: { method: 'POST', url: 'Patient', ifNoneExist },
  resource: { resourceType: 'Patient', ...patient },
});

/** Bundles of n entries. */
const BUNDLES: readonly (readonly [
  what: string,
  size: number,
  entryOf: (at: number, of: { readonly world: World; readonly draft: number }) => object,
  type?: 'batch' | 'transaction',
])[] = [
  ['creates', 1_000, (at) => created('Patient', { name: [{ family: `F${at}` }] })],
  [
    'creates of a transaction',
    1_000,
    (at) => created('Patient', { name: [{ family: `F${at}` }] }, { fullUrl: urn(at) }),
    'transaction',
  ],
  [
    'creates of patients with long names',
    1_000,
    (at) => created('Patient', { name: [{ family: lettersOf(at, 149) }] }),
  ],
  [
    'references between entries',
    900,
    (at) => {
      const more = { fullUrl: urn(at) };
      if (at === 0) return created('Patient', {}, more);
      const hasMember = [{ reference: urn(at === 1 ? 2 : at - 1) }];
      return created('Observation', { ...observation, subject: { reference: urn(0) }, hasMember }, more);
    },
    'transaction',
  ],
  [
    'conditional references',
    900,
    (at) => created('Observation', { ...observation, subject: { reference: `Patient?identifier=x|${at}` } }),
  ],
  [
    'updates of a batch',
    500,
    (at, { world, draft }) => {
      const ids = world.ids.get('patients') ?? [];
      const id = ids[at % ids.length];
      const name = [{ family: `F${draft}-${at}` }];
      return entry('PUT', `Patient/${id}`, { resource: { resourceType: 'Patient', id, name } });
    },
  ],
  ...(['batch', 'transaction'] as const).flatMap((type): (typeof BUNDLES)[number][] => [
    [
      `conditional creates (${type})`,
      type === 'batch' ? 500 : 1_000,
      (at, { draft }) =>
        createdIf(`identifier=urn:x|c${draft}-${at}`, { identifier: [{ system: 'urn:x', value: `c${draft}-${at}` }] }),
      type,
    ],
    [
      `conditional creates of 2 MiB (${type})`,
      500,
      (at) =>
        createdIf(`identifier=urn:x|c${at}`, {
          identifier: [{ system: 'urn:x', value: `c${at}` }],
          address: [{ text: 'a'.repeat(3_700) }],
        }),
      type,
    ],
    [
      `names that conditions compare with names (${type})`,
      400,
      (at) => createdIf(`name=abc${at}&birthdate=1900-01-01`, { name: [{ family: `${at}${'ab'.repeat(120)}` }] }),
      type,
    ],
  ]),
  ['searches of the patient', 100, (_, { world }) => entry('GET', `Observation?patient=${rowIn(world)}&_count=500`)],
  ['documents', 100, (_, { world }) => entry('GET', `DocumentReference?patient=${rowIn(world)}&_count=500`)],
  ['reads', 100, (_, { world }) => entry('GET', `Patient/${rowIn(world)}`)],
  ['names', 20, (at) => entry('GET', `Patient?name=zz${at},a${at},b${at}`)],
  [
    'patches',
    100,
    (at, { world, draft }) => {
      const operations = JSON.stringify([{ op: 'add', path: '/language', value: `x-${draft}` }]);
      const data = Buffer.from(operations).toString('base64');
      const resource = { resourceType: 'Binary', contentType: 'application/json-patch+json', data };
      return entry('PATCH', `Patient/${world.ids.get('patients')?.[at] ?? ''}`, { resource });
    },
  ],
];

const COUNTED: readonly Counted[] = [
  ...DOCUMENTS.flatMap(([what, size, lines]) =>
    (['http', 'mllp'] as const).map((over): Counted => [
      `hl7 ${over}`,
      what,
      size,
      (world, n) => message(world, [...results(0, () => []), ...lines(n)], over, 'ORU^R01'),
    ]),
  ),
  ...Object.entries(LISTS).flatMap(([what, [size, of]]): Counted[] => [
    ['write', what, size, resourceOf(of)],
    ['validate', what, size, resourceOf(of, '/$validate')],
  ]),
  ...MESSAGES.flatMap(([what, size, type, lines]): Counted[] => [
    ...(['http', 'mllp'] as const).map((over): Counted => [
      `hl7 ${over}`,
      what,
      size,
      (world, n) => message(world, lines(n), over, type),
    ]),
    [
      'workbench',
      what,
      Math.floor(size / 4),
      (world, n) =>
        staff(world, 'POST', '/admin/api/workbench/message', { message: [MSH({ 9: type }), ...lines(n)].join('\r') }),
    ],
  ]),
  [
    'hl7 http',
    'messages of a batch',
    100,
    (world, n) =>
      message(
        world,
        ['BHS|^~\\&|LAB', ...list(n, (at) => [MSH({ 10: `b${sent}-${at}` }), PID()]).flat(), `BTS|${n}`],
        'http',
      ),
  ],
  ...BUNDLES.map(([what, size, entryOf, type]): Counted => [
    'bundle',
    what,
    size,
    (world, n) => {
      drafts += 1;
      const of = { world, draft: drafts };
      return batch(
        world,
        list(n, (at) => entryOf(at, of)),
        type,
      );
    },
  ]),
  [
    'bundle',
    'conditional references of one resource',
    990,
    (world, n) => {
      const hasMember = list(n, (at) => ({ reference: `Patient?_id=${rowIn(world)},a${at}` }));
      const note = [{ text: '0190f8a4-0000-7000-8000-0000'.repeat(60_000) }];
      return batch(world, [created('Observation', { ...observation, note, hasMember })], 'transaction');
    },
  ],
  ...(['add', 'remove', 'copy', 'test'] as const).map((op): Counted => [
    'patch',
    `operations (${op})`,
    990,
    (world, n) => {
      const extension = (valueInteger: number) => ({ url: 'urn:x', valueInteger });
      const change = { op, path: '/extension/0', from: '/extension/1', value: extension(0) };
      return patch(world, [{ op: 'add', path: '/extension', value: list(2_000, extension) }, ...list(n, () => change)]);
    },
  ]),
  ['patch', 'a value', 2_000_000, (world, n) => patch(world, [{ op: 'add', path: '/language', value: 'a'.repeat(n) }])],
  ...(
    [
      ['search', 'observations', 'Observation?_count='],
      ['search', 'documents', 'DocumentReference?_count='],
      ['search', 'patients by name', 'Patient?name=rows&_count='],
      ['history', 'of a type', 'Patient/_history?_count='],
    ] as const
  ).map(([surface, what, path]): Counted => [
    surface,
    `${what} found`,
    500,
    (world, n) => fhir(world, 'GET', `/${path}${n}`),
  ]),
  [
    'everything',
    'resources found',
    500,
    (world, n) => fhir(world, 'GET', `/Patient/${rowIn(world)}/$everything?_count=${n}`),
  ],
  ...(
    [
      ['identifiers', 500, 'Patient', (n) => `identifier=${list(n, (at) => `urn:x|${at}`).join(',')}`],
      ['names', 20, 'Patient', (n) => `name=${list(n, (at) => `row${at}`).join(',')}`],
      ['codes', 500, 'Observation', (n) => `code=${list(n, (at) => `urn:x|${at}`).join(',')}`],
      ['dates', 500, 'Observation', (n) => `date=${list(n, (at) => `ge20${10 + (at % 80)}`).join(',')}`],
      ['parameters', 64, 'Observation', (n) => list(n, (at) => `code=urn:x|${at}`).join('&')],
    ] satisfies [what: string, size: number, type: string, form: (n: number) => string][]
  ).map(([what, size, type, form]): Counted => ['search', what, size, (world, n) => searchBy(world, type, form(n))]),
  [
    'export',
    'types',
    10,
    (world, n) => {
      const types = list(n, () => 'Patient').join(',');
      return fhir(world, 'GET', `/$export?_type=${types}`, undefined, { prefer: 'respond-async' });
    },
  ],
  ['admin', 'messages found', 200, (world, n) => staff(world, 'GET', `/admin/api/messages?limit=${n}`)],
  ['admin', 'audit found', 200, (world, n) => staff(world, 'GET', `/admin/api/audit?limit=${n}`)],
  ['write', 'levels of JSON', 2_000_000, (world, n) => post(world, '/Patient', '['.repeat(n))],
  [
    'write',
    'base64 of a document',
    1_400_000,
    (world, n) =>
      post(world, '/DocumentReference', {
        resourceType: 'DocumentReference',
        status: 'current',
        content: [{ attachment: { contentType: 'application/pdf', data: 'QUJD'.repeat(n / 4) } }],
      }),
  ],
];

/** Every list of a request becomes long: these are few, and find most. */
export const COUNTED_SHAPES: readonly RequestShape[] = COUNTED.map(([surface, what, size, draft]) => ({
  surface,
  what,
  size,
  draft,
}));

/** Every text in every place. */
export const TEXT_SHAPES: readonly RequestShape[] = ofTexts;

/** Stores the rows that the requests find: a patient with many observations and large documents. */
export async function storeRows(world: World): Promise<void> {
  const send = async (resource: object): Promise<string> => {
    const type = (resource as { readonly resourceType: string }).resourceType;
    const response = await fetch(`${world.console.gateway.fhirBaseUrl}/fhir/${type}`, {
      method: 'POST',
      headers: fhirHeaders(world),
      body: JSON.stringify(resource),
    });
    if (response.status !== 201) throw new Error(`${type}: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { readonly id: string }).id;
  };
  const patient = await send({ resourceType: 'Patient', name: [{ family: 'Rows' }] });
  world.ids.set('rows', [patient]);
  const subject = { reference: `Patient/${patient}` };
  const documents = list(16, () => ({
    resourceType: 'DocumentReference',
    status: 'current',
    subject,
    content: [{ attachment: { contentType: 'text/plain', data: Buffer.from(BIG.repeat(14)).toString('base64') } }],
  }));
  const stored: string[] = [];
  for (const document of documents) stored.push(await send(document));
  world.ids.set('documents', stored);
  const rows = list(600, (at) => ({
    request: { method: 'POST', url: at % 2 === 0 ? 'Observation' : 'Patient' },
    resource:
      at % 2 === 0
        ? { ...observation, subject, valueString: `${at}` }
        : { resourceType: 'Patient', name: [{ family: `Rows ${at}` }] },
  }));
  const response = await fetch(`${world.console.gateway.fhirBaseUrl}/fhir`, {
    method: 'POST',
    headers: fhirHeaders(world),
    body: JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry: rows }),
  });
  if (response.status !== 200) throw new Error(`the rows: ${response.status}`);
  const ids = (await response.text()).matchAll(/Patient\/([0-9a-f-]{36})\/_history/g);
  world.ids.set(
    'patients',
    [...ids].map(([, id = '']) => id),
  );
}
