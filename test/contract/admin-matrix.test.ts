/**
 * Staff of another site request each path of the console and its API, from the table of routes itself. The answer for an
 * existing object equals the answer for a missing one. No answer contains data of the site, and no request changes data of the
 * site.
 */
import { randomUUID } from 'node:crypto';

import { beforeAll, describe, expect, test } from 'vitest';

import { createApiKey } from '../stack/services/seed.ts';
import { consoleRoutes } from '../stack/tools/console-routes.ts';
import { signIn } from '../stack/tools/console.ts';
import { useConsole } from '../stack/tools/console-site.ts';
import { noteRefusalsSql, refusalOf } from '../stack/tools/refusal.ts';
import type { HttpBrowser } from '../stack/tools/http-browser.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

/** Paths without a site: signing in and out, and files. */
const OF_NO_SITE = [
  '/admin/sign-in',
  '/admin/callback',
  '/admin/sign-out',
  '/admin/signed-out',
  '/admin/back-channel-logout',
  '/admin/site',
  '/admin/assets/:file',
];
/** Paths that are the same for every site of the deployment, or that return counts without names. */
const NAMES_NOTHING = [
  '/admin/health',
  '/admin/api/health',
  '/admin/api/endpoints',
  '/admin/api/usage',
  '/admin/api/api-keys/:clientId/check-list',
  '/admin/api/sidecars',
  '/admin/signing-keys',
  '/admin/api/signing-keys',
];

/** The kinds of objects of the other site, each named by the segment of the path before its id. */
type Kind =
  | 'api-keys'
  | 'messages'
  | 'replays'
  | 'attention'
  | 'alerts'
  | 'sessions'
  | 'patients'
  | 'merges'
  | 'code-tables'
  | 'subscriptions';
type Ids = Readonly<Record<Kind, string>>;
const KIND_OF: Readonly<Record<string, Kind>> = {
  'api-keys': 'api-keys',
  keys: 'api-keys',
  feeds: 'api-keys',
  messages: 'messages',
  replays: 'replays',
  attention: 'attention',
  merges: 'merges',
  'code-tables': 'code-tables',
  alerts: 'alerts',
  subscriptions: 'subscriptions',
  sessions: 'sessions',
  people: 'sessions',
  Patient: 'patients',
};

const CSV = 'code,targetSystem,targetCode\nTHEIRCODE,http://snomed.info/sct,1';

const ROW = { system: 'L', code: 'X', targetSystem: 'urn:x', targetCode: '1' };

type Body = Readonly<Record<string, string | number | null | readonly object[]>>;

