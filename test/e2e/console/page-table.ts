/** Every page of the console, each at an address that shows something: one row a page, and a picture of its name. */
import { createApiKey } from '../../stack/services/seed.ts';
import { admission, type ConsoleInBrowser } from '../../stack/tools/console-browser.ts';
import { noteRefusalsSql, refusalOf } from '../../stack/tools/refusal.ts';

/** The ids in the addresses of pages. */
interface Shown {
  readonly clientId: string;
  readonly messageId: string;
  readonly refusedId: string;
  /** The patient that the message created. */
  readonly patientId: string;
  readonly mergeId: string;
  /** An API key with MLLP connections. */
  readonly senderId: string;
  readonly subscriptionId: string;
  readonly tableId: string;
}

export interface PageRow {
  /** The route, such as `/admin/keys/:clientId`. */
  readonly route: string;
  /** The name of its pictures. */
  readonly name: string;
  /** Below the base URL. */
  readonly path: (shown: Shown) => string;
  /** Shown without a session. */
  readonly isPublic?: boolean;
}

/** @param path with `{clientId}` for an id; default the route */
const page = (name: string, route: string, path = route.replaceAll(/:(\w+)/g, '{$1}')): PageRow => ({
  route,
  name,
  path: (shown) => path.replaceAll(/\{(\w+)\}/g, (_, id: keyof Shown) => shown[id]),
});

export const PAGES: readonly PageRow[] = [
  page('feeds', '/admin'),
  page('connections', '/admin/feeds/:clientId', '/admin/feeds/{senderId}'),
  page('traffic', '/admin/traffic'),
  page('traffic-table', '/admin/traffic', '/admin/traffic?span=30d&as=table'),
  page('keys', '/admin/keys'),
  page('key-new', '/admin/keys/new'),
  page('key', '/admin/keys/:clientId'),
  page('key-edit', '/admin/keys/:clientId/edit'),
  page('key-handover', '/admin/keys/:clientId/handover'),
  page('key-links', '/admin/keys/:clientId/links'),
  page('key-rules', '/admin/keys/:clientId/rules', '/admin/keys/{clientId}/rules?version=1'),
  page('key-rule', '/admin/keys/:clientId/rules/rule', '/admin/keys/{clientId}/rules/rule?number=1'),
  page('key-rule-new', '/admin/keys/:clientId/rules/rule', '/admin/keys/{clientId}/rules/rule?verb=map'),
  page('key-rules-trial', '/admin/keys/:clientId/rules/trial'),
  page('key-disable', '/admin/keys/:clientId/status'),
  page('settings', '/admin/settings'),
  page('settings-edit', '/admin/settings/edit'),
  page('site-file', '/admin/settings/file'),
  page('requests', '/admin/requests'),
  page('messages', '/admin/messages'),
  page('message', '/admin/messages/:id', '/admin/messages/{messageId}'),
  page('messages-found', '/admin/messages', '/admin/messages?patient=lovelace&range=24h'),
  page('messages-not-found', '/admin/messages', '/admin/messages?patient=4711&outcome=errors&reason=PID-3'),
  page('message-refused', '/admin/messages/:id', '/admin/messages/{refusedId}'),
  page('message-raw', '/admin/messages/:id', '/admin/messages/{messageId}?view=raw'),
  page('resource', '/admin/messages/resources/:type/:id', '/admin/messages/resources/Patient/{patientId}'),
  page('message-ticket-copy', '/admin/messages/:id/ticket-copy', '/admin/messages/{messageId}/ticket-copy'),
  page('message-replay', '/admin/messages/:id/replay', '/admin/messages/{messageId}/replay'),
  page('search', '/admin/search', '/admin/search?text=Lovelace'),
  page('search-empty', '/admin/search', '/admin/search?text=nothing-has-this'),
  page('attention', '/admin/attention'),
  page('merges', '/admin/merges'),
  page('merge-undo', '/admin/merges/:id', '/admin/merges/{mergeId}'),
  page('names', '/admin/names'),
  page('names-aliases', '/admin/names/aliases'),
  page('code-tables', '/admin/code-tables'),
  page('code-table', '/admin/code-tables/:id', '/admin/code-tables/{tableId}'),
  page('alerts', '/admin/alerts'),
  page('alerts-webhook', '/admin/alerts/webhook'),
  page('replays', '/admin/replays', '/admin/replays?outcome=AE&count=1'),
  page('audit', '/admin/audit'),
  page('people', '/admin/people'),
  page('health', '/admin/health'),
  page('signing-keys', '/admin/signing-keys'),
  page('workbench', '/admin/workbench/:bench', '/admin/workbench/message'),
  page('subscriptions', '/admin/subscriptions'),
  page('subscription-new', '/admin/subscriptions/new'),
  page('subscription', '/admin/subscriptions/:id', '/admin/subscriptions/{subscriptionId}'),
  page('choose-site', '/admin/site'),
  { ...page('signed-out', '/admin/signed-out'), isPublic: true },
  page('not-found', '*', '/admin/nowhere'),
];

