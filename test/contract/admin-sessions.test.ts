/** How a session of the console ends, and how the gateway checks permissions again, with a real provider. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { sessionSeal, signIn, startConsole } from '../stack/tools/console.ts';
import { createTestDatabase } from '../stack/tools/database.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';
import { createHttpBrowser, type HttpBrowser } from '../stack/tools/http-browser.ts';

const COOKIE = '__Host-gateway-session';
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

describe.each(ONE_RUNTIME)('a session on %s', (runtime) => {
  const at = useConsole(runtime);

  const url = (path: string) => `${at.baseUrl}${path}`;
  const jarOf = (browser: HttpBrowser) => browser.cookies.get(new URL(at.baseUrl).host) ?? new Map<string, string>();
  const post = (browser: HttpBrowser, path: string, fields: Record<string, string> = {}) =>
    browser.ask(url(path), {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { origin: new URL(at.baseUrl).origin },
    });

  /** Another browser with the same session. */
  const copyOf = (browser: HttpBrowser): HttpBrowser => {
    const copy = createHttpBrowser();
    copy.cookies.set(new URL(at.baseUrl).host, new Map(jarOf(browser)));
    return copy;
  };
  const status = async (browser: HttpBrowser, path = '/admin/api/api-keys') => (await browser.ask(url(path))).status;
  const seal = () => sessionSeal(at.gateway);
  const idOf = async (browser: HttpBrowser) =>
    String((await seal().open(jarOf(browser).get(COOKIE) ?? '', Date.now()))?.['session']);

  /** Requests without a database query must fail too. */
  const EVERYWHERE = [
    '/admin/api/api-keys',
    '/admin/api/endpoints',
    '/admin/keys',
    '/admin/keys/new',
    '/admin/workbench',
    '/admin/messages',
    '/admin/people',
  ];

  test('a copied cookie fails everywhere once its owner has signed out, and other sessions remain', async () => {
    const [browser, other] = [await signIn(at), await signIn(at)];
    const copy = copyOf(browser);
    for (const path of EVERYWHERE) expect(await status(copy, path), path).toBe(200);
    expect((await post(browser, '/admin/sign-out')).status).toBe(303);
    for (const path of EVERYWHERE) {
      expect(await status(copy, path), path).toBe(path.startsWith('/admin/api') ? 401 : 302);
    }
    expect(await status(other)).toBe(200);
  });

  test('an ended session writes nothing, and the page explains how to keep the form', async () => {
    const browser = await signIn(at);
    const { clientId } = await createApiKey(at.db.client, { site: at.site });
    const copy = copyOf(browser);
    await post(browser, '/admin/sign-out');
    const refused = await post(copy, `/admin/keys/${clientId}/status`, { status: 'disabled', version: '1' });
    expect([refused.status, await refused.text()]).toEqual([
      401,
      expect.stringContaining('the form still has what you typed'),
    ]);
    const validated = await copy.ask(url('/admin/api/workbench/resource'), {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', origin: new URL(at.baseUrl).origin },
    });
    expect(validated.status).toBe(401);
    const { rows } = await at.db.client.query('select status from api_key where client_id = $1', [clientId]);
    expect(rows).toEqual([{ status: 'active' }]);
  });

  test('a page is still one round trip', async () => {
    const browser = await signIn(at);
    for (const path of EVERYWHERE) {
      const before = at.db.endpoint.requests();
      expect(await status(browser, path), path).toBe(200);
      expect(at.db.endpoint.requests() - before, path).toBe(1);
    }
  });

  test.each([
    ['8 hours after it began', "started_at = now() - interval '8 hours 1 second'"],
    ['after 30 minutes without a request', "seen_at = now() - interval '30 minutes 1 second'"],
    ['an hour after the provider answered last', "asked_at = now() - interval '61 minutes'"],
  ])('ends %s', async (_, change) => {
    const browser = await signIn(at);
    await at.db.client.query(`update console_session set ${change} where session_id = $1`, [await idOf(browser)]);
    expect(await status(browser)).toBe(401);
    // The next sign-in deletes the row of the ended session.
    await signIn(at);
    const { rows } = await at.db.client.query('select 1 from console_session where session_id = $1', [
      await idOf(browser),
    ]);
    expect(rows).toEqual([]);
  });

  test('stays alive while it is used, also by a request that is held up', async () => {
    const browser = await signIn(at);
    const id = await idOf(browser);
    const setSeen = () =>
      at.db.client.query("update console_session set seen_at = now() - interval '29 minutes' where session_id = $1", [
        id,
      ]);
    const seen = async () => {
      const { rows } = await at.db.client.query<{ ago: number }>(
        'select extract(epoch from now() - seen_at)::int as ago from console_session where session_id = $1',
        [id],
      );
      return rows[0]?.ago ?? Infinity;
    };
    await setSeen();
    expect(await status(browser)).toBe(200);
    expect(await seen()).toBeLessThan(60);
    await setSeen();
    // A page that refreshes itself does not prolong the session. The gateway answers it only while a person is active.
    const byItself = () => browser.ask(url('/admin/keys'), { headers: { 'gateway-refresh': '1' } });
    expect((await byItself()).status).toBe(200);
    expect(await seen()).toBeGreaterThan(28 * 60);
    await at.db.client.query(
      "update console_session set seen_at = now() - interval '31 minutes' where session_id = $1",
      [id],
    );
    expect((await byItself()).status).toBe(302);
    await setSeen();
    await at.db.client.query('begin');
    await at.db.client.query('select 1 from console_session where session_id = $1 for update', [id]);
    try {
      // Another request of the session that takes long.
      expect(await status(browser)).toBe(200);
    } finally {
      await at.db.client.query('rollback');
    }
  });

  test('an administrator sees the sessions with their start and address, and ends one or all', async () => {
    const [admin, reader] = [await signIn(at), await signIn(at, at.oidc.reader)];
    const list = async () =>
      (await (await admin.ask(url('/admin/api/sessions'))).json()) as { items: Record<string, string>[] };
    const { items } = await list();
    expect(items.slice(0, 2)).toMatchObject([
      { subject: 'reader', name: 'Robin Reader', sourceAddress: '127.0.0.1' },
      { subject: 'admin', name: 'Alex Admin' },
    ]);
    expect(await (await admin.ask(url('/admin/people'))).text()).toContain('Robin Reader');
    // The list shows all people with a session, also an ended one, and their permissions in words. Each site has a separate list.
    const people = async () =>
      ((await (await admin.ask(url('/admin/api/people'))).json()) as { items: Record<string, unknown>[] }).items;
    const robin = (items: Record<string, unknown>[]) => items.find(({ subject }) => subject === 'reader');
    expect(robin(await people())).toMatchObject({ name: 'Robin Reader', lastSeen: expect.any(String) });
    expect(Number(robin(await people())?.['sessions'])).toBeGreaterThan(0);
    const text = await (await admin.ask(url('/admin/people'))).text();
    expect(text).toContain('see HL7 messages, which hold patient data');
    await at.db.client.query(
      "insert into console_person (site_id, subject, name, permissions) values ($1, 'eve', 'Eve', '{}')",
      [await createSite(at.db.client)],
    );
    expect(await people()).not.toContainEqual(expect.objectContaining({ subject: 'eve' }));
    expect(await status(reader, '/admin/people')).toBe(403);
    const end = (browser: HttpBrowser, path: string) =>
      browser.ask(url(`/admin/api/sessions${path}`), {
        method: 'POST',
        headers: { origin: new URL(at.baseUrl).origin },
      });
    expect((await end(reader, `/${items[1]?.['sessionId']}/end`)).status).toBe(403);
    expect((await end(admin, `/${randomUUID()}/end`)).status).toBe(404);
    expect((await end(admin, `/${items[0]?.['sessionId']}/end`)).status).toBe(200);
    expect([await status(reader), await status(admin)]).toEqual([401, 200]);
    expect(robin(await people())).toMatchObject({ name: 'Robin Reader' });
    const another = await signIn(at, at.oidc.reader);
    expect((await post(admin, '/admin/people/end')).status).toBe(303);
    expect([await status(another), await status(admin)]).toEqual([401, 401]);
  });

  test("another site's sessions are neither seen nor ended", async () => {
    const admin = await signIn(at);
    const other = await createSite(at.db.client);
    const foreign = randomUUID();
    await at.db.client.query(
      `select console_session_begin($1, $2, 'eve', 'Eve', 'sid', '192.0.2.1', 'x', '{}', null, null)`,
      [other, foreign],
    );
    expect(await (await admin.ask(url('/admin/api/sessions'))).text()).not.toContain('eve');
    const ended = await admin.ask(url(`/admin/api/sessions/${foreign}/end`), {
      method: 'POST',
      headers: { origin: new URL(at.baseUrl).origin },
    });
    expect(ended.status).toBe(404);
    await post(admin, '/admin/people/end');
    const { rows } = await at.db.client.query('select 1 from console_session where site_id = $1', [other]);
    expect(rows).toHaveLength(1);
  });

  /** As if the provider had answered last so many minutes ago. */
  const age = async (browser: HttpBrowser, minutes: number) => {
    const jar = jarOf(browser);
    const payload = await seal().open(jar.get(COOKIE) ?? '', Date.now());
    const askedAt = Math.floor(Date.now() / 1000) - minutes * 60;
    jar.set(COOKIE, await seal().seal({ ...payload, askedAt }, Number(payload?.exp)));
    await at.db.client.query(
      "update console_session set asked_at = now() - $2 * interval '1 minute' where session_id = $1",
      [payload?.['session'], minutes],
    );
  };

  test('the gateway asks for permissions again after 15 minutes, and a withdrawn permission is lost', async () => {
    const browser = await signIn(at, at.oidc.reader);
    try {
      at.oidc.change('reader', ['site.endpoints.read']);
      expect(await status(browser)).toBe(200);
      await age(browser, 16);
      const copy = copyOf(browser);
      expect([await status(browser), await status(browser, '/admin/api/endpoints')]).toEqual([403, 200]);
      // A cookie from before learns from what was kept, without asking again.
      at.oidc.setAway(true);
      expect(await status(copy)).toBe(403);
      at.oidc.setAway(false);
      // The gateway keeps the provider's next refresh token, since each refresh token of this provider works once.
      at.oidc.change('reader', at.oidc.reader.permissions);
      await age(browser, 16);
      expect(await status(browser)).toBe(200);
    } finally {
      at.oidc.setAway(false);
      at.oidc.change('reader', at.oidc.reader.permissions);
    }
  });

  test('asks the provider once for many simultaneous requests', async () => {
    const browser = await signIn(at);
    await age(browser, 20);
    const copies = Array.from({ length: 6 }, () => copyOf(browser));
    // Were the refresh token sent twice, this provider would take it for stolen and end everything.
    expect(new Set(await Promise.all(copies.map((copy) => status(copy))))).toEqual(new Set([200]));
    await age(browser, 16);
    expect(await status(browser)).toBe(200);
  });

  test('an account that is locked at the provider ends with the next asking', async () => {
    const browser = await signIn(at, at.oidc.reader);
    try {
      at.oidc.change('reader', null);
      await age(browser, 16);
      expect(await status(browser)).toBe(401);
    } finally {
      at.oidc.change('reader', at.oidc.reader.permissions);
    }
    expect(await status(browser)).toBe(401);
  });

  test('while the provider is unavailable, its last answer applies for an hour', async () => {
    const browser = await signIn(at);
    try {
      at.oidc.setAway(true);
      await age(browser, 50);
      expect([await status(browser), await status(browser)]).toEqual([200, 200]);
      await age(browser, 61);
      expect(await status(browser)).toBe(401);
    } finally {
      at.oidc.setAway(false);
    }
  });

  test('the provider’s tokens are stored sealed', async () => {
    const browser = await signIn(at);
    const { rows } = await at.db.client.query<{ refresh_token: string; id_token: string }>(
      'select refresh_token, id_token from console_session where session_id = $1',
      [await idOf(browser)],
    );
    for (const sealed of [rows[0]?.refresh_token, rows[0]?.id_token]) {
      // JWE, direct encryption: the second part is empty.
      expect(sealed).toMatch(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
    }
  });

  describe('back-channel logout', () => {
    const logOut = (fields: Record<string, string> | string[][]) =>
      fetch(url('/admin/back-channel-logout'), { method: 'POST', body: new URLSearchParams(fields) });
    /** A logout token of the provider for the console. `undefined` removes a claim. */
    const token = (claims: Readonly<Record<string, unknown>>, header: Readonly<Record<string, unknown>> = {}) =>
      at.oidc.signToken(
        {
          aud: 'console',
          sub: undefined,
          site: undefined,
          permissions: undefined,
          jti: randomUUID(),
          events: { [EVENT]: {} },
          ...claims,
        },
        { typ: 'logout+jwt', ...header },
      );

    test('signing out in one browser window signs out the others, by the provider’s request', async () => {
      const [browser, other] = [await signIn(at), await signIn(at)];
      // A second session of the gateway in one session of the provider.
      const window = createHttpBrowser();
      for (const [host, jar] of browser.cookies) window.cookies.set(host, new Map(jar));
      jarOf(window).delete(COOKIE);
      expect((await window.go(url('/admin'))).status).toBe(200);
      expect(await idOf(window)).not.toBe(await idOf(browser));

      const out = await post(browser, '/admin/sign-out');
      const page = await browser.go(out.headers.get('location') ?? '');
      const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(await page.text()) ?? [];
      const confirmed = await browser.ask(new URL('/session/end/confirm', at.oidc.issuer).href, {
        method: 'POST',
        body: new URLSearchParams({ xsrf, logout: 'yes' }),
      });
      expect(confirmed.status).toBe(303);
      await until('the other window to be signed out', async () => (await status(window)) === 401);
      expect(await status(other)).toBe(200);
    });

    test('by sid ends that session, by sub all sessions of the person, and no other', async () => {
      const [first, second, reader] = [await signIn(at), await signIn(at), await signIn(at, at.oidc.reader)];
      const { rows } = await at.db.client.query<{ provider_session: string }>(
        'select provider_session from console_session where session_id = $1',
        [await idOf(first)],
      );
      const sid = rows[0]?.provider_session;
      expect(sid).toMatch(/./);
      const answer = await logOut({ logout_token: await token({ sid }) });
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect([await status(first), await status(second)]).toEqual([401, 200]);
      // A sid of another person ends nothing.
      expect((await logOut({ logout_token: await token({ sid: 'other', sub: 'admin' }) })).status).toBe(200);
      expect(await status(second)).toBe(200);
      expect((await logOut({ logout_token: await token({ sub: 'admin' }) })).status).toBe(200);
      expect([await status(second), await status(reader)]).toEqual([401, 200]);
    });

    test('a token works once', async () => {
      const once = await token({ sub: 'admin' });
      expect((await logOut({ logout_token: once })).status).toBe(200);
      const browser = await signIn(at);
      expect((await logOut({ logout_token: once })).status).toBe(400);
      expect(await status(browser)).toBe(200);
    });

    test('only a current logout token of the provider for this console ends sessions', async () => {
      const browser = await signIn(at);
      const seconds = Math.floor(Date.now() / 1000);
      const sub = 'admin';
      const refused: [string, Promise<string>][] = [
        ['iss', token({ sub, iss: 'https://elsewhere.example' })],
        ['aud', token({ sub, aud: 'script' })],
        ['no aud', token({ sub, aud: undefined })],
        ['no iat', token({ sub, iat: undefined })],
        ['an old iat', token({ sub, iat: seconds - 3700 })],
        ['an iat to come', token({ sub, iat: seconds + 300 })],
        ['no exp', token({ sub, exp: undefined })],
        ['its time over', token({ sub, iat: seconds - 300, exp: seconds - 60 })],
        ['no events', token({ sub, events: undefined })],
        ['another event', token({ sub, events: { 'https://schemas.example/other': {} } })],
        ['an event that is not an object', token({ sub, events: { [EVENT]: true } })],
        ['neither sid nor sub', token({})],
        ['a nonce', token({ sub, nonce: 'n' })],
        ['half a character', token({ sub: '\ud800' })],
        ['NUL', token({ sid: 'a\0' })],
        ['no jti', token({ sub, jti: undefined })],
        ['typ', token({ sub }, { typ: 'at+jwt' })],
        ['alg none', Promise.resolve(`${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ sub }))}.`)],
        ['no token at all', Promise.resolve('x')],
      ];
      for (const [what, made] of refused) {
        const answer = await logOut({ logout_token: await made });
        expect([answer.status, await answer.text()], what).toEqual([
          400,
          expect.stringContaining('"error":"invalid_request"'),
        ]);
      }
      expect((await logOut({})).status).toBe(400);
      const twice = await token({ sub });
      const both = [
        ['logout_token', twice],
        ['logout_token', twice],
      ];
      expect((await logOut(both)).status).toBe(400);
      expect(await status(browser)).toBe(200);
    });
  });
});

describe.each(ONE_RUNTIME)('with a provider that gives no refresh token, on %s', (runtime) => {
  test('a session continues for an hour without asking the provider', async () => {
    const db = await createTestDatabase();
    const stack = await startConsole(runtime, db, await createSite(db.client), {
      provider: { withoutRefreshTokens: true },
      env: { ADMIN_OIDC_SCOPE: 'openid profile email' },
    });
    try {
      const begun = await createHttpBrowser().ask(`${stack.baseUrl}/admin/sign-in`);
      expect(new URL(begun.headers.get('location') ?? '').searchParams.get('scope')).toBe('openid profile email');
      const browser = await signIn(stack);
      const setAge = (minutes: number) =>
        db.client.query("update console_session set asked_at = now() - $1 * interval '1 minute'", [minutes]);
      const status = async () => (await browser.ask(`${stack.baseUrl}/admin/api/api-keys`)).status;
      await setAge(59);
      expect(await status()).toBe(200);
      await setAge(61);
      expect(await status()).toBe(401);
    } finally {
      await stack.stop();
      await db.drop();
    }
  });
});
