/** The audit records people's actions in the console and its API. Administrators search, read and archive it. */
import { randomUUID } from 'node:crypto';

import { beforeAll, describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { getToken } from '../stack/services/client.ts';
import { signIn } from '../stack/tools/console.ts';
import { readObject } from '../stack/tools/exact-json.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Item {
  readonly id: string;
  readonly at: string;
  readonly actorKind: string;
  readonly actor: string;
  readonly clientId: string | null;
  readonly requestId: string;
  readonly action: string;
  readonly resources: readonly string[];
  readonly written: readonly string[];
  readonly patients: readonly string[];
}

const ADT = (control: string, mrn: string) =>
  `MSH|^~\\&|ADT|EAST|GW|GW|20261101083000+0100||ADT^A04^ADT_A01|${control}|P|2.5.1\r` +
  `EVN|A04|20261101083000+0100\rPID|1||${mrn}^^^EAST^MR||Lovelace^Ada||19701231|F\r`;

/** Every operation: what it leaves, or that it reaches no data of a patient and changes nothing that is on record. */
const OPERATIONS: Readonly<Record<string, string | null>> = {
  'get /api-keys': null,
  'post /api-keys': 'key-created',
  'get /api-keys/{clientId}': null,
  'patch /api-keys/{clientId}': 'key-changed',
  'get /api-keys/{clientId}/refusals': null,
  'get /api-keys/{clientId}/changes': null,
  'get /api-keys/{clientId}/check-list': null,
  'get /api-keys/{clientId}/links': null,
  'post /api-keys/{clientId}/links': 'link-created',
  'get /endpoints': null,
  'get /messages': null,
  'get /merges': 'merge-viewed',
  'get /merges/{id}': 'merge-viewed',
  'get /messages/{id}': 'message-viewed',
  'get /messages/{id}/ticket-copy': 'message-copied',
  'get /{type}/{id}/lineage': 'read',
  'post /messages/{id}/replay': 'message-replayed',
  'get /attention': 'attention-viewed',
  'get /audit': 'audit-viewed',
  'get /audit/sums': 'audit-viewed',
  'post /search': 'search',
  'post /workbench/message': 'workbench',
  'patch /site': 'settings-changed',
  'post /alerts/{id}/acknowledge': 'alert-acknowledged',
  'post /alerts/{id}/silence': 'alert-silenced',
  'post /alerts/{id}/unsilence': 'alert-unsilenced',
};

/**
 * Actions without a patient: settings, sign-in, names, checks of sent messages. A replay of several messages has a row for each
 * message.
 */
const WITHOUT_AUDIT = [
  'get /health',
  'get /feeds',
  'get /feeds/{clientId}/connections',
  'get /requests',
  'get /site',
  'get /alerts',
  'get /alerts/webhook',
  'post /alerts/webhook/test',
  'get /site/changes',
  'get /subscriptions',
  'get /subscriptions/{id}',
  'post /subscriptions/{id}/test',
  'get /people',
  'get /signing-keys',
  'get /sessions',
  'post /sessions/end',
  'post /sessions/{id}/end',
  'get /usage',
  'post /api-keys/check-jwks-uri',
  'get /sidecars',
  'get /unmapped-names',
  'get /api-keys/{clientId}/rules',
  'get /api-keys/{clientId}/rules/{version}',
  'get /code-misses',
  'get /code-tables',
  'get /code-tables/{id}',
  'get /code-tables/{id}/rows',
  'get /authority-aliases',
  'post /authority-aliases/decide',
  'post /attention/{id}/dismiss',
  'post /attention/{id}/reopen',
  'get /replays',
  'post /replays',
  'get /replays/{id}',
  'post /replays/{id}/stop',
  'post /replays/{id}/resume',
  'post /api-keys/check-jwks-uri',
  'get /people',
  'get /signing-keys',
  'get /export',
  'post /plan',
  // With the rows of its changes: admin-site.test.ts.
  'post /apply',
  'post /workbench/assertion',
  'post /workbench/resource',
  // A trial reads messages, and shows numbers and ids.
  'get /api-keys/{clientId}/rules/trial',
  'post /api-keys/{clientId}/rules/trial',
  'post /api-keys/{clientId}/rules/trial/stop',
];