/** Asked for with GET, and no page: they lead elsewhere, or are files. */
export const NO_PAGES: readonly string[] = [
  '/admin/sign-in',
  '/admin/callback',
  '/admin/assets/:file',
  '/admin/workbench',
  '/admin/audit/events.ndjson',
  '/admin/code-tables/:id/table.csv',
  '/admin/code-tables/:id/concept-map.json',
  '/admin/keys/:clientId/handover/markdown',
  '/admin/messages/file/:type',
];

/** Five weeks of two senders, of which one has been silent for 47 minutes, and a sidecar. */
async function fillFeeds(client: ConsoleInBrowser['db']['client'], site: string): Promise<string> {
  let senderId = '';
  const senders = [
    { name: 'LAB', application: 'LAB', from: 3 },
    { name: 'Radiology reports', application: 'RIS', from: 0 },
  ];
  for (const { name, application, from } of senders) {
    const { clientId } = await createApiKey(client, { site, name, protocols: ['hl7-mllp'], allowedIps: ['192.0.2.7'] });
    if (application === 'LAB') senderId = clientId;
    await client.query(
      `insert into key_usage (site_id, client_id, bucket, surface, application, facility, accepted, refused, rejected)
         select $1, $2, date_bin('15 minutes', now(), 'epoch') - n * interval '15 minutes', 'mllp', $3, 'NORTH', 12, n % 9 / 8, n % 17 / 16
           from generate_series($4::int, 3000) n`,
      [site, clientId, application, from],
    );
    await client.query(
      `insert into feed (site_id, client_id, surface, application, facility, first_at, last_at)
         values ($1, $2, 'mllp', $3, 'NORTH', now() - interval '60 days', now() - $4::int * interval '15 minutes 40 seconds')`,
      [site, clientId, application, from],
    );
  }
  await client.query(
    `insert into mllp_connection (site_id, client_id, connection_id, sidecar, run, source_address, is_tls, tls_subject, senders,
         has_sent, connections, opened_at, closed_at, reason, reported_at)
       select $1::uuid, $2, gen_random_uuid(), 'ward-1', $1::uuid, '192.0.2.7', true, case when h > 9 then 'CN=lab.hospital.example, O=Hospital' else '' end,
              case when h > 9 then '{LAB / NORTH}'::text[] else '{}' end, h > 9, h % 5 + 1, now() - (h + 1) * interval '1 hour',
              now() - h * interval '1 hour', case when h > 9 then 'sender-closed' else 'tls-handshake' end, now()
         from generate_series(0, 20) h
       union all
       select $1::uuid, $2, gen_random_uuid(), 'ward-1', $1::uuid, '192.0.2.8', false, '', '{LAB / NORTH,LAB2 / NORTH}', true, 3,
              now() - interval '7 hours', null, null, now()`,
    [site, senderId],
  );
  await client.query(
    `insert into sidecar_seen (issuer, clock_seconds, version, connections, reported_at)
       values ('ward-1', 0, '1.2.3', 12, now()) on conflict do nothing`,
  );
  return senderId;
}

