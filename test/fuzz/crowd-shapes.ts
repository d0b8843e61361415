/** The largest requests of each kind that the limits admit, for a crowd of them (test/contract/memory.test.ts). */
import { gzipSync } from 'node:zlib';

import type { Client } from 'pg';

import {
  batch,
  COUNTED_SHAPES,
  fhir,
  fhirHeaders,
  type Grown,
  http,
  message,
  post,
  staff,
  storeRows,
} from './shapes.ts';
import type { World } from './world.ts';

export interface CrowdShape {
  readonly what: string;
  readonly draft: (world: World) => Grown;
  readonly memory?: CrowdMemory;
}

/** In MiB: the heap of V8, and the resident memory above rest. */
export interface CrowdMemory {
  readonly heap: number;
  readonly aboveRest: number;
}

/** Half of the heap of a Worker: the kinds with it show that their requests also do with less. */
export const SPARING: CrowdMemory = { heap: 64, aboveRest: 128 };
/** Documents of 10 MiB are outside the heap while they are read and sent, so that a smaller heap is enough. */
const OUTSIDE: CrowdMemory = { heap: 48, aboveRest: 128 };
const outside = (shape: CrowdShape): CrowdShape => ({ ...shape, memory: OUTSIDE });

/** A shape of one request at another size. */
function counted(what: string, size?: number): CrowdShape {
  const shape = COUNTED_SHAPES.find((each) => `${each.surface}: ${each.what}` === what);
  if (shape === undefined) throw new Error(`unknown shape: ${what}`);
  return { what, draft: (world) => shape.draft(world, size ?? shape.size) };
}

const get = (what: string, path: (world: World) => string): CrowdShape => ({
  what,
  draft: (world) => fhir(world, 'GET', `/${path(world)}`),
});
const idOf = (world: World, name: string): string => world.ids.get(name)?.[0] ?? '';

const page = (world: World, path: string, fields: Readonly<Record<string, string>>): Grown =>
  http({
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: new URL(world.console.baseUrl).origin,
      cookie: world.cookie,
    },
    body: new URLSearchParams(fields).toString(),
  });

/** The text of a message of a shape. */
function textOf(world: World, what: string): string {
  const { draft } = counted(what);
  const grown = draft(world);
  return grown.over === 'http' && grown.attempt.body instanceof Uint8Array
    ? Buffer.from(grown.attempt.body).toString()
    : '';
}

const extensions = (n: number): object => ({
  resourceType: 'Patient',
  extension: Array.from({ length: n }, () => ({ url: 'u', valueInteger: 1 })),
});
const reads = (n: number): object[] =>
  Array.from({ length: n }, () => ({ request: { method: 'GET', url: 'DocumentReference?_count=500' } }));
const letter = (title: string): object => ({
  resourceType: 'DocumentReference',
  status: 'current',
  content: [{ attachment: { title } }],
});

export const CROWDS: readonly CrowdShape[] = [
  { what: 'write: 2 MiB of extensions', draft: (world) => post(world, '/Patient', extensions(70_000)) },
  counted('search: documents found'),
  outside(counted('hl7 http: bytes of a document')),
  counted('workbench: orders', 990),
  counted('write: base64 of a document', 2_000_000),
  {
    what: 'write: 2 MiB of extensions in gzip',
    draft(world) {
      const headers = { ...fhirHeaders(world), 'content-encoding': 'gzip' };
      return http({
        method: 'POST',
        path: '/fhir/Patient',
        headers,
        body: gzipSync(JSON.stringify(extensions(70_000))),
      });
    },
  },
  counted('write: codings'),
  { what: 'validate: 2 MiB of extensions', draft: (world) => post(world, '/Patient/$validate', extensions(70_000)) },
  counted('validate: faults', 160_000),
  counted('bundle: conditional creates of 2 MiB (batch)', 60),
  {
    what: 'bundle: a transaction of 2 MiB',
    draft: (world) => {
      const create = { request: { method: 'POST', url: 'Patient' }, resource: extensions(6_500) };
      const creates = Array.from({ length: 10 }, () => create);
      return batch(world, creates, 'transaction');
    },
  },
  counted('bundle: creates of a transaction'),
  counted('bundle: documents'),
  ...(
    [
      ['a create', { resourceType: 'Patient' }],
      ['2 MiB', extensions(60_000)],
    ] as const
  ).map(([what, resource]): CrowdShape => ({
    what: `bundle: ${what}, and documents`,
    draft: (world) => batch(world, [{ request: { method: 'POST', url: 'Patient' }, resource }, ...reads(20)]),
  })),
  ...[
    ['a document of 10 MiB', 'scan'],
    ['a document of 1 MiB', 'letter'],
  ].map(([what, name = '']): CrowdShape => ({
    what: `write: a conditional create that finds ${what}`,
    draft: (world) =>
      fhir(world, 'POST', '/DocumentReference', letter('x'), { 'if-none-exist': `_id=${idOf(world, name)}` }),
  })),
  {
    what: 'bundle: conditional creates that find documents',
    draft: (world) =>
      batch(
        world,
        ['letter', 'documents'].flatMap((name) =>
          (world.ids.get(name) ?? []).map((id) => ({
            request: { method: 'POST', url: 'DocumentReference', ifNoneExist: `_id=${id}` },
            resource: letter('x'),
          })),
        ),
      ),
  },
  counted('patch: operations (copy)'),
  {
    what: 'patch: a document of 10 MiB',
    // With a heap of 48 MB, V8 ends the process.
    memory: SPARING,
    draft(world) {
      const operations = [{ op: 'replace', path: '/status', value: 'current' }];
      const headers = { 'content-type': 'application/json-patch+json' };
      return fhir(world, 'PATCH', `/DocumentReference/${idOf(world, 'scan')}`, operations, headers);
    },
  },
  get('read: a document of 10 MiB', (world) => `DocumentReference/${idOf(world, 'scan')}`),
  get('history: documents', () => 'DocumentReference/_history?_count=500'),
  get('everything: documents', (world) => `Patient/${idOf(world, 'rows')}/$everything?_count=500`),
  outside(
    get('export: a document of 10 MiB', (world) => `$export/${idOf(world, 'export')}/DocumentReference.1.ndjson`),
  ),
  outside(counted('hl7 http: documents')),
  outside(counted('hl7 http: bytes of a document in lines')),
  counted('hl7 http: orders'),
  counted('hl7 http: results with notes'),
  counted('hl7 http: lines of text'),
  counted('hl7 http: empty fields'),
  counted('hl7 http: messages of a batch'),
  outside(counted('hl7 mllp: bytes of a document')),
  counted('hl7 mllp: results'),
  counted('workbench: empty fields', 800_000),
  {
    what: 'page: a message is pasted',
    draft: (world) =>
      page(world, '/admin/workbench/message', {
        pasted: textOf(world, 'hl7 http: orders').replaceAll('\r', '\n'),
        clientId: world.victims[0]?.clientId ?? '',
      }),
  },
  {
    what: 'page: a resource of 2 MiB is pasted',
    draft: (world) => page(world, '/admin/workbench/resource', { pasted: JSON.stringify(extensions(70_000)) }),
  },
  {
    what: 'admin: a message is previewed for a replay',
    draft: (world) => staff(world, 'POST', `/admin/api/messages/${idOf(world, 'orders')}/replay`, { apply: 'nothing' }),
  },
  {
    what: 'admin: a message is shown',
    draft: (world) => staff(world, 'GET', `/admin/api/messages/${idOf(world, 'orders')}`),
  },
];