/**
 * Tested in admin-merges.test.ts, which has a preview, in alerts.test.ts, which has a receiver, and in admin-keys.test.ts, which has
 * a link. Tables are in admin-code-tables.test.ts, rules in admin-rules.test.ts.
 */
const IN_OTHER_FILES: readonly string[] = [
  'post /api-keys/{clientId}/links/{id}/revoke',
  'post /merges/{id}/undo',
  'post /subscriptions',
  'put /api-keys/{clientId}/rules',
  'post /api-keys/{clientId}/rules/release',
  'post /code-tables',
  ...['import', 'rows', 'release', 'rename', 'delete'].map((change) => `post /code-tables/{id}/${change}`),
  ...['pause', 'resume', 'resend', 'delete'].map((change) => `post /subscriptions/{id}/${change}`),
];

describe.each(ONE_RUNTIME)('the audit on %s', (runtime) => {
  let patient: string;
  let message: string;

  const at = useConsole(runtime, { key: { protocols: ['fhir', 'hl7'] } });
  beforeAll(async () => {
    for (const [control, mrn] of [
      ['A-1', 'P-1'],
      ['A-9', 'P-9'],
    ] as const) {
      const sent = await at.send(ADT(control, mrn));
      expect(sent.status).toBe(200);
    }
    const { rows } = await at.db.client.query<{ id: string; message: string }>(
      `select r.id, m.message_id as message from resource r join hl7_message_resource m on m.id = r.id
        where r.type = 'Patient' order by m.message_id`,
    );
    patient = rows[0]?.id ?? '';
    message = rows[0]?.message ?? '';
    // By the message's id: each path here is about one thing.
    await at.db.client.query(
      `insert into alert (site_id, alert_id, kind, subject, firing_since) values ($1, $2, 'replay-needed', '', now())`,
      [at.site, message],
    );
    await at.db.client.query(
      `insert into patient_merge (site_id, merge_id, message_id, merged, survivor, kept) values ($1, $2, $2, $3, $4, $5)`,
      [
        at.site,
        message,
        patient,
        rows[1]?.id,
        { resources: [], met: [], keys: [], results: [], numbers: [], traits: [], precedences: {}, after: {} },
      ],
    );
    await at.db.client.query(
      `select attention_add($1, null, json_agg(json_build_object('kind', k, 'patients', json_build_array($2::uuid, $3::uuid))))
         from unnest('{possible-duplicate,not-moved}'::text[]) k`,
      [at.site, patient, rows[1]?.id],
    );
  });

  const api = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const requestId = randomUUID();
    const response = await at.api(method.toUpperCase(), path, body, { 'x-request-id': requestId, ...headers });
    return { requestId, status: response.status, body: await response.json() };
  };
  const list = async (query: string): Promise<Item[]> => (await api('get', `/audit?${query}`)).body.items as Item[];
  const rowsOf = async (requestId: string): Promise<Item[]> =>
    (await list('limit=200')).filter((item) => item.requestId === requestId);

  test('each operation that reaches a patient or changes stored data leaves one row', async () => {
    const path = (template: string) =>
      template
        .replace('{clientId}', at.key.clientId)
        .replace('{type}/{id}', `Patient/${patient}`)
        .replace('{id}', message);
    const bodies: Readonly<Record<string, object>> = {
      'post /api-keys': { name: 'new', jwksUri: 'https://keys.example.org/jwks.json', tokenTtlSeconds: 300 },
      'patch /api-keys/{clientId}': { name: 'renamed' },
      'post /messages/{id}/replay': { apply: 'newest' },
      'post /api-keys/{clientId}/links': { hours: 1 },
      'post /search': { text: 'Lovelace' },
      'post /workbench/message': { clientId: at.key.clientId, message: ADT('A-2', 'P-1') },
      'patch /site': { name: 'renamed' },
      'post /alerts/{id}/silence': { minutes: null },
    };
    for (const [operation, action] of Object.entries(OPERATIONS)) {
      const [method = '', template = ''] = operation.split(' ');
      const headers = method === 'patch' ? { 'if-match': '*' } : {};
      const called = await api(method, path(template), bodies[operation], headers);
      expect([operation, called.status, called.status > 201 ? called.body : null]).toEqual([
        operation,
        expect.toBeOneOf([200, 201]),
        null,
      ]);
      const rows = await rowsOf(called.requestId);
      expect([operation, rows.map((row) => row.action)]).toEqual([operation, action === null ? [] : [action]]);
      for (const row of rows) expect(row).toMatchObject({ actorKind: 'person', actor: 'script' });
    }
  });

  test('is added up by actor and by patient, with the filters of the list', async () => {
    interface Sum {
      readonly rows: number;
      readonly seen: number;
      readonly changed: number;
    }
    const sums = async (query: string) =>
      (await api('get', `/audit/sums?${query}`)).body as {
        total: number;
        actors?: (Sum & { actor: string; patients: number })[];
        patients?: (Sum & { id: string; actors: number })[];
      };
    const rows = await list(`patient=${patient}&clientId=${at.key.clientId}&limit=200`);
    const { total, actors, patients } = await sums(`patient=${patient}&clientId=${at.key.clientId}`);
    expect({ total, patients }).toEqual({ total: rows.length, patients: undefined });
    expect(actors?.reduce((sum, each) => sum + each.rows, 0)).toBe(rows.length);
    const ofPatient = await sums(`by=patients&actor=${at.key.clientId}`);
    expect(ofPatient.actors).toBeUndefined();
    expect(ofPatient.patients?.find(({ id }) => id === patient)).toMatchObject({ actors: 1, seen: 0 });
    expect((await api('get', '/audit/sums?by=nobody')).status).toBe(400);
    const other = await at.oidc.signToken({ permissions: ['site.messages.read'] });
    expect((await at.ask('GET', '/audit/sums', undefined, {}, other)).status).toBe(403);
  });

  test('these tests cover every operation on patients, messages and settings', async () => {
    const document = (await (await fetch(`${at.baseUrl}/docs/admin/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const all = Object.entries(document.paths).flatMap(([path, item]) =>
      ['get', 'post', 'put', 'patch'].flatMap((method) =>
        path.startsWith('/admin/api') && method in item ? [`${method} ${path.slice('/admin/api'.length)}`] : [],
      ),
    );
    expect(
      all.filter(
        (operation) => !(operation in OPERATIONS) && ![...WITHOUT_AUDIT, ...IN_OTHER_FILES].includes(operation),
      ),
    ).toEqual([]);
  });

  test('is searched by patient, key, person, action and time, a page at a time', async () => {
    expect((await list(`patient=${patient}`)).map(({ action }) => action)).toContain('message');
    expect(await list(`patient=Patient/${patient}&action=message`)).toHaveLength(1);
    // The number finds the same rows, also where another patient shares it. The row of this search names the patients.
    const mine = await list(`patient=${patient}&action=changed`);
    expect((await list('patient=P-1&action=changed')).map(({ id }) => id)).toEqual(mine.map(({ id }) => id));
    const sent = { actorKind: 'key', called: expect.any(String) };
    expect(mine.find(({ action }) => action === 'message')).toMatchObject(sent);
    expect((await list(`patient=${patient}&action=seen`)).map(({ action }) => action)).not.toContain('message');
    expect(await list('patient=P-unknown&action=changed')).toEqual([]);
    const { rows: noted } = await at.db.client.query(
      `select 1 from audit where action = 'audit-viewed' and patients = array[$1::uuid] and actor_kind = 'person'`,
      [patient],
    );
    expect(noted.length).toBeGreaterThan(3);
    expect((await list(`clientId=${at.key.clientId}&action=message`))[0]).toMatchObject({ actor: at.key.clientId });
    expect(await list(`actor=${at.key.clientId}&action=key-changed`)).toEqual([]);
    expect((await list(`clientId=${at.key.clientId}&action=key-changed`))[0]?.actorKind).toBe('person');
    // The account of a person may begin like a Client ID.
    const desk = { authorization: `Bearer ${await at.oidc.signToken({ sub: 'svc-desk' })}` };
    await fetch(`${at.baseUrl}/admin/api/audit?patient=${patient}`, { headers: desk });
    expect(await list('actor=svc-desk')).toMatchObject([{ actorKind: 'person', action: 'audit-viewed' }]);
    expect(await list(`patient=${randomUUID()}`)).toEqual([]);
    expect(await list('to=2001-01-01T00:00:00Z')).toEqual([]);
    expect((await api('get', `/audit?patient=${'x'.repeat(201)}`)).status).toBe(400);
    expect((await api('get', '/audit?action=x')).status).toBe(400);
    const first = await api('get', '/audit?limit=2&to=2100-01-01T00:00:00Z');
    const next = await api('get', `/audit?limit=2&to=2100-01-01T00:00:00Z&cursor=${first.body.next}`);
    const ids = [...first.body.items, ...next.body.items].map(({ id }: Item) => id);
    expect(new Set(ids).size).toBe(4);
    const reader = await fetch(`${at.baseUrl}/admin/api/audit`, { headers: { authorization: 'Bearer x' } });
    expect(reader.status).toBe(401);
  });

  /** The issues that the gateway reports for a resource. */
  const validate = async (resource: object): Promise<readonly object[]> => {
    const token = await getToken(at.gateway.oauthBaseUrl, at.key, { audience: 'svc-fhir' });
    const verdict = await fetch(`${at.gateway.fhirBaseUrl}/fhir/Observation/$validate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' },
      body: JSON.stringify(resource),
    });
    const { issue } = (await verdict.json()) as { issue: readonly { severity: string }[] };
    return issue.filter(({ severity }) => severity !== 'information');
  };

  test('signing in and out, the page and the download are on record; each line is a valid AuditEvent', async () => {
    const browser = await signIn(at);
    expect((await list('action=signed-in'))[0]).toMatchObject({ actor: at.oidc.admin.username });
    const page = await (await browser.ask(`${at.baseUrl}/admin/audit?patient=${patient}`)).text();
    expect(page).toContain(patient);
    const download = await browser.ask(`${at.baseUrl}/admin/audit/events.ndjson`);
    expect(download.headers.get('content-type')).toBe('application/fhir+ndjson');
    const lines = (await download.text()).trim().split('\n');
    const { rows } = await at.db.client.query<{ count: number }>('select count(*)::integer as count from audit');
    // All rows except the row of the download itself.
    expect(lines).toHaveLength(Number(rows[0]?.count) - 1);
    const actions = new Set<unknown>();
    for (const line of lines) {
      const event = readObject(line);
      const { id } = event;
      if (typeof id !== 'string') throw new TypeError('a resource has an id');
      actions.add(event['action']);
      expect(line).not.toContain('Lovelace');
      const carrier = {
        resourceType: 'Observation',
        status: 'final',
        code: { text: 'a' },
        focus: [{ reference: `#${id}` }],
        contained: [event],
      };
      expect([line, await validate(carrier)]).toEqual([line, []]);
    }
    expect(actions.size).toBeGreaterThan(2);
    const origin = new URL(at.baseUrl).origin;
    await browser.ask(`${at.baseUrl}/admin/sign-out`, { method: 'POST', headers: { origin } });
    expect((await list('action=signed-out'))[0]).toMatchObject({ actor: at.oidc.admin.username });
    expect((await browser.ask(`${at.baseUrl}/admin/audit/events.ndjson`)).status).not.toBe(200);
  });

  test('a search for any patient finds an export, since it may contain any patient', async () => {
    const access = await getToken(at.gateway.oauthBaseUrl, at.key, { audience: 'svc-fhir' });
    const begun = await fetch(`${at.gateway.fhirBaseUrl}/fhir/$export?_type=Patient`, {
      headers: { authorization: `Bearer ${access}`, prefer: 'respond-async' },
    });
    expect(begun.status).toBe(202);
    const id = begun.headers.get('content-location')?.split('/').at(-1);
    for (const subject of [patient, randomUUID()]) {
      const [row, ...others] = await list(`patient=${subject}&action=export`);
      expect(others).toEqual([]);
      expect(row).toMatchObject({ actor: at.key.clientId, resources: [`BulkExport/${id}`], patients: [] });
    }
  });

  test('a FHIR write names the version that it made; two versions show its elements', async () => {
    const access = await getToken(at.gateway.oauthBaseUrl, at.key, { audience: 'svc-fhir' });
    const fhir = async (method: string, path: string, body?: object) => {
      const requestId = randomUUID();
      const response = await fetch(`${at.gateway.fhirBaseUrl}/fhir${path}`, {
        method,
        headers: {
          authorization: `Bearer ${access}`,
          'content-type': 'application/fhir+json',
          'x-request-id': requestId,
          ...(method === 'PUT' && { 'if-match': '*' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      expect(response.ok, `${method} ${path} ${response.status}`).toBe(true);
      return { requestId, resource: readObject(await response.text()) };
    };
    const written = async (requestId: string) => (await rowsOf(requestId)).flatMap((row) => row.written);
    const created = await fhir('POST', '/Patient', { resourceType: 'Patient', active: true, gender: 'female' });
    const { id = '' } = created.resource as { id?: string };
    const next = { ...created.resource, gender: 'other', birthDate: '1980-02-29' };
    const updated = await fhir('PUT', `/Patient/${id}`, next);
    const unchanged = await fhir('PUT', `/Patient/${id}`, next);
    const read = await fhir('GET', `/Patient/${id}`);
    const entry = (resource: object, method: string, url: string) => ({ resource, request: { method, url } });
    const bundle = await fhir('POST', '', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        { ...entry({ ...next, active: false }, 'PUT', `Patient/${id}`) },
        { ...entry({ resourceType: 'Patient', active: true }, 'POST', 'Patient') },
      ],
    });
    expect(await written(created.requestId)).toEqual([`Patient/${id}/_history/1`]);
    expect(await written(updated.requestId)).toEqual([`Patient/${id}/_history/2`]);
    for (const { requestId } of [unchanged, read]) expect(await written(requestId)).toEqual([]);
    expect((await written(bundle.requestId)).toSorted((a, b) => b.slice(-1).localeCompare(a.slice(-1)))).toEqual([
      `Patient/${id}/_history/3`,
      expect.stringMatching(/^Patient\/.*\/_history\/1$/),
    ]);
    const versions = await Promise.all(
      ['1', '2'].map(async (version) => (await fhir('GET', `/Patient/${id}/_history/${version}`)).resource),
    );
    const [before = {}, after = {}] = versions;
    const isChanged = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
    const changed = Object.keys(after).filter((name) => name !== 'meta' && isChanged(name));
    expect(new Set(changed)).toEqual(new Set(['gender', 'birthDate']));
    // The message of the same patient record is not a FHIR write.
    expect((await list(`patient=${patient}&action=message`)).flatMap((row) => row.written)).toEqual([]);
  });

  test('pages and downloads reject a time that PostgreSQL has no place for', async () => {
    const browser = await signIn(at);
    for (const path of ['/messages', '/audit', '/requests', '/replays', '/audit/events.ndjson']) {
      for (const time of [
        '0000-01-01T00:00',
        '0000-01-01T00:00:00Z',
        '9999-12-31T23:59:59-14:00',
        '2026-01-01T00:00:00+23:59',
      ]) {
        for (const name of ['from', 'to']) {
          const { status } = await browser.ask(
            `${at.baseUrl}/admin${path}?${new URLSearchParams({ [name]: time }).toString()}`,
          );
          expect(status, `${path} ${time}`).toBeLessThan(500);
        }
      }
    }
    for (const wrong of ['messages?from=0000-01-01T00:00', 'replays?count=1&from=2026-11-01']) {
      const page = await browser.ask(`${at.baseUrl}/admin/${wrong}`);
      expect(page.status, wrong).toBe(400);
      expect(await page.text(), 'the page says why').toContain('from: must be an instant of the years 0001 to 9999');
    }
    const swapped = await browser.ask(`${at.baseUrl}/admin/replays?count=1&from=2026-02-01T00:00&to=2026-01-01T00:00`);
    const text = await swapped.text();
    expect([text.includes('nothing can lie between them'), text.includes('messages match')]).toEqual([true, false]);
  });
});