/** A table with a live version and a changed draft, and codes that it misses. @returns its id */
async function fillCodeTables(client: ConsoleInBrowser['db']['client'], site: string): Promise<string> {
  const { rows } = await client.query<{ table_id: string; content: string }>(
    `insert into code_table (site_id, table_id, name, created_by) values ($1, gen_random_uuid(), 'Laboratory', 'Ada')
     returning table_id, content`,
    [site],
  );
  const { table_id: id = '', content = '' } = rows[0] ?? {};
  await client.query(
    `insert into code_table_row (site_id, table_id, content, system, code, application, facility, target_system, target_code,
         display, equivalence, since)
       select $1, $2, $3, '99LAB', 'GLUCOSE_IN_SERUM_' || n, case when n % 3 = 0 then 'LAB' else '' end, '', 'http://snomed.info/sct',
              36048009 + n, 'Glucose measurement, ' || n, 'equivalent', n % 2 * 2 from generate_series(1, 20) n`,
    [site, id, content],
  );
  await client.query(`select code_table_release($1, $2, 1, 0, 'Ada (1)', 'The codes of the laboratory', 100)`, [
    site,
    id,
  ]);
  await client.query(
    `select code_misses_note($1, (select json_agg(json_build_object('system', '99LAB', 'code', 'POTASSIUM_' || n, 'text', 'Potassium',
         'application', 'LAB', 'facility', 'NORTH', 'messages', 400 * n)) from generate_series(1, 5) n), 5000)`,
    [site],
  );
  return id;
}

/** Rules of a key with a live version and a changed draft. */
async function fillRules(client: ConsoleInBrowser['db']['client'], site: string, clientId: string): Promise<void> {
  const live = [
    { name: 'German sexes', verb: 'map', path: 'PID-8', values: { W: 'F', D: 'O' } },
    {
      sender: { application: 'LAB_WITH_A_LONG_UNBROKEN_NAME_OF_ITS_DEPARTMENT' },
      when: { types: ['ADT^A01', 'ADT^A08'], all: [{ path: 'PV1-2', equals: 'E' }] },
      verb: 'set',
      path: 'PV1-18',
      value: 'AN_UNBROKEN_VALUE_THAT_IS_WIDER_THAN_THE_SCREEN_OF_A_TELEPHONE',
    },
  ];
  const save = (edits: number, rules: readonly object[]) =>
    client.query('select rules_draft($1, $2, $3, $4, $5)', [site, clientId, edits, JSON.stringify(rules), 'Ada (1)']);
  await save(0, live);
  await client.query('select rules_release($1, $2, 1, 1, $3, $4)', [
    site,
    clientId,
    'Ada (1)',
    'The sexes of the ward',
  ]);
  await save(2, [...live.slice(1), { verb: 'trim', path: 'PID-5.1' }]);
  const samples = ['01a2216f-e448-7000-80b6-63c8cc4a2c42', '01a2216f-e448-7000-80b6-63c8cc4a2c43'];
  const found = {
    answers: [{ before: 'AE', after: 'AA', reason: 'required-field-missing', messages: 12, samples }],
    elements: [
      { element: 'Patient.gender', messages: 840, samples },
      { element: 'Observation', messages: 2, samples },
    ],
    differing: 842,
    replayed: 611,
    left: 1,
  };
  await client.query(
    `with a as (select job_add(gen_random_uuid(), 'rules-trial', $1, 'site', $2, 1000, 'Ada (1)') as id)
     select job_stop(id) from a`,
    [site, JSON.stringify({ clientId, rules: { version: 2, rules: live }, found })],
  );
}

/** A subscription of each status. @returns the id of a failing subscription */
async function fillSubscriptions(client: ConsoleInBrowser['db']['client'], site: string): Promise<string> {
  const { clientId } = await createApiKey(client, { site, name: 'Registry', subscriptionHosts: ['hooks.example.org'] });
  const { rows } = await client.query<{ id: string; status: string }>(
    `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, matched,
         heartbeat_seconds, ends_at, since, status, last_event, delivered, attempts, failing_since, last_answer, tried_at, delivered_at)
       select $1, gen_random_uuid(), $2, 'Observation', 'code=8867-4&patient=8ebc1e8a-6e3f-4c9f-a0f4-0e1d2c3b4a59', 'full-resource',
              'https://hooks.example.org/receivers/fhir/north/a-long-path-of-one-receiver', 'hooks.example.org',
              'Trends of the heart rate', 100, 0, 600, now() + interval '90 days', now() - interval '9 days', s, 4711, 4700,
              case s when 'active' then 7 else 0 end, case s when 'active' then now() - interval '50 minutes' end, '503',
              now() - interval '9 minutes', now() - interval '1 hour'
         from unnest('{requested,active,error,off}'::text[]) s
     returning subscription_id as id, status`,
    [site, clientId],
  );
  return rows.find(({ status }) => status === 'active')?.id ?? '';
}

