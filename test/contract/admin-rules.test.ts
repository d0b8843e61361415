/** Rules of an API key over `/admin/api` and in the console: drafts, releases, faults, permissions and the audit. */
import { describe, expect, test } from 'vitest';

import { createApiKey } from '../stack/services/seed.ts';
import { signIn } from '../stack/tools/console.ts';
import { useConsole } from '../stack/tools/console-site.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Rules {
  readonly liveVersion: number | null;
  readonly live: readonly object[] | null;
  readonly draftVersion: number;
  readonly draft: readonly object[];
  readonly isDraftChanged: boolean;
  readonly edits: number;
  readonly savedBy: string | null;
  readonly releases: readonly { readonly version: number | null; readonly by: string; readonly comment: string }[];
}

const [READ, WRITE] = [['site.rules.read'], ['site.rules.read', 'site.rules.write']];
const UNKNOWN_SEX = { name: 'Unknown sex', verb: 'map', path: 'PID-8', values: { U: 'unknown' } };
const TRIM = { verb: 'trim', path: 'PID-5.1' };
const CLASS = {
  sender: { application: 'LAB' },
  when: { types: ['ADT^A08'], all: [{ path: 'PV1-2', equals: 'E' }] },
  verb: 'set',
  path: 'PV1-18',
  value: 'ER',
};

