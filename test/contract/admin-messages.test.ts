/** Messages, workbench and counters of the JSON API, with messages that the gateway received. */
import { beforeAll, describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { clientAssertion, requestToken } from '../stack/services/client.ts';
import { signIn } from '../stack/tools/console.ts';
import { type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

const adt = (control: string, mrn: string, processing = 'P'): string =>
  `MSH|^~\\&|ADT|EAST|GW|GW|20261101083000+0100||ADT^A04^ADT_A01|${control}|${processing}|2.5.1\r` +
  `EVN|A04|20261101083000+0100\rPID|1||${mrn}^^^EAST^MR||Lovelace^Ada||19701231|F\r`;

/** `20261101083000Z`: so many seconds from now. */
const zulu = (seconds: number): string =>
  new Date(Date.now() + seconds * 1000).toISOString().replaceAll(/[-:T]|\.\d+/g, '');

interface MessageItem {
  readonly messageId: string;
  readonly controlId: string;
  readonly outcome: string;
}

interface List<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

interface Graph {
  readonly title: string;
  readonly series: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
}

describe.each(ONE_RUNTIME)('messages and the workbench on %s', (runtime) => {
  let foreignKey: ApiKey;

  const at = useConsole(runtime, {
    site: { name: 'North' },
    otherSite: { name: 'South' },
    key: { protocols: ['hl7'] },
    env: { JOB_TICK_SECONDS: '0.2' },
  });
  beforeAll(async () => {
    foreignKey = await createApiKey(at.db.client, { site: at.otherSite, protocols: ['hl7'] });
    for (const [sender, text, status] of [
      [at.key, adt('M-1', 'P-1'), 200],
      [at.key, adt('M-2', 'P-2'), 200],
      [at.key, adt('M-3', 'P-3', 'X'), 422],
      [foreignKey, adt('M-4', 'P-4'), 200],
    ] as const) {
      expect((await send(sender, text)).status, text).toBe(status);
    }
  });

  const send = (sender: ApiKey, body: string) => at.send(body, {}, sender);

  const listed = async (query: string): Promise<string[]> =>
    (await at.json<List<MessageItem>>(`/messages${query}`)).items.map(({ controlId }) => controlId);

  const find = async (control: string): Promise<MessageItem> => {
    const { items } = await at.json<List<MessageItem>>(`/messages?q=${control}`);
    const [found] = items;
    if (found === undefined) throw new Error(`${control} is not in the log`);
    return found;
  };

  test('the log has those of the site, the newest first, by filters and page by page', async () => {
    expect(await listed('')).toEqual(['M-3', 'M-2', 'M-1']);
    expect(await listed('?outcome=AR')).toEqual(['M-3']);
    expect(await listed('?type=ADT%5EA04&q=east')).toHaveLength(3);
    expect(await listed('?type=ORU')).toEqual([]);
    expect(await listed('?q=M-2')).toEqual(['M-2']);
    expect(await listed('?q=M-4')).toEqual([]);
    expect(await listed(`?clientId=${foreignKey.clientId}`)).toEqual([]);
    expect(await listed('?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')).toEqual([]);
    const first = await at.json<List<MessageItem>>('/messages?limit=2');
    const second = await at.json<List<MessageItem>>(`/messages?limit=2&cursor=${first.next}`);
    expect([...first.items, ...second.items].map(({ controlId }) => controlId)).toEqual(['M-3', 'M-2', 'M-1']);
    expect(second.next).toBeNull();
  });

  test('a search by number finds messages, also rejected ones; the audit names the reader without the number', async () => {
    interface Found extends List<
      MessageItem & { named: object[]; warnings: number; tookMs: number; finding: object | null }
    > {
      readonly count: number;
      readonly isMore: boolean;
      readonly previous: string | null;
    }
    const found = await at.json<Found>('/messages?patient=p3&outcome=errors&range=24h');
    expect(found).toMatchObject({ count: 1, isMore: false, next: null, previous: null });
    expect(found.items).toMatchObject([
      {
        controlId: 'M-3',
        outcome: 'AR',
        named: [{ field: 'PID-3', value: 'P-3', authority: 'EAST' }],
        finding: { severity: 'E', code: '202', reason: 'unsupported-processing-id' },
        tookMs: expect.any(Number),
      },
    ]);
    expect(await listed('?patient=ada%20LOVEL')).toEqual(['M-3', 'M-2', 'M-1']);
    expect(await listed('?patient=P-1%5E%5E%5Eeast')).toEqual(['M-1']);
    expect(await listed('?patient=P-1%5E%5E%5Ewest')).toEqual([]);
    for (const other of ['P-4', 'P-', 'P%25']) expect(await listed(`?patient=${other}`)).toEqual([]);
    expect(await listed('?reason=unsupported-processing-id&q=m-')).toEqual(['M-3']);
    for (const wrong of ['patient=%25', 'range=year', 'from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z']) {
      await at.json(`/messages?${wrong}`, undefined, 400);
    }
    const newest = await at.json<Found>('/messages?patient=lovelace&limit=1');
    const older = await at.json<Found>(`/messages?patient=lovelace&limit=1&cursor=${newest.next}`);
    expect(older).toMatchObject({ items: [{ controlId: 'M-2' }], count: null });
    const back = await at.json<Found>(`/messages?patient=lovelace&limit=1&newer=${older.previous}`);
    expect(back.items).toMatchObject([{ controlId: 'M-3' }]);

    const { rows } = await at.db.client.query<{
      parameters: string[];
      patients: string[];
      types: string[];
      all: string;
    }>(
      `select parameters, patients, types, to_json(a)::text as all from audit a where site_id = $1 and action = 'search' order by at`,
      [at.site],
    );
    expect(rows[0]).toMatchObject({ parameters: ['patient', 'outcome', 'range'], types: ['Hl7Message'], patients: [] });
    expect(rows[1]).toMatchObject({ parameters: ['patient'], patients: [expect.any(String), expect.any(String)] });
    expect(rows[3]).toMatchObject({ parameters: ['patient'], patients: [], types: [] });
    expect(JSON.stringify(rows)).not.toMatch(/p3|lovel|P-1/i);
  });

  test('the patients of messages are shown if they are requested, and the audit has them', async () => {
    const of = async (query: string) =>
      (await at.json<List<MessageItem & { patient: object | null }>>(`/messages${query}`)).items;
    expect((await of('')).map(({ patient }) => patient)).toEqual([null, null, null]);
    const counted = async () => {
      const { rows } = await at.db.client.query<{ patients: string[]; parameters: string[] }>(
        `select patients, coalesce(parameters, '{}') as parameters from audit where site_id = $1 and action = 'search' order by at`,
        [at.site],
      );
      return rows;
    };
    const before = await counted();
    const shown = await of('?withPatients=true');
    const stored = {
      name: 'Lovelace, Ada',
      authority: 'EAST',
      reference: expect.stringMatching(/^Patient\/[0-9a-f-]{36}$/),
    };
    expect(shown.map(({ patient }) => patient)).toEqual([
      // Rejected: no stored patient, and the words of PID-5 as they are searched.
      { reference: null, name: 'lovelace ada', identifier: 'P-3', authority: 'EAST' },
      { ...stored, identifier: 'P-2' },
      { ...stored, identifier: 'P-1' },
    ]);
    const notes = (await counted()).slice(before.length);
    expect(notes).toEqual([{ parameters: [], patients: [expect.any(String), expect.any(String)] }]);
    await at.json('/messages?withPatients=yes', undefined, 400);
  });

  test('the chosen columns are kept in a cookie; without the patient, the page reads none', async () => {
    const browser = await signIn(at);
    const page = async () => (await browser.go(`${at.baseUrl}/admin/messages`)).text();
    expect(await page()).toContain('Lovelace, Ada');
    const choose = (columns: readonly string[]) =>
      browser.go(`${at.baseUrl}/admin/messages/columns`, {
        method: 'POST',
        headers: { Origin: new URL(at.baseUrl).origin },
        body: new URLSearchParams([...columns.map((name) => ['columns', name]), ['address', 'range=30d']]),
      });
    const { url } = await choose(['outcome', 'controlId', 'nonsense']);
    expect(url).toBe(`${at.baseUrl}/admin/messages?range=30d`);
    const chosen = await page();
    expect(chosen).toMatch(
      /<th scope="col">Received<\/th><th scope="col">Control id<\/th><th scope="col">Outcome<\/th><\/tr>/,
    );
    expect(chosen).not.toContain('Lovelace, Ada');
    await choose([]);
    expect(await page()).toContain('Lovelace, Ada');
  });

  test('one message has its segments by name, its resources, its ACK and its errors', async () => {
    const { messageId } = await find('M-1');
    const message = await at.json<Record<string, unknown>>(`/messages/${messageId}`);
    expect(message).toMatchObject({
      outcome: 'AA',
      clientId: at.key.clientId,
      source: 'http',
      errors: [],
      problem: null,
    });
    expect(message['ack']).toMatch(/\nMSA\|AA\|M-1/);
    expect(message['resources']).toMatchObject([{ reference: expect.stringMatching(/^Patient\//), version: 1 }]);
    expect(message['segments']).toMatchObject([
      { id: 'MSH', name: 'Message Header' },
      { id: 'EVN' },
      {
        id: 'PID',
        fields: [
          { path: 'PID-1' },
          { path: 'PID-3', name: 'Patient Identifier List', value: 'P-1^^^EAST^MR' },
          { path: 'PID-5', name: 'Patient Name', value: 'Lovelace^Ada' },
          { path: 'PID-7' },
          { path: 'PID-8' },
        ],
      },
    ]);
    expect(message['resources']).toMatchObject([
      {
        change: 'created',
        currentVersion: 1,
        elements: expect.arrayContaining([
          { element: 'birthDate', before: null, after: '"1970-12-31"', fields: ['PID-7'] },
        ]),
      },
    ]);
    expect(JSON.stringify(message['segments'])).toContain('{"number":4,"name":"Assigning Authority","value":"EAST"}');
    expect(message['attempts']).toMatchObject([{ number: 1, why: 'received', tookMs: expect.any(Number) }]);
    const refused = await at.json<Record<string, unknown>>(`/messages/${(await find('M-3')).messageId}`);
    expect(refused['segments']).toMatchObject([
      {
        id: 'MSH',
        fields: expect.arrayContaining([
          expect.objectContaining({ path: 'MSH-11', findings: [expect.objectContaining({ code: '202' })] }),
        ]),
      },
      {},
      {},
    ]);
    expect(refused).toMatchObject({ outcome: 'AR', resources: [], errors: [{ code: '202', severity: 'E' }] });
  });

  test('accepts the replay of a rejected message after its cause has ended', async () => {
    const { messageId } = await find('M-3');
    await at.db.client.query(`update site set processing_ids = '{P,X}' where site_id = $1`, [at.site]);
    const preview = await at.json<Record<string, unknown>>(`/messages/${messageId}/replay`, {});
    expect(preview).toMatchObject({ messageId, applied: 'nothing', outcome: 'AA', errors: [], merges: [], stale: [] });
    expect(preview['changes']).toMatchObject([{ reference: 'Patient', change: 'created' }]);
    expect(await find('M-3')).toMatchObject({ outcome: 'AR' });

    const replayed = await at.json<Record<string, unknown>>(`/messages/${messageId}/replay`, {
      apply: 'newest',
      comment: 'X is taken',
    });
    expect(replayed).toMatchObject({ messageId, outcome: 'AA', ack: expect.stringContaining('MSA|AA|M-3') });
    expect(await find('M-3')).toMatchObject({ outcome: 'AA' });
    const { attempts, attemptCount, ack } = await at.json<Record<string, unknown>>(`/messages/${messageId}`);
    expect(attempts).toMatchObject([
      {
        number: 1,
        why: 'received',
        actor: null,
        comment: null,
        outcome: 'AR',
        ack: expect.stringContaining('MSA|AR|M-3'),
      },
      {
        number: 2,
        why: 'replayed',
        actor: expect.stringMatching(/\(.+\)$/),
        comment: 'X is taken',
        outcome: 'AA',
        ack,
      },
    ]);
    expect(attemptCount).toBe(2);
    await at.json(`/messages/${messageId}/replay`, { apply: 'newest', comment: 'x'.repeat(501) }, 422);
    // A later message, and this one again: what would change is said element by element.
    expect((await send(at.key, adt('M-3b', 'P-3').replace('Lovelace^Ada', 'King^Ada'))).status).toBe(200);
    const later = await at.json<{ around: object[]; resources: object[] }>(
      `/messages/${(await find('M-3b')).messageId}`,
    );
    expect(later.around).toMatchObject([
      { of: 'patient', side: 'previous', messageId, controlId: 'M-3', outcome: 'AA' },
    ]);
    expect(later.resources).toMatchObject([
      {
        version: 2,
        change: 'changed',
        elements: [
          { element: 'name', before: expect.stringContaining('Lovelace'), after: expect.stringContaining('King') },
        ],
      },
    ]);
    const again = await at.json<Record<string, unknown>>(`/messages/${messageId}/replay`, {});
    const difference = {
      element: 'name',
      before: expect.stringContaining('King'),
      after: expect.stringContaining('Lovelace'),
    };
    const both = [again['changes'], again['stale']].flat();
    expect(both).toContainEqual({
      reference: expect.stringMatching(/^Patient\/[0-9a-f-]{36}$/),
      change: 'changed',
      elements: [difference],
    });
    await at.json(`/messages/${messageId}/replay`, { apply: 'all' }, 422);
    await at.db.client.query(`update site set processing_ids = '{P}' where site_id = $1`, [at.site]);
  });

  test('messages that match a filter are counted, replayed in the background, and listed with their outcomes', async () => {
    expect((await send(at.key, adt('M-5', 'P-5', 'X'))).status).toBe(422);
    expect((await send(at.key, adt('M-6', 'P-6', 'X'))).status).toBe(422);
    await at.db.client.query(`update site set processing_ids = '{P,X}' where site_id = $1`, [at.site]);
    const filter = { outcome: 'AR', reason: 'unsupported-processing-id', clientId: at.key.clientId };
    expect(await at.json('/replays', filter)).toEqual({ count: 2 });
    expect(await at.json('/replays', { ...filter, reason: 'stale' })).toEqual({ count: 0 });
    expect(await at.json('/replays', { ...filter, outcome: 'errors', type: 'ADT^A04' })).toEqual({ count: 2 });
    expect(await at.json('/replays', { ...filter, type: 'ORU' })).toEqual({ count: 0 });
    // The list of messages leads to the replay of the same ones, or to none.
    const browser = await signIn(at);
    const linked = async (query: string): Promise<string | undefined> => {
      const page = await (await browser.go(`${at.baseUrl}/admin/messages?${query}`)).text();
      return /<a href="([^"]*)">Replay them …<\/a>/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    };
    const path = await linked('outcome=AR&reason=unsupported-processing-id&range=7d');
    expect(path).toMatch(/^\/admin\/replays\?outcome=AR&reason=unsupported-processing-id&from=20[^&]*&count=1$/);
    expect(await (await browser.go(`${at.baseUrl}${path}`)).text()).toContain('2 messages match.');
    for (const query of [
      '',
      'q=M-',
      'outcome=warnings',
      'reason=PID-3',
      'range=today',
      'range=24h&from=2026-01-01T00:00',
    ])
      expect(await linked(query), query).toBeUndefined();
    expect(await at.json<List<unknown>>('/replays')).toEqual({ items: [] });
    await at.json('/replays', { ...filter, reason: 'stale', apply: 'newest' }, 422);
    await at.json('/replays', { ...filter, reason: '%' }, 422);

    // The delay keeps workers from beginning the job before the test stops it.
    await at.db.client.query(`alter table job alter column run_after set default now() + interval '1 hour'`);
    const { replay } = await at.json<{ replay: { replayId: string } }>('/replays', { ...filter, apply: 'newest' });
    expect(replay).toMatchObject({ state: 'open', total: 2, done: 0, filter: { ...filter, type: '' } });
    await at.json('/replays', { ...filter, apply: 'newest' }, 409);
    const stopped = await at.json<object>(`/replays/${replay.replayId}/stop`, {});
    expect(stopped).toMatchObject({ state: 'stopped' });
    await at.json(`/replays/${replay.replayId}/stop`, {}, 409);
    await at.json(`/replays/${replay.replayId}/resume`, {});
    await at.gateway.tick?.();
    await expect
      .poll(() => at.json(`/replays/${replay.replayId}`), { timeout: 60_000 })
      .toMatchObject({ state: 'done', done: 2, outcomes: { AA: 2, AE: 0, AR: 0 } });
    expect(await find('M-5')).toMatchObject({ outcome: 'AA' });
    await at.db.client.query(`update site set processing_ids = '{P}' where site_id = $1`, [at.site]);

    const elsewhere = await at.oidc.signToken({ site: await createSite(at.db.client) });
    for (const path of ['', '/stop']) {
      const response = await fetch(`${at.baseUrl}/admin/api/replays/${replay.replayId}${path}`, {
        method: path === '' ? 'GET' : 'POST',
        headers: { Authorization: `Bearer ${elsewhere}` },
      });
      expect(response.status).toBe(404);
    }
  });

  test("another site's message cannot be read or replayed", async () => {
    const { rows } = await at.db.client.query<{ message_id: string }>(
      `select message_id from hl7_message where control_id = 'M-4'`,
    );
    expect(rows).toHaveLength(1);
    const [{ message_id: foreign }] = rows as [{ message_id: string }];
    await at.json(`/messages/${foreign}`, undefined, 404);
    await at.json(`/messages/${foreign}/replay`, {}, 404);
    await at.json('/messages/not-an-id', undefined, 404);
  });

  test('an assertion is explained check by check and not used up', async () => {
    const endpoint = `${at.gateway.oauthBaseUrl}/oauth2/token`;
    const assertion = await clientAssertion(at.key, endpoint);
    const explained = await at.json<{ accepted: boolean; checks: { code: string; result: string }[] }>(
      '/workbench/assertion',
      { assertion },
    );
    expect(explained.accepted).toBe(true);
    expect(explained.checks.filter(({ result }) => result === 'failed')).toEqual([]);
    const used = { client_assertion: assertion, audience: 'svc-hl7-http' };
    expect((await requestToken(at.gateway.oauthBaseUrl, at.key, used)).status).toBe(200);

    const now = Math.floor(Date.now() / 1000);
    const bad = await clientAssertion(at.key, 'https://elsewhere.example', {
      header: { typ: 'at+jwt' },
      claims: { exp: now - 412, iat: now - 500, jti: 7 },
    });
    const { checks } = await at.json<{ checks: { code: string; result: string; reason: string }[] }>(
      '/workbench/assertion',
      { assertion: bad },
    );
    const failed = checks.filter(({ result }) => result === 'failed').map(({ code }) => code);
    expect(failed).toEqual(['typ', 'aud', 'exp', 'iat', 'jti']);
    expect(checks.find(({ code }) => code === 'exp')?.reason).toMatch(/exp is 4\d\d s in the past/);
    // The gateway writes the refusals of messages some seconds later.
    const { rows } = await at.db.client.query(`select count(*)::int as refusals from refusal where surface = 'token'`);
    expect(rows).toEqual([{ refusals: 0 }]);
  });

  test('each sample of the workbench has the outcome that its title names', async () => {
    const browser = await signIn(at);
    const pageOf = async (bench: string, sample: string): Promise<string> => {
      const query = new URLSearchParams({ sample, clientId: at.key.clientId });
      return (await browser.ask(`${at.baseUrl}/admin/workbench/${bench}?${query.toString()}`)).text();
    };
    const samplesOf = async (bench: string): Promise<readonly (readonly [name: string, text: string])[]> => {
      const [, options = ''] = /<select[^>]* name="sample"[^>]*>([^]*?)<\/select>/.exec(await pageOf(bench, '')) ?? [];
      const names = [...options.matchAll(/ value="([^"]+)"/g)].map(([, name = '']) => name);
      return Promise.all(
        names.map(async (name) => {
          const [, text = ''] = /<textarea[^>]*>([^]*?)<\/textarea>/.exec(await pageOf(bench, name)) ?? [];
          return [
            name,
            text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&').trim(),
          ] as const;
        }),
      );
    };
    const results: Record<string, unknown> = {};
    for (const [name, assertion] of await samplesOf('assertion')) {
      const { checks } = await at.json<{ checks: { code: string; result: string }[] }>('/workbench/assertion', {
        assertion,
      });
      results[name] = checks.filter(({ result }) => result === 'failed').map(({ code }) => code);
    }
    for (const [name, message] of await samplesOf('message')) {
      const { outcome, errors, resources } = await at.json<{
        outcome: string;
        errors: { severity: string; at: string }[];
        resources: { resourceType: string }[];
      }>('/workbench/message', { clientId: at.key.clientId, message });
      const made = resources.map(({ resourceType }) => resourceType).toSorted();
      results[name] = [outcome, ...made, ...errors.flatMap(({ severity, at }) => (severity === 'E' ? [at] : []))];
    }
    for (const [name, resource] of await samplesOf('resource')) {
      const { issues } = await at.json<{ issues: { at: string }[] }>('/workbench/resource', JSON.parse(resource));
      results[name] = issues.map(({ at }) => at);
    }
    expect(results).toEqual({
      correct: ['signature'],
      audience: ['signature', 'aud'],
      milliseconds: ['signature', 'exp', 'iat'],
      expired: ['signature', 'exp', 'iat'],
      subject: ['signature', 'sub'],
      'no-jti': ['signature', 'jti'],
      'shared-secret': ['alg'],
      'adt-a04': ['AA', 'Patient'],
      'oru-r01': ['AA', 'DiagnosticReport', 'Observation', 'Observation', 'Patient'],
      'adt-a40': ['AA', 'Patient', 'Patient'],
      'no-patient': ['AE', 'PID^1^3^1^1'],
      'bad-result': ['AE', 'OBX^1^3'],
      unsupported: ['AR', 'MSH^1^9^1^1'],
      patient: [],
      observation: [],
      'bad-patient': ['Patient.gender', 'Patient.birthDate', 'Patient.nickname'],
      'bad-observation': ['Observation.value.ofType(Quantity).value', 'Observation.status'],
    });
  });

  test('an assertion for the client of another site is as unknown as one for a missing client', async () => {
    const endpoint = `${at.gateway.oauthBaseUrl}/oauth2/token`;
    const explain = async (clientId: string) => {
      const assertion = await clientAssertion({ clientId, privateJwk: foreignKey.privateJwk }, endpoint);
      const { checks } = await at.json<{ checks: { code: string; reason: string | null }[] }>('/workbench/assertion', {
        assertion,
      });
      return checks.map(({ code, reason }) => [code, reason]);
    };
    expect(await explain(foreignKey.clientId)).toEqual(await explain('svc-00000000-0000-4000-8000-000000000000'));
    const garbage = await at.json<{ accepted: boolean }>('/workbench/assertion', { assertion: 'garbage' });
    expect(garbage.accepted).toBe(false);
  });

  test('a message is tried without being stored', async () => {
    const tried = await at.json<Record<string, unknown>>('/workbench/message', {
      clientId: at.key.clientId,
      message: adt('TRY-1', 'P-9').replaceAll('\r', '\n'),
    });
    expect(tried).toMatchObject({ outcome: 'AA', resources: [{ resourceType: 'Patient', birthDate: '1970-12-31' }] });
    expect(tried['ack']).toMatch(/MSA\|AA\|TRY-1/);
    const broken = await at.json<Record<string, unknown>>('/workbench/message', {
      clientId: at.key.clientId,
      message: 'PID|1',
    });
    expect(broken).toMatchObject({ outcome: 'AR', segments: [], resources: [] });
    const newest = await at.json<Record<string, unknown>>('/workbench/message', { message: adt('TRY-1', 'P-9') });
    expect(newest).toMatchObject({ outcome: 'AA' });
    expect(await listed('?q=TRY-1')).toEqual([]);
  });

  test('a resource is validated, each fault at its place', async () => {
    expect(await at.json('/workbench/resource', { resourceType: 'Patient', gender: 'female' })).toEqual({
      valid: true,
      issues: [],
    });
    const wrapped = { resource: { resourceType: 'Patient', gender: 'female' } };
    expect(await at.json('/workbench/resource', wrapped)).toEqual({ valid: true, issues: [] });
    const { issues } = await at.json<{ issues: { at: string }[] }>('/workbench/resource', {
      resourceType: 'Patient',
      gender: 'x',
      birthDate: '31.12.1970',
    });
    expect(issues.map(({ at }) => at)).toEqual(['Patient.gender', 'Patient.birthDate']);
  });

  test('the counters show requests soon after they end', async () => {
    const totals = await until('the charts show the messages', async () => {
      // prose-allow: charts
      const { charts } = await at.json<{ charts: Graph[] }>('/usage');
      const total = (title: string, label: string): number =>
        charts
          .find((chart) => chart.title === title)
          ?.series.find((series) => series.label === label)
          ?.values.reduce<number>((sum, value) => sum + (value ?? 0), 0) ?? 0;
      const ok = total('Answered', 'HL7 over HTTP');
      const refused = total('Rejected and failed', 'HL7 over HTTP');
      return ok >= 3 && refused >= 3 ? { ok, tokens: total('Answered', 'Tokens'), refused } : false;
    });
    // The gateway received six messages of this site, and one of another site.
    expect(totals).toMatchObject({ ok: 3, refused: 3 });
    expect(totals.tokens).toBeGreaterThanOrEqual(3);
  });

  test('a message older than the stored data: shown element by element, applied in a second step, and stored completely', async () => {
    const result = (control: string, status: string, at: string, value: string): string =>
      `MSH|^~\\&|LAB|EAST|GW|GW|${at}+0100||ORU^R01^ORU_R01|${control}|P|2.5.1\rPID|1||P-9^^^EAST^MR||Lovelace^Ada\r` +
      `OBR|1||F-9|PANEL^Panel^L|||20261101080000+0100|||||||||||||||${at}+0100|||${status}\r` +
      `OBX|1|ST|K^Potassium^L||${value}||||||${status}\r`;
    const final = result('M-9', 'F', '20261101083000', '4.0');
    const first = await (await send(at.key, final)).text();
    expect((await send(at.key, result('M-10', 'C', '20261101093000', '4.4'))).status).toBe(200);
    const { messageId } = await find('M-9');
    const detail = () => at.json<{ attempts: object[]; ack: string }>(`/messages/${messageId}`);
    const observation = async () => {
      const { rows } = await at.db.client.query<{ body: string; version: number }>(
        `select body, version from resource where type = 'Observation' and body like '%"Potassium"%'`,
      );
      expect(rows).toHaveLength(1);
      const [{ body, version }] = rows as [{ body: string; version: number }];
      const { status, valueString } = JSON.parse(`{${body}}`) as Record<string, unknown>;
      return `${String(valueString)} ${String(status)} ${version}`;
    };

    const preview = await at.json<Record<string, unknown>>(`/messages/${messageId}/replay`, {});
    expect(preview).toMatchObject({
      applied: 'nothing',
      outcome: 'AA',
      errors: [
        { severity: 'W', code: '205', at: 'OBX^1' },
        { severity: 'W', code: '205', at: 'OBR^1' },
      ],
      changes: expect.arrayContaining([
        { reference: expect.stringContaining('Observation/'), change: 'unchanged', elements: [] },
        { reference: expect.stringContaining('DiagnosticReport/'), change: 'unchanged', elements: [] },
      ]),
    });
    expect(preview['stale']).toEqual(
      expect.arrayContaining([
        {
          reference: expect.stringContaining('Observation/'),
          change: 'changed',
          elements: expect.arrayContaining([
            { element: 'status', before: '"corrected"', after: '"final"' },
            { element: 'valueString', before: '"4.4"', after: '"4.0"' },
          ]),
        },
        {
          reference: expect.stringContaining('DiagnosticReport/'),
          change: 'changed',
          elements: expect.arrayContaining([{ element: 'status', before: '"corrected"', after: '"final"' }]),
        },
      ]),
    );
    // A dry run changes nothing and adds no attempt.
    expect([await observation(), (await detail()).attempts.length]).toEqual(['4.4 corrected 2', 1]);

    await at.json(`/messages/${messageId}/replay`, { apply: 'newest' });
    expect(await observation()).toBe('4.4 corrected 2');
    const forced = await at.json<Record<string, unknown>>(`/messages/${messageId}/replay`, { apply: 'everything' });
    expect(forced).toMatchObject({ applied: 'everything', outcome: 'AA' });
    expect(await observation()).toBe('4.0 final 3');

    const by = { actor: expect.stringMatching(/\(.+\)$/), outcome: 'AA' };
    const lines = first.replaceAll('\r', '\n').trim();
    expect((await detail()).attempts).toMatchObject([
      { number: 1, why: 'received', actor: null, outcome: 'AA', errors: [], ack: expect.stringContaining(lines) },
      { number: 2, why: 'replayed', errors: [{ code: '205' }, { code: '205' }], ...by },
      { number: 3, why: 'forced', errors: [], ...by },
    ]);
    // The sender gets its first answer again, and its later message applies again.
    expect(await (await send(at.key, final)).text()).toBe(first);
    expect(await observation()).toBe('4.0 final 3');
    expect((await send(at.key, result('M-11', 'C', zulu(60), '4.5').replaceAll('Z+0100', '+0000'))).status).toBe(200);
    expect(await observation()).toBe('4.5 corrected 4');
  });

  test('a message of very many parts is shown up to a limit, and stored completely', async () => {
    const message = `${adt('M-12', 'P-12')}ZZZ${'|'.repeat(60_000)}x\rZZY${'|y'.repeat(60_000)}\r`;
    expect((await send(at.key, message)).status).toBe(200);
    const { messageId } = await find('M-12');
    const shown = {
      moreSegments: 0,
      segments: expect.arrayContaining([
        expect.objectContaining({
          id: 'ZZZ',
          moreFields: 0,
          fields: [{ path: 'ZZZ-60000', name: null, value: 'x', repetitions: [], moreRepetitions: 0, findings: [] }],
        }),
        expect.objectContaining({ id: 'ZZY', moreFields: 59_800 }),
      ]),
    };
    const detail = await at.json<Record<string, unknown>>(`/messages/${messageId}`);
    expect(detail).toMatchObject({ ...shown, text: message.trim().replaceAll('\r', '\n') });
    expect(await at.json('/workbench/message', { clientId: at.key.clientId, message })).toMatchObject(shown);
    const tiny = `${adt('M-13', 'P-13')}${'AL1\r'.repeat(15_000)}`;
    const { segments, moreSegments } = await at.json<{ segments: unknown[]; moreSegments: number }>(
      '/workbench/message',
      {
        clientId: at.key.clientId,
        message: tiny,
      },
    );
    expect(segments.length + moreSegments).toBe(15_003);
    expect(segments.length).toBeLessThanOrEqual(2_000);
  });

  test('rejects a message above a limit permanently, with the limit and the location', async () => {
    const values = `MSH|^~\\&|LAB|EAST|GW|GW|20261101083000+0100||ORU^R01|M-14|P|2.5.1\rPID|1||P-14^^^EAST^MR||Lovelace^Ada\rOBR|1||F14|1^Test^L|||20260101||||||||||||||||||F\rOBX|1|NM|n^N^L||${'1~'.repeat(250_000)}||||||F\r`;
    const refused = await send(at.key, values);
    expect(refused.status).toBe(422);
    const ack = await refused.text();
    expect(ack).toContain('MSA|AE|M-14');
    expect(ack).toContain('OBX^1^5');
    expect(ack).toContain('too-many-repetitions');
    expect(ack).toContain('20000');
    const lines = values
      .replace('M-14', 'M-15')
      .replace('|NM|', '|FT|')
      .replace('1~'.repeat(250_000), 'a line~'.repeat(2_000));
    expect((await send(at.key, lines)).status).toBe(200);
  });

  test('one search finds each kind by permission, and the audit has it without the text', async () => {
    interface Group {
      readonly items: readonly Record<string, unknown>[];
      readonly isMore: boolean;
      readonly count?: number;
    }
    type Findings = Readonly<Record<string, Group | null>>;
    const search = (text: string) => at.json<Findings>('/search', { text });
    const identified = await search(' P-1^^^EAST ');
    expect(identified['patients']?.items).toMatchObject([
      { families: ['Lovelace'], birthDate: '1970-12-31', identifiers: [{ value: 'P-1' }], isMerged: false },
    ]);
    expect(identified['patientMessages']).toMatchObject({ items: [{ controlId: 'M-1' }], count: 1, isMore: false });
    expect(identified['apiKeys']?.items).toEqual([]);
    const named = await search('Lovelace, Ada');
    expect(named['patients']?.items).toContainEqual(identified['patients']?.items[0]);
    expect(named['patientMessages']?.count).toBeGreaterThanOrEqual(3);
    // Two letters would read all names and control ids of the site.
    for (const text of ['Lo', 'M-', '%%%', 'M-4', foreignKey.clientId, 'lovelace-king']) {
      const { patients, messages, apiKeys } = await search(text);
      expect([patients?.items, messages?.items, apiKeys?.items], text).toEqual([[], [], []]);
    }
    const reference = String(identified['patients']?.items[0]?.['reference']);
    for (const text of [reference, reference.replace('Patient/', '').toUpperCase()]) {
      expect((await search(text))['patients']?.items).toMatchObject([{ reference }]);
    }
    const { messageId } = await find('M-1');
    expect((await search(messageId))['resources']?.items).toEqual([
      { reference: `Hl7Message/${messageId}`, patient: null },
    ]);
    expect((await search(at.key.clientId))['apiKeys']?.items).toMatchObject([{ clientId: at.key.clientId }]);
    expect((await search('M-1'))['messages']?.items).toContainEqual(expect.objectContaining({ controlId: 'M-1' }));
    const refused = await send(at.key, adt('M-5', '').replace('^^^EAST^MR', ''));
    const requestId = refused.headers.get('x-request-id') ?? '';
    await until('the rejected request is counted', async () => {
      const found = await search(requestId);
      expect(found['messages']?.items).toMatchObject([{ controlId: 'M-5' }]);
      return found['requests']?.items[0]?.['requestId'] === requestId;
    });
    for (const text of ['', 'x'.repeat(201)]) await at.json('/search', { text }, 422);

    const bySome = async (permissions: readonly string[]) => {
      const token = await at.oidc.signToken({ permissions });
      return at.ask('POST', '/search', { text: 'P-1' }, {}, token);
    };
    expect((await bySome(['site.messages.read'])).body).toMatchObject({
      patients: { items: [{}] },
      apiKeys: null,
      requests: null,
    });
    expect((await bySome(['site.api_keys.read'])).body).toMatchObject({
      patients: null,
      resources: null,
      patientMessages: null,
      messages: null,
      apiKeys: { items: [] },
    });
    expect((await bySome(['site.settings.read'])).status).toBe(403);

    const { rows } = await at.db.client.query<{ all: string }>(
      `select a::text as all, parameters, patients::text[] from audit a where site_id = $1 and parameters = '{text}' order by at`,
      [at.site],
    );
    expect(rows[0]).toMatchObject({ parameters: ['text'], patients: [reference.replace('Patient/', '')] });
    expect(rows.map(({ all }) => all).join()).not.toMatch(/P-1|Lovelace/);
  });

  test('no address of the console has a name or an identifier, and only the same person opens a sealed search', async () => {
    const browser = await signIn(at);
    const post = (path: string, form: Record<string, string>) =>
      browser.ask(`${at.baseUrl}/admin/${path}`, {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: { origin: new URL(at.baseUrl).origin },
      });
    const other = await signIn(at, at.oidc.reader);
    for (const [path, form, shown] of [
      ['search', { text: 'lovelace' }, 'Lovelace, Ada'],
      ['messages', { patient: 'lovelace', q: 'M-1', range: '7d' }, 'M-1'],
      ['audit', { patient: 'P-1' }, 'the identifier P-1'],
    ] as const) {
      const posted = await post(path, form);
      expect(posted.status).toBe(303);
      const address = new URL(posted.headers.get('location') ?? '', at.baseUrl).href;
      expect(decodeURIComponent(address)).not.toMatch(/lovelace|M-1|P-1/i);
      const page = await (await browser.ask(address)).text();
      expect(page).toContain(shown);
      const links = [...page.matchAll(/(?:href|action)="([^"]*)"/g)].map(([, link = '']) => decodeURIComponent(link));
      expect(links.filter((link) => /lovelace|P-1\b/i.test(link))).toEqual([]);
      // An address that has it, such as an old bookmark, is replaced.
      const typed = await browser.ask(`${at.baseUrl}/admin/${path}?${new URLSearchParams(form).toString()}`);
      expect([typed.status, typed.headers.get('location')]).toEqual([303, expect.stringContaining('sealed=')]);
      const stolen = await other.ask(address);
      expect(await stolen.text()).not.toContain(shown);
      expect([400, 403]).toContain(stolen.status);
      expect((await browser.ask(`${address}x`)).status).toBe(400);
    }
  });

  test('a copy for a ticket keeps a placeholder of the site, which is the fault, and has no name', async () => {
    await at.db.client.query(`update site set placeholders = '{NotFound77}' where site_id = $1`, [at.site]);
    let sent = 0;
    await until('the message is rejected for its placeholder', async () => {
      const answer = await send(at.key, adt(`M-P${(sent += 1)}`, 'NOTFOUND77'));
      return answer.status === 422 ? answer : undefined;
    });
    const { items } = await at.json<List<MessageItem>>('/messages?reason=placeholder-identifier');
    const copy = await at.json<{ text: string }>(`/messages/${items[0]?.messageId}/ticket-copy`);
    expect(copy.text).toContain('|NOTFOUND77^^^EAST^MR|');
    expect(copy.text).not.toMatch(/Lovelace|Ada|19701231/);
  });
});