/** Stores what the crowds read. */
export async function storeForCrowds(world: World, client: Pick<Client, 'query'>): Promise<void> {
  await storeRows(world);
  const { hl7BaseUrl, fhirBaseUrl } = world.console.gateway;
  const scan = [
    'PID|1||4711^^^HOSP^MR||Scan^Ada',
    'TXA|1|OP^Operative^L|AP|||||||||D1|||||AU',
    `OBX|1|ED|PDF^Scan^L||^AP^PDF^Base64^${'QUJD'.repeat(2_500_000)}||||||F`,
  ];
  const since = new Date().toISOString();
  const stored = [
    [world.tokens.hl7, message(world, scan, 'http', 'MDM^T02')],
    // The site of the console.
    [world.tokens.changedHl7, counted('hl7 http: orders').draft(world)],
  ] as const;
  for (const [token, grown] of stored) {
    if (grown.over !== 'http') throw new Error('the message is for MLLP');
    const { body } = grown.attempt;
    const headers = { ...grown.attempt.headers, authorization: `Bearer ${token}` };
    const response = await fetch(`${hl7BaseUrl}/hl7/messages`, {
      method: 'POST',
      headers,
      body: body as Uint8Array<ArrayBuffer>,
    });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    await response.text();
  }
  const { rows } = await client.query<{ scan: string; orders: string }>(
    `select (select id from resource where type = 'DocumentReference' and body not like '%text/plain%' limit 1) as scan,
            (select message_id from hl7_message
              where site_id <> (select site_id from api_key where client_id = $1) order by octet_length(raw) desc limit 1) as orders`,
    [world.key.clientId],
  );
  const [row] = rows;
  if (row?.scan == null || row.orders == null) throw new Error('the rows of the crowds are missing');
  world.ids.set('scan', [row.scan]);
  world.ids.set('orders', [row.orders]);
  const written = await fetch(`${fhirBaseUrl}/fhir/DocumentReference`, {
    method: 'POST',
    headers: fhirHeaders(world),
    body: JSON.stringify(letter('x'.repeat(1_040_000))),
  });
  if (written.status !== 201) throw new Error(`${written.status} ${await written.text()}`);
  world.ids.set('letter', [((await written.json()) as { readonly id: string }).id]);
  const begun = await fetch(`${fhirBaseUrl}/fhir/$export?_type=DocumentReference&_since=${since}`, {
    headers: { ...fhirHeaders(world), prefer: 'respond-async' },
  });
  const address = begun.headers.get('content-location') ?? '';
  if (begun.status !== 202) throw new Error(`the export: ${begun.status} ${await begun.text()}`);
  for (let tries = 0; ; tries += 1) {
    const { status } = await fetch(address, { headers: fhirHeaders(world) });
    if (status === 200) break;
    if (tries > 20) throw new Error(`the export: ${status}`);
    await world.console.gateway.tick?.();
  }
  world.ids.set('export', [address.slice(address.lastIndexOf('/') + 1)]);
}