/** Bodies for paths that refuse an empty body, for any object. */
const BODIES: Readonly<Record<string, (ids: Ids) => Body>> = {
  'PATCH /admin/api/api-keys/:clientId': () => ({ name: 'Taken' }),
  'POST /admin/api/api-keys/:clientId/links': () => ({ hours: 1 }),
  'POST /admin/keys/:clientId/links': () => ({ hours: '8' }),
  'POST /admin/keys/:clientId/rules/trial': () => ({ messages: '10' }),
  'POST /admin/api/messages/:id/replay': () => ({ apply: 'everything', comment: 'x' }),
  'POST /admin/api/authority-aliases/decide': (ids) => ({
    clientId: ids['api-keys'],
    namespace: 'THEIRNS',
    uri: 'urn:oid:1.2.3.4',
    decision: 'rejected',
  }),
  'POST /admin/api/attention/:id/dismiss': () => ({ reason: 'x' }),
  'POST /admin/attention/:id/dismiss': () => ({ reason: 'x' }),
  'POST /admin/api/merges/:id/undo': () => ({ reason: 'x', state: 'x' }),
  'POST /admin/merges/:id/undo': () => ({ reason: 'x', state: 'x' }),
  'POST /admin/api/alerts/:id/silence': () => ({ minutes: null }),
  'POST /admin/alerts/:id/silence': () => ({ minutes: '60' }),
  'POST /admin/names/aliases': (ids) => ({
    clientId: ids['api-keys'],
    namespace: 'THEIRNS',
    uri: 'urn:oid:1.2.3.4',
    decision: 'rejected',
  }),
  'POST /admin/api/workbench/message': (ids) => ({
    clientId: ids['api-keys'],
    message: 'MSH|^~\\&|LAB|EAST|GW|GW|20260701||ADT^A04|THEIRCTRL|P|2.5.1\rPID|1||P1^^^THEIRNS^MR||Other^Jane',
  }),
  'POST /admin/api/subscriptions': (ids) => ({
    clientId: ids['api-keys'],
    type: 'Patient',
    endpoint: 'https://hooks.example.org/',
    reason: 'x',
  }),
  'POST /admin/subscriptions': (ids) => ({
    clientId: ids['api-keys'],
    type: 'Patient',
    endpoint: 'https://hooks.example.org/',
    reason: 'x',
  }),
  'POST /admin/settings/file/plan': (ids) => ({
    file: JSON.stringify({ format: 1, apiKeys: [{ clientId: ids['api-keys'] }] }),
  }),
  'POST /admin/settings/file/apply': (ids) => ({
    file: JSON.stringify({ format: 1, apiKeys: [{ clientId: ids['api-keys'], name: 'Taken' }] }),
    fingerprint: 'x',
  }),
  'POST /admin/subscriptions/:id/resend': () => ({ from: 1 }),
  'POST /admin/api/subscriptions/:id/resend': () => ({ from: 1 }),
  'PUT /admin/api/api-keys/:clientId/rules': () => ({ edits: 1, rules: [{ verb: 'trim', path: 'PID-5' }] }),
  'POST /admin/api/api-keys/:clientId/rules/release': () => ({ version: null, edits: 1, comment: 'x' }),
  'POST /admin/keys/:clientId/rules': () => ({ edits: '1', rules: '[]' }),
  'POST /admin/keys/:clientId/rules/rule': () => ({ verb: 'trim', path: 'PID-5', edits: '1' }),
  'POST /admin/keys/:clientId/rules/release': () => ({ version: '', edits: '1', comment: 'x' }),
  'POST /admin/code-tables/map': (ids) => ({ ...ROW, table: ids['code-tables'] }),
  'POST /admin/code-tables/:id/set': () => ROW,
  'POST /admin/code-tables/:id/remove': () => ({ system: 'L', code: 'X', application: '', facility: '' }),
  'POST /admin/code-tables/:id/import': () => ({ file: CSV }),
  'POST /admin/code-tables/:id/release': () => ({ version: '1', edits: '1', comment: 'x' }),
  'POST /admin/code-tables/:id/rename': () => ({ name: 'x' }),
  'POST /admin/code-tables/:id/delete': () => ({ edits: '0' }),
  'POST /admin/api/code-tables/:id/rename': () => ({ name: 'x' }),
  'POST /admin/api/code-tables/:id/delete': () => ({ edits: 0 }),
  'POST /admin/api/code-tables/:id/import': () => ({ csv: CSV }),
  'POST /admin/api/code-tables/:id/rows': () => ({ csv: CSV, change: 'remove' }),
  'POST /admin/api/code-tables/:id/release': () => ({ version: 1, edits: 1, comment: 'x' }),
  'POST /admin/api/search': () => ({ text: 'THEIRCTRL' }),
  'POST /admin/search': () => ({ text: 'THEIRCTRL' }),
  'POST /admin/keys/:clientId/status': () => ({ status: 'disabled', version: '1' }),
  'POST /admin/keys/:clientId': () => ({ name: 'Taken', version: '1' }),
  'POST /admin/messages/:id/replay': () => ({ apply: 'everything' }),
};
/** The criteria of the lists. */
const QUERIES: readonly ((ids: Ids) => string)[] = [
  (ids) => `clientId=${ids['api-keys']}`,
  (ids) => `key=${ids['api-keys']}`,
  () => 'text=THEIRCTRL',
  () => 'q=THEIRCTRL',
  () => 'unmapped=authority:THEIRNOWHERE',
];

const ROUTES = consoleRoutes().filter(({ path }) => !OF_NO_SITE.includes(path));
const isApi = (path: string): boolean => path.startsWith('/admin/api/');
const isAbout = (path: string): boolean => /:(?:id|clientId)\b/.test(path);