/** Adds an entry to every list: accepted and rejected messages, and issues. */
export async function fillPages({ db, hl7Key, listDuplicates, sendMessage, site }: ConsoleInBrowser): Promise<Shown> {
  await listDuplicates('PAIR-1', 'PAIR-2');
  await sendMessage(admission('E2E-2', 'M-2'));
  await sendMessage(admission('E2E-3', 'M-3').replace('P|2.5.1', 'X|2.5.1'));
  const { clientId } = await createApiKey(db.client, {
    site,
    name: 'Radiology_with_a_long_unbroken_name_of_its_department',
    status: 'disabled',
  });
  await db.client.query(
    `insert into usage (site_id, bucket, surface, outcome, requests, latency)
     select $1, date_bin('15 minutes', now(), 'epoch') - n * interval '15 minutes', s, o, 40 + (n * 37) % 60,
            '{0,0,10,20,8,2,0,0,0,0,0,0}'
       from generate_series(1, 95) n, unnest('{token,fhir,hl7,mllp}'::text[]) s, unnest('{ok,refused}'::text[]) o
      where o = 'ok' or n % 9 = 0
     on conflict do nothing -- a quarter of an hour may have begun since this file's own requests were counted`,
    [site],
  );
  const noKey = 'the source address 198.51.100.7 is not among the Allowed IPs';
  const missing = 'Observation.code: a required element is missing';
  await db.client.query(
    ...noteRefusalsSql(
      refusalOf(clientId, { code: 'kid', reason: 'kid "b" is not in the JWKS, which has "a"' }),
      refusalOf(clientId, { surface: 'mllp', answer: 'AR', code: 'no-key', reason: noKey }),
      ...[0, 1, 2].map((hours) => {
        const lastAt = Date.now() - hours * 3_600_000;
        const more = {
          surface: 'fhir',
          answer: '422',
          code: 'required',
          reason: missing,
          requests: 312 * (hours + 1),
        } as const;
        return refusalOf(hl7Key.clientId, { ...more, firstAt: lastAt - 300_000, lastAt });
      }),
    ),
  );
  await db.client.query(
    `insert into alert (site_id, alert_id, kind, subject, firing_since) values ($1, gen_random_uuid(), 'feed-silent', $2, now())`,
    [site, hl7Key.clientId],
  );
  await db.client.query(
    `insert into key_usage (site_id, client_id, bucket, surface, application, facility, accepted, refused, rejected)
     select $1, k.client_id, date_bin('15 minutes', now(), 'epoch') - interval '1 hour', 'hl7', 'LAB', 'EAST', 412, 3, 1
       from api_key k where k.site_id = $1 on conflict do nothing`,
    [site],
  );
  const senderId = await fillFeeds(db.client, site);
  const subscriptionId = await fillSubscriptions(db.client, site);
  const tableId = await fillCodeTables(db.client, site);
  await fillRules(db.client, site, hl7Key.clientId);
  await sendMessage(
    admission('E2E-4', 'M-2~M-2b^^^WEST^PI')
      .replace('Lovelace^Ada', 'Lovelace^Ada^Augusta~King^Ada^^^^^M')
      .replace('19701231', '1970-12-31'),
  );
  for (const mrn of ['MERGE-1', 'MERGE-2']) await sendMessage(admission(`E2E-${mrn}`, mrn));
  await sendMessage(`${admission('E2E-6', 'MERGE-1').replace('ADT^A04', 'ADT^A40')}MRG|MERGE-2^^^EAST^MR\r`);
  const { rows: merges } = await db.client.query<{ merge_id: string }>(
    'select merge_id from patient_merge where site_id = $1',
    [site],
  );
  await sendMessage(admission('E2E-5', '').replace('^^^EAST^MR', ''));
  const { rows } = await db.client.query<{ of: string; message_id: string; patient_id: string }>(
    `select m.control_id as of, m.message_id, x.id as patient_id from hl7_message m
       left join hl7_message_resource x on x.site_id = m.site_id and x.message_id = m.message_id and x.type = 'Patient'
      where m.site_id = $1`,
    [site],
  );
  const sent = (control: string) => rows.find(({ of }) => of === control);
  return {
    clientId: hl7Key.clientId,
    messageId: sent('E2E-4')?.message_id ?? '',
    refusedId: sent('E2E-5')?.message_id ?? '',
    patientId: sent('E2E-4')?.patient_id ?? '',
    mergeId: merges[0]?.merge_id ?? '',
    senderId,
    subscriptionId,
    tableId,
  };
}