describe.each(ONE_RUNTIME)('rules of an API key on %s', (runtime) => {
  const at = useConsole(runtime, { site: { name: 'North' }, otherSite: { name: 'South' } });

  const newKey = async (): Promise<string> =>
    (await createApiKey(at.db.client, { site: at.site, name: `Rules ${crypto.randomUUID()}`, protocols: ['hl7'] }))
      .clientId;
  const of = (clientId: string) => {
    const call = async (
      method: string,
      path = '',
      body?: object,
      permissions: readonly string[] = WRITE,
      site = at.site,
    ) => {
      const token = await at.oidc.signToken({ site, permissions });
      const url = `/api-keys/${clientId}/rules${path}`;
      return at.ask(method, url, body, {}, token) as Promise<{ status: number; body: Rules & Record<string, unknown> }>;
    };
    return {
      call,
      read: async (): Promise<Rules> => (await call('GET')).body,
      save: (edits: number, ...rules: object[]) => call('PUT', '', { edits, rules }),
      release: (version: number | null, edits: number, comment = 'why') =>
        call('POST', '/release', { version, edits, comment }),
      state: async () => {
        const { rows } = await at.db.client.query<{ state: string; rules: unknown }>(
          'select hl7_settings_state(site_id, client_id) as state, hl7_rules as rules from api_key where client_id = $1',
          [clientId],
        );
        return rows[0];
      },
    };
  };

  test('a draft changes no message; its release does, and is a version that never changes', async () => {
    const { call, read, save, release, state } = of(await newKey());
    const unread = await state();
    expect(await read()).toEqual({
      liveVersion: null,
      live: null,
      draftVersion: 1,
      draft: [],
      isDraftChanged: false,
      edits: 0,
      savedAt: null,
      savedBy: null,
      releases: [],
    });
    expect((await save(0, UNKNOWN_SEX, TRIM)).body).toMatchObject({ draft: [UNKNOWN_SEX, TRIM], edits: 1 });
    expect(await state()).toEqual(unread);
    expect((await release(1, 1, ' ')).status).toBe(422);
    expect((await release(2, 1)).status).toBe(422);

    const { status, body } = await release(1, 1, 'first');
    expect([status, body]).toMatchObject([
      200,
      { liveVersion: 1, live: [UNKNOWN_SEX, TRIM], draftVersion: 2, isDraftChanged: false, edits: 2 },
    ]);
    const live = await state();
    expect(live?.rules).toEqual({ version: 1, rules: [UNKNOWN_SEX, TRIM] });
    expect(live?.state).not.toBe(unread?.state);
    expect((await release(1, 2)).status, 'it is live').toBe(409);
    expect((await release(2, 2)).status, 'the draft has the live rules').toBe(409);

    expect((await save(2, CLASS)).body).toMatchObject({ isDraftChanged: true, live: [UNKNOWN_SEX, TRIM] });
    expect(await state()).toEqual(live);
    expect((await release(2, 3, 'second')).body).toMatchObject({ liveVersion: 2, draftVersion: 3 });
    expect((await call('GET', '/1')).body).toEqual({ version: 1, rules: [UNKNOWN_SEX, TRIM] });

    expect((await release(1, 4, 'back')).body).toMatchObject({ liveVersion: 1, draft: [CLASS], isDraftChanged: true });
    expect((await state())?.rules).toEqual({ version: 1, rules: [UNKNOWN_SEX, TRIM] });
    const { releases } = (await release(null, 5, 'off')).body;
    expect(releases.map(({ version, comment }) => `${version} ${comment}`)).toEqual([
      'null off',
      '1 back',
      '2 second',
      '1 first',
    ]);
    expect(releases[0]?.by).toContain('(');
    expect((await state())?.rules).toBeNull();
    expect((await release(null, 6)).status, 'no rules are live').toBe(409);
    expect([(await release(3_000_000_000, 6)).status, (await release(1, 3_000_000_000)).status]).toEqual([422, 422]);
    for (const missing of ['/3', '/0', '/01', '/release', '/1e0'])
      expect((await call('GET', missing)).status, missing).toBe(404);
  });

  test('a save and a release as of an earlier state change nothing', async () => {
    const { read, save, release } = of(await newKey());
    const both = await Promise.all([save(0, TRIM), save(0, CLASS)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
    const saved = await read();
    expect((await save(0, UNKNOWN_SEX)).status).toBe(412);
    expect((await save(2, UNKNOWN_SEX)).status).toBe(412);
    expect((await release(1, 0)).status).toBe(412);
    expect(await read()).toEqual(saved);
    const released = await Promise.all([release(1, 1), release(1, 1)]);
    expect(released.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
    expect((await read()).releases).toHaveLength(1);
  });

  test('a fault names the member of its rule, and nothing is saved', async () => {
    const { call, read, save } = of(await newKey());
    const faults = async (body: object): Promise<string[]> => {
      const { status, body: problem } = await call('PUT', '', body);
      expect(status).toBe(422);
      const { errors = [] } = problem as { errors?: { pointer: string }[] };
      return errors.map(({ pointer }) => pointer);
    };
    const set = { verb: 'set', path: 'MSH-9', value: 'x' };
    const wrong = [TRIM, set, { verb: 'guess', path: 'PID-8' }, { ...TRIM, where: 1 }, { verb: 'trim', path: 'pid' }];
    expect(await faults({ edits: 0, rules: wrong })).toEqual([
      '#/rules/1/path',
      '#/rules/2/verb',
      '#/rules/3/where',
      '#/rules/4/path',
    ]);
    expect(await faults({ edits: 0, rules: Array.from({ length: 51 }, () => TRIM) })).toEqual(['#/rules']);
    const long = { verb: 'set', path: 'PID-8', value: 'x'.repeat(1000) };
    expect(
      await faults({ edits: 0, rules: Array.from({ length: 50 }, () => ({ ...long, name: 'ä'.repeat(200) })) }),
    ).toEqual(['#/rules']);
    expect(await faults({ rules: [] })).toEqual(['#/edits']);
    expect((await save(0)).body).toMatchObject({ draft: [], edits: 1 });
    expect((await save(1, ...Array.from({ length: 50 }, () => long))).status).toBe(200);
    expect((await read()).draft).toHaveLength(50);
  });

  test('a change of the key and a file without rules keep the live rules, and answers for the key do not have them', async () => {
    const clientId = await newKey();
    const { save, release, state } = of(clientId);
    await save(0, UNKNOWN_SEX);
    await release(1, 1);
    const rules = { version: 1, rules: [UNKNOWN_SEX] };
    const change = async (body: object) => at.ask('PATCH', `/api-keys/${clientId}`, body, { 'if-match': '*' });
    for (const body of [{ status: 'disabled' }, { status: 'active' }, { hl7Strict: true }])
      expect((await change(body)).status).toBe(200);
    expect((await change({ hl7Rules: null })).status).toBe(422);
    expect((await state())?.rules).toEqual(rules);

    const exported = await at.json<{ apiKeys: { clientId: string; notes: string | null }[] }>('/export');
    const file = {
      ...exported,
      apiKeys: exported.apiKeys.map((key) => (key.clientId === clientId ? { ...key, notes: 'changed' } : key)),
    };
    const { fingerprint } = await at.json<{ fingerprint: string }>('/plan', { file });
    await at.json('/apply', { file, fingerprint });
    expect((await state())?.rules).toEqual(rules);
    const seen = ['/api-keys', `/api-keys/${clientId}`, `/api-keys/${clientId}/changes`];
    for (const path of seen) expect(JSON.stringify(await at.json(path)), path).not.toContain('PID-8');
    const { rows } = await at.db.client.query(
      `select from api_key_change where client_id = $1 and concat(before, after) like '%PID-8%'`,
      [clientId],
    );
    expect(rows).toEqual([]);
  });

  test('needs its permissions, is of one site, and each change is in the audit', async () => {
    const clientId = await newKey();
    const { call } = of(clientId);
    const calls = [
      ['PUT', '', { edits: 0, rules: [TRIM] }],
      ['POST', '/release', { version: 1, edits: 1, comment: 'x' }],
      ['GET', '', undefined],
      ['GET', '/1', undefined],
    ] as const;
    for (const [method, path, body] of calls) {
      const without = method === 'GET' ? ['site.api_keys.read'] : READ;
      expect((await call(method, path, body, without)).status, path).toBe(403);
      expect((await call(method, path, body, WRITE, at.otherSite)).status, path).toBe(404);
      expect((await call(method, path, body)).status, path).toBe(200);
    }
    expect((await of(`svc-${crypto.randomUUID()}`).call('GET')).status).toBe(404);
    const { rows: audit } = await at.db.client.query<{ action: string }>(
      'select action from audit where site_id = $1 and $2 = any (ids) order by at',
      [at.site, clientId.slice(4)],
    );
    expect(audit.map(({ action }) => action)).toEqual(['rules-changed', 'rules-live']);
  });

  test('in the console the draft is shown in words, saved, made live, compared with a later draft, and left', async () => {
    const clientId = await newKey();
    const { read, save } = of(clientId);
    const browser = await signIn(at);
    const address = `${at.baseUrl}/admin/keys/${clientId}`;
    const get = async (path: string) => (await browser.go(`${address}${path}`)).text();
    const post = async (path: string, fields: Readonly<Record<string, string>>) => {
      const headers = { origin: new URL(at.baseUrl).origin };
      const body = new URLSearchParams(fields);
      const answer = await browser.go(`${address}/rules${path}`, { method: 'POST', headers, body });
      return { status: answer.status, text: await answer.text() };
    };
    expect(await get('')).toContain(`/admin/keys/${clientId}/rules"`);
    expect(await get('/rules')).toContain('No rules are live.');

    const typed = '[\n  { "name": "Unknown sex", "verb": "set", "path": "MSH-9", "value": "x" }';
    expect(await post('', { rules: typed, edits: '0' })).toMatchObject({
      status: 422,
      text: expect.stringContaining('not valid JSON'),
    });
    const wrong = await post('', { rules: `${typed}\n]`, edits: '0' });
    expect(wrong).toMatchObject({ status: 422, text: expect.stringContaining('Rule 1 (Unknown sex), path: MSH-9') });
    expect(wrong.text, 'the text stays as it was typed').toContain('{ &quot;name&quot;: &quot;Unknown sex&quot;');

    const rules = JSON.stringify([UNKNOWN_SEX, CLASS]);
    const saved = await post('', { rules, edits: '0' });
    expect(saved.text).toContain('The draft is saved');
    expect(saved.text).toContain('In PID-8, replace “U” by “unknown”.');
    expect(saved.text).toContain('For ADT^A08, from LAB, if PV1-2 is “E”: set PV1-18 to “ER”.');

    await save(1, TRIM);
    const late = await post('', { rules, edits: '1' });
    expect(late).toMatchObject({
      status: 409,
      text: expect.stringContaining('the rules were changed in the meantime'),
    });
    expect(late.text).toContain('replaces the stored draft');
    const stale = await post('/release', { version: '1', edits: '1', comment: 'the first rules' });
    expect(stale).toMatchObject({ status: 409, text: expect.stringContaining('value="the first rules"') });
    expect((await read()).liveVersion).toBeNull();

    const live = await post('/release', { version: '1', edits: '2', comment: 'by hand' });
    expect(live.text).toContain('It applies from the next message on');
    expect(live.text).toContain(`/admin/messages?clientId=${clientId}`);
    await save(3, CLASS);
    const compared = await get('/rules');
    expect(compared.match(/not in the draft/g)).toHaveLength(1);
    expect(compared).toContain('by hand');
    expect(await get('/rules?version=1')).toContain('Rules of version 1');
    expect((await post('/release', { version: '', edits: '4', comment: 'off' })).text).toContain('no rules');
    expect((await read()).releases.map(({ version }) => version)).toEqual([null, 1]);
  });

  test('a form adds, changes, moves and removes one rule; a fault is at its field, and what was typed remains', async () => {
    const clientId = await newKey();
    const { read, save } = of(clientId);
    const browser = await signIn(at);
    const address = `${at.baseUrl}/admin/keys/${clientId}/rules`;
    const get = async (path: string) => {
      const answer = await browser.go(`${address}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    const post = async (path: string, fields: readonly (readonly [string, string])[]) => {
      const headers = { origin: new URL(at.baseUrl).origin };
      const body = new URLSearchParams(fields.map(([name, value]) => [name, value]));
      const answer = await browser.go(`${address}${path}`, { method: 'POST', headers, body });
      return { status: answer.status, text: await answer.text() };
    };
    const sex = [
      ['verb', 'map'],
      ['name', 'Unknown sex'],
      ['values', 'U = unknown'],
    ] as const;
    const first = [...sex, ['edits', '0'], ['number', '']] as const;
    expect((await get('/rule?verb=map')).text).toContain('New rule');
    const wrong = await post('/rule', [
      ...first,
      ['path', 'MSH-9'],
      ['condition-path', 'PV1-2'],
      ['condition-test', 'equals'],
      ['condition-value', 'E'],
    ]);
    expect(wrong.status).toBe(422);
    expect(wrong.text).toMatch(/id="path-error"><li>MSH-9 is of the header[^<]*No rule may change it\.<\/li>/);
    for (const typed of ['value="MSH-9"', 'U = unknown', 'value="Unknown sex"', 'value="PV1-2"'])
      expect(wrong.text).toContain(typed);
    const wider = await post('/rule', [...first, ['path', 'PID-8'], ['more', 'condition']]);
    expect(wider.status).toBe(200);
    expect(wider.text.match(/name="condition-path"/g)).toHaveLength(2);
    expect((await read()).draft).toEqual([]);

    const saved = await post('/rule', [...first, ['path', ' PID-8 ']]);
    expect(saved.text).toContain('The draft is saved');
    expect(saved.text).toContain('In PID-8, replace “U” by “unknown”.');
    expect((await read()).draft).toEqual([UNKNOWN_SEX]);

    await save(1, UNKNOWN_SEX, TRIM, CLASS);
    const shown = await get('/rule?number=3');
    expect(shown.text).toContain('For ADT^A08, from LAB, if PV1-2 is “E”: set PV1-18 to “ER”.');
    expect(shown.text).toContain('name="edits" value="2"');
    const moved = await post('/move', [
      ['edits', '2'],
      ['move', '3 up'],
    ]);
    expect(moved.text).toContain('The draft is saved');
    expect((await read()).draft).toEqual([UNKNOWN_SEX, CLASS, TRIM]);
    await post('/move', [
      ['edits', '3'],
      ['move', '1 down'],
    ]);
    expect((await read()).draft).toEqual([CLASS, UNKNOWN_SEX, TRIM]);
    for (const none of ['1 up', '3 down'])
      await post('/move', [
        ['edits', `${(await read()).edits}`],
        ['move', none],
      ]);
    expect((await read()).draft).toEqual([CLASS, UNKNOWN_SEX, TRIM]);

    // As of an earlier draft, the position may be of another rule.
    const { edits } = await read();
    const late = await post('/rule', [...sex, ['edits', '2'], ['number', '1'], ['path', 'PID-8']]);
    expect(late).toMatchObject({
      status: 409,
      text: expect.stringContaining('the rules were changed in the meantime'),
    });
    expect(late.text).toContain('value="PID-8"');
    expect(
      await post('/move', [
        ['edits', '2'],
        ['move', '1 remove'],
      ]),
    ).toMatchObject({
      status: 409,
      text: expect.stringContaining('Move or remove the rule there'),
    });
    const changed = await post('/rule', [...sex, ['edits', `${edits}`], ['number', '2'], ['path', 'PID-15']]);
    expect(changed.text).toContain('The draft is saved');
    await post('/move', [
      ['edits', `${edits + 1}`],
      ['move', '1 remove'],
    ]);
    expect((await read()).draft).toEqual([{ ...UNKNOWN_SEX, path: 'PID-15' }, TRIM]);

    for (const none of ['?number=3', '?number=0', '?verb=guess', ''])
      expect((await get(`/rule${none}`)).status, none).toBe(404);
    expect(
      (
        await post('/move', [
          ['edits', '8'],
          ['move', '1 sideways'],
        ])
      ).status,
    ).toBe(422);
    expect(
      (
        await post('/rule', [
          ['edits', '8'],
          ['verb', 'guess'],
        ])
      ).status,
    ).toBe(400);
    await save((await read()).edits, { ...UNKNOWN_SEX, values: { 'a=b': 'c' } });
    expect((await get('/rule?number=1')).text).toContain('Edit it as JSON');
  });
});