/** The path about one of these; of the workbench each bench, of files each type. */
function pathsOf(path: string, ids: Ids): string[] {
  if (path.includes(':bench'))
    return ['assertion', 'message', 'resource'].map((bench) => path.replace(':bench', bench));
  if (path.includes('/file/:type')) return ['csv', 'ndjson'].map((type) => path.replace(':type', type));
  const one = path.replace('/:type/', '/Patient/').replace('/:version', '/1');
  const [, word = '', parameter = ''] = /\/([\w-]+)\/(:\w+)/.exec(one) ?? [];
  if (parameter === '') return [one];
  const kind = KIND_OF[word];
  if (kind === undefined) throw new Error(`${path}: say in KIND_OF what is meant`);
  return [one.replace(parameter, ids[kind])];
}

describe.each(ONE_RUNTIME)('on %s', (runtime) => {
  // No background work in between: what changes then was changed by a request.
  const at = useConsole(runtime, { otherSite: { name: 'Theirsite' } });
  let theirs: Ids;
  let browser: HttpBrowser;
  let before: string;

  const unknownIds = (): Ids => ({
    'api-keys': `svc-${randomUUID()}`,
    messages: randomUUID(),
    replays: randomUUID(),
    attention: randomUUID(),
    alerts: randomUUID(),
    sessions: randomUUID(),
    patients: randomUUID(),
    merges: randomUUID(),
    'code-tables': randomUUID(),
    subscriptions: randomUUID(),
  });
  const token = (site?: string) => at.oidc.signToken(site === undefined ? {} : { site });

  const ask = async (method: string, path: string, body?: Body, site?: string) => {
    const url = `${at.baseUrl}${path}`;
    // The answer to an error names its request.
    const common = { 'x-request-id': 'matrix-00000001', origin: new URL(at.baseUrl).origin };
    if (!isApi(path)) {
      const init =
        method === 'GET'
          ? {}
          : {
              body: new URLSearchParams(
                Object.entries(body ?? {}).map(([name, value]) => [
                  name,
                  typeof value === 'object' ? '' : String(value),
                ]),
              ),
            };
      const answer = await browser.ask(url, { method, headers: common, ...init });
      return { status: answer.status, text: await answer.text() };
    }
    const headers = {
      ...common,
      authorization: `Bearer ${await token(site)}`,
      'content-type': 'application/json',
      'if-match': '*',
    };
    const init = method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) };
    const answer = await fetch(url, { method, headers, ...init });
    return { status: answer.status, text: await answer.text() };
  };

  /** All data of a site except the counters of its graphs. */
  const snapshot = async (site: string): Promise<string> => {
    const { rows: tables } = await at.db.client.query<{ name: string }>(
      `select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
       where c.table_schema = 'public' and c.column_name = 'site_id' and t.table_type = 'BASE TABLE'
         and c.table_name not like 'usage%' and c.table_name not in ('answer_total', 'feed', 'key_usage', 'key_kid') order by 1`,
    );
    expect(tables.length).toBeGreaterThan(15);
    const dumps: string[] = [];
    for (const { name } of tables) {
      const { rows } = await at.db.client.query<{ dump: string }>(
        `select coalesce(json_agg(t order by t::text)::text, '') as dump from ${name} t where t.site_id = $1`,
        [site],
      );
      dumps.push(`${name} ${rows[0]?.dump ?? ''}`);
    }
    return dumps.join('\n');
  };

  beforeAll(async () => {
    const key = await createApiKey(at.db.client, { site: at.otherSite, name: 'Theirkey' });
    const sent = await at.send(
      'MSH|^~\\&|LAB|EAST|GW|GW|20260701093000+0000||ADT^A04^ADT_A01|THEIRCTRL|P|2.5.1\rEVN|A04|20260701093000+0000\r' +
        'PID|1||P1^^^THEIRNS&1.2.3.4&ISO^MR~P2^^^THEIRNOWHERE^PI||Theirname^Jane\r',
      {},
      key,
    );
    expect(sent.status, await sent.text()).toBe(200);
    const { rows: messages } = await at.db.client.query<{ message_id: string; patient: string }>(
      `select m.message_id, (select r.id from resource r where r.site_id = m.site_id and r.type = 'Patient') as patient
       from hl7_message m where m.site_id = $1`,
      [at.otherSite],
    );
    const [message] = messages;
    if (message === undefined) throw new Error('no message is stored');
    await at.db.client.query('select attention_add($1, $2, $3)', [
      at.otherSite,
      message.message_id,
      JSON.stringify([{ kind: 'not-moved', patients: [message.patient] }]),
    ]);
    const { rows: merges } = await at.db.client.query<{ merge_id: string }>(
      `insert into patient_merge (site_id, message_id, merged, survivor, kept) values ($1, $2, $3, $3, $4) returning merge_id`,
      [
        at.otherSite,
        message.message_id,
        message.patient,
        { resources: [], met: [], keys: [], results: [], numbers: [], traits: [], precedences: {}, after: {} },
      ],
    );
    const { rows: attention } = await at.db.client.query<{ issue_id: string }>(
      'select issue_id from issue where site_id = $1',
      [at.otherSite],
    );
    await at.db.client.query(...noteRefusalsSql(refusalOf(key.clientId, { reason: 'theirreason' })));
    const [session, alert] = [randomUUID(), randomUUID()];
    await at.db.client.query(
      `insert into alert (site_id, alert_id, kind, subject, firing_since) values ($1, $2, 'feed-silent', $3, now())`,
      [at.otherSite, alert, key.clientId],
    );
    await at.db.client.query(
      `select console_session_begin($1, $2, 'theireve', 'Theireve', 'sid', '192.0.2.1', 'x', '{}', null, null)`,
      [at.otherSite, session],
    );
    const subscription = randomUUID();
    await at.db.client.query(
      `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, matched)
         values ($1, $2, $3, 'Patient', 'name=Theirname', 'id-only', 'https://hooks.example.org/', 'hooks.example.org', 'theirreason', 10, 0)`,
      [at.otherSite, subscription, key.clientId],
    );
    const replay = await ask('POST', '/admin/api/replays', { apply: 'newest', comment: 'theirreason' }, at.otherSite);
    expect(replay.status, replay.text).toBe(200);
    const { replay: begun } = JSON.parse(replay.text) as { replay: { replayId: string } };
    const trialPath = `/admin/api/api-keys/${key.clientId}/rules/trial`;
    for (const path of [trialPath, `${trialPath}/stop`]) {
      const trial = await ask('POST', path, { ...(path === trialPath && { messages: 1 }) }, at.otherSite);
      expect(trial.status, trial.text).toBeLessThan(300);
    }
    await at.db.client.query(`update job set asked_by = 'theireve' where kind = 'rules-trial'`);
    const table = randomUUID();
    await at.db.client.query(
      `with made as (
         insert into code_table (site_id, table_id, name, created_by) values ($1, $2, 'Theirtable', 'theireve') returning *)
       , missed as (
         insert into code_miss (site_id, system, code, text, application, facility, messages)
           values ($1, 'THEIRNOWHERE', 'Z', 'theirreason', '', '', 1))
       insert into code_table_row (site_id, table_id, content, system, code, application, facility, target_system, target_code,
           display, equivalence, since)
         select site_id, table_id, content, 'THEIRNOWHERE', 'X', '', '', 'urn:x', 'Y', '', 'equal', 1 from made`,
      [at.otherSite, table],
    );
    theirs = {
      'api-keys': key.clientId,
      messages: message.message_id,
      replays: begun.replayId,
      attention: attention[0]?.issue_id ?? '',
      alerts: alert,
      sessions: session,
      patients: message.patient,
      merges: merges[0]?.merge_id ?? '',
      subscriptions: subscription,
      'code-tables': table,
    };
    await at.db.client.query(
      `insert into mllp_connection (site_id, client_id, connection_id, sidecar, run, source_address, is_tls, tls_subject, senders,
           has_sent, connections, opened_at, reported_at)
         values ($1, $2, gen_random_uuid(), 'ward', $1, '203.0.113.9', false, '', '{THEIRNOWHERE}', true, 1, now(), now())`,
      [at.otherSite, theirs['api-keys']],
    );
    await at.db.client.query(
      `insert into key_link (site_id, link_id, client_id, secret_sha256, created_by, expires_at)
         values ($1, gen_random_uuid(), $2, 'x', 'theireve', now() + interval '1 day')`,
      [at.otherSite, key.clientId],
    );
    const theirRules = JSON.stringify([{ verb: 'set', path: 'PID-8', value: 'THEIRNOWHERE' }]);
    await at.db.client.query(`select rules_draft($1, $2, 0, $3, 'theireve')`, [at.otherSite, key.clientId, theirRules]);
    await at.db.client.query(`select rules_release($1, $2, 1, 1, 'theireve', 'theirreason')`, [
      at.otherSite,
      key.clientId,
    ]);
    browser = await signIn(at);
    before = await snapshot(at.otherSite);
  });

  /** Values that only the other site can know. */
  const marks = () => ['Theirsite', 'Theirkey', 'Theirname', 'THEIRNOWHERE', 'theireve', 'theirreason', at.otherSite];
  const isOurEnd = (path: string): boolean => /\/(?:sessions|people)\/end$/.test(path);

  test('their own staff see something at each path of the API, so that the others prove something', async () => {
    const nothingThere: string[] = [];
    for (const { method, path } of ROUTES) {
      if (method !== 'GET' || !isApi(path) || NAMES_NOTHING.includes(path)) continue;
      for (const each of pathsOf(path, theirs)) {
        const { status, text } = await ask(method, each, undefined, at.otherSite);
        const isSeen = [...marks(), ...Object.values(theirs)].some((mark) => text.includes(mark));
        if (status !== 200 || !isSeen) nothingThere.push(`${path} ${status}`);
      }
    }
    expect(nothingThere).toEqual([]);
    before = await snapshot(at.otherSite);
  });

  test.each(
    ROUTES.filter(({ path }) => !isOurEnd(path)).map(({ method, path }) => [`${method} ${path}`, method, path]),
  )('%s', async (name, method, path) => {
    const none = unknownIds();
    const neutral = (text: string, ids: Ids) =>
      Object.values(ids)
        .reduce((rest, id) => rest.replaceAll(id, 'ID'), text)
        .replaceAll(
          /sealed=[\w.-]+|\d{4}-\d\d-\d\dT[\d:.]+Z|\d{14}(?:\.\d+)?[+-]\d{4}|nonce-[\w+/=-]+|nonce="[^"]*"|\b\d+ ms\b/g,
          'T',
        );
    const queries = method === 'GET' && !isAbout(path) ? ['', ...QUERIES] : [''];
    for (const query of queries) {
      const asked = (ids: Ids) =>
        pathsOf(path, ids).map((each) => (typeof query === 'string' ? each : `${each}?${query(ids)}`));
      const others = asked(none);
      for (const [at, each] of asked(theirs).entries()) {
        const theirAnswer = await ask(method, each, BODIES[name]?.(theirs));
        const noAnswer = await ask(method, others[at] ?? '', BODIES[name]?.(none));
        expect(theirAnswer.status, theirAnswer.text).toBe(noAnswer.status);
        // Reading the audit adds a row to it, so that a second answer differs.
        if (!path.includes('/audit')) expect(neutral(theirAnswer.text, theirs)).toBe(neutral(noAnswer.text, none));
        const isNamed = query !== '' || isAbout(path) || BODIES[name] !== undefined;
        for (const mark of [...marks(), ...(isNamed ? [] : Object.values(theirs))]) {
          if (!each.includes(mark)) expect(theirAnswer.text).not.toContain(mark);
        }
        if (isAbout(path)) expect(theirAnswer.status).toBe(404);
      }
    }
  });

  test('staff of one site cannot change the other site, nor end its sessions', async () => {
    // The page first, since its own session ends too.
    for (const { method, path } of ROUTES.filter((route) => isOurEnd(route.path)).toReversed()) {
      expect((await ask(method, path)).status).toBeLessThan(400);
    }
    expect(await snapshot(at.otherSite)).toBe(before);
  });
});
