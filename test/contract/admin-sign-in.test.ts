/** Signing in to the console and what its session is worth, over HTTP, against a real provider. */
import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { startConsole, type TestConsole } from '../stack/tools/console.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';
import { createHttpBrowser, type HttpBrowser } from '../stack/tools/http-browser.ts';
import type { Account } from '../stack/services/oidc-accounts.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';

const SESSION = '__Host-gateway-session';

describe.each(ONE_RUNTIME)('signing in on %s', (runtime) => {
  // Behind a path prefix, as behind a proxy.
  const at = useConsole(runtime, { site: { name: '<North> & "co"' }, prefix: '/gateway' });

  const host = () => new URL(at.baseUrl).host;
  const url = (path: string) => `${at.baseUrl}${path}`;
  const form = (
    fields: Record<string, string>,
    origin: string | undefined = new URL(at.baseUrl).origin,
  ): RequestInit => ({
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: origin === undefined ? {} : { origin },
  });

  /** To the provider's form, in at the name and password, and back to the console's callback. */
  const toCallback = async (browser: HttpBrowser, account: Account, path = '/admin'): Promise<string> => {
    const begun = await browser.ask(url(path));
    const signIn = await browser.ask(begun.headers.get('location') ?? '');
    const authorize = await browser.ask(signIn.headers.get('location') ?? '');
    const interaction = new URL(authorize.headers.get('location') ?? '', at.oidc.issuer).href;
    const { username, password } = account;
    const posted = await browser.ask(interaction, {
      method: 'POST',
      body: new URLSearchParams({ username, password }),
    });
    const resumed = await browser.ask(posted.headers.get('location') ?? '');
    return resumed.headers.get('location') ?? '';
  };

  const signIn = async (account = at.oidc.admin): Promise<HttpBrowser> => {
    const browser = createHttpBrowser();
    const response = await browser.go(await toCallback(browser, account));
    expect(response.status).toBe(200);
    return browser;
  };

  test('rejects people whose site the gateway does not know', async () => {
    const browser = createHttpBrowser();
    const callback = await toCallback(browser, at.oidc.admin);
    const move = (from: string, to: string) =>
      at.db.client.query('update site set site_id = $2 where site_id = $1', [from, to]);
    // Rows that refer to the site prevent its deletion.
    for (const table of ['site_change', 'site_address']) {
      await at.db.client.query(`delete from ${table} where site_id = $1`, [at.site]);
    }
    const elsewhere = randomUUID();
    await move(at.site, elsewhere);
    try {
      const refused = await browser.ask(callback);
      expect([refused.status, refused.headers.getSetCookie().some((each) => each.startsWith(`${SESSION}=`))]).toEqual([
        403,
        false,
      ]);
      expect(await refused.text()).toContain('this gateway has no site of your account');
    } finally {
      await move(elsewhere, at.site);
    }
  });

  test('leads to the requested page, with a cookie for this host only', async () => {
    const browser = createHttpBrowser();
    const callback = await toCallback(browser, at.oidc.admin, '/admin/keys?status=active');
    expect(callback.startsWith(`${url('/admin/callback')}?`)).toBe(true);
    const back = await browser.ask(callback);
    expect(back.headers.get('location')).toBe(url('/admin/keys?status=active'));
    const cookie = back.headers.getSetCookie().find((each) => each.startsWith(`${SESSION}=`)) ?? '';
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; Secure/);
    expect(cookie).toMatch(/; SameSite=Lax/);
    expect(cookie).toMatch(/; Path=\/;|; Path=\/$/);
    expect(cookie).toMatch(/Max-Age=32400/);
    expect(cookie).not.toMatch(/Domain=/i);
    const page = await browser.ask(url('/admin/keys'));
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const text = await page.text();
    expect(text).toContain('Alex Admin');
    // Names are text, never markup; links have the prefix.
    expect(text).toContain('&lt;North&gt; &amp; &quot;co&quot;');
    expect(text).toContain('href="/gateway/admin/keys"');
  });

  test('sends a request with PKCE, state and nonce', async () => {
    const response = await fetch(url('/admin/sign-in'), { redirect: 'manual' });
    const parameters = new URL(response.headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(parameters)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid profile',
      redirect_uri: url('/admin/callback'),
    });
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(parameters.get(name)?.length, name).toBeGreaterThan(40);
  });

  test('accepts an answer once, and only from the browser that asked', async () => {
    const browser = createHttpBrowser();
    const callback = await toCallback(browser, at.oidc.admin);
    const stranger = await createHttpBrowser().ask(callback);
    expect(stranger.status).toBe(403);
    const altered = callback.replace(/state=[^&]+/, 'state=other');
    const copy = createHttpBrowser();
    copy.cookies.set(host(), new Map(browser.cookies.get(host())));
    expect((await copy.ask(altered)).status).toBe(403);
    expect((await browser.ask(callback)).status).toBe(302);
    expect((await browser.ask(callback)).status).toBe(403);
  });

  test('no browser stores a redirect, which it would repeat on the way back', async () => {
    const browser = createHttpBrowser();
    const begun = await browser.ask(url('/admin/keys'));
    const redirects = [
      begun,
      await browser.ask(begun.headers.get('location') ?? ''),
      await browser.ask(await toCallback(browser, at.oidc.admin)),
      await browser.ask(url('/admin/sign-out'), form({})),
    ];
    expect(redirects.map(({ status, headers }) => [status, headers.get('cache-control')])).toEqual([
      [302, 'no-store'],
      [302, 'no-store'],
      [302, 'no-store'],
      [303, 'no-store'],
    ]);
  });

  test.each([
    '//evil.example',
    'https://evil.example',
    '/admin//evil.example',
    '/other',
    '/admin\\evil',
    'javascript:alert(1)',
  ])('never leads to %s', async (returnTo) => {
    const browser = createHttpBrowser();
    const begun = await browser.ask(url(`/admin/sign-in?returnTo=${encodeURIComponent(returnTo)}`));
    const authorize = await browser.ask(begun.headers.get('location') ?? '');
    const interaction = new URL(authorize.headers.get('location') ?? '', at.oidc.issuer).href;
    const { username, password } = at.oidc.admin;
    const posted = await browser.ask(interaction, {
      method: 'POST',
      body: new URLSearchParams({ username, password }),
    });
    const resumed = await browser.ask(posted.headers.get('location') ?? '');
    const back = await browser.ask(resumed.headers.get('location') ?? '');
    expect(back.headers.get('location')).toBe(url('/admin'));
  });

  test('a session works on the API too; a changed, invented or ended session does not', async () => {
    const browser = await signIn();
    const jar = browser.cookies.get(host()) ?? new Map<string, string>();
    const status = async () => (await browser.ask(url('/admin/api/api-keys'))).status;
    expect(await status()).toBe(200);
    const good = jar.get(SESSION) ?? '';
    for (const bad of [`${good.slice(0, -2)}xx`, 'x', '', `${good}.x`]) {
      jar.set(SESSION, bad);
      expect(await status(), bad.slice(-4)).toBe(401);
    }
    jar.delete(SESSION);
    expect(await status()).toBe(401);
  });

  test('another site cannot post with the session', async () => {
    const browser = await signIn();
    const { clientId } = await createApiKey(at.db.client, { site: at.site, name: 'Target' });
    const disable = (init: RequestInit) => browser.ask(url(`/admin/keys/${clientId}/status`), init);
    const fields = { status: 'disabled', version: '1', name: 'Target' };
    expect((await disable(form(fields, 'https://evil.example'))).status).toBe(403);
    expect((await disable(form(fields, 'null'))).status).toBe(403);
    const silent = { method: 'POST', body: new URLSearchParams(fields) };
    expect((await disable(silent)).status).toBe(403);
    const patch = (origin: string) =>
      browser.ask(url(`/admin/api/api-keys/${clientId}`), {
        method: 'PATCH',
        body: '{"status":"disabled"}',
        headers: { 'Content-Type': 'application/json', 'If-Match': '*', origin },
      });
    expect((await patch('https://evil.example')).status).toBe(403);
    const { rows } = await at.db.client.query('select status from api_key where client_id = $1', [clientId]);
    expect(rows).toEqual([{ status: 'active' }]);
    expect((await disable(form(fields))).status).toBe(303);
    const crossSiteRead = await browser.ask(url('/admin/api/api-keys'), {
      headers: { origin: 'https://evil.example' },
    });
    expect(crossSiteRead.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('a person with read permissions can read, and do no more', async () => {
    const browser = await signIn(at.oidc.reader);
    const { clientId } = await createApiKey(at.db.client, { site: at.site, name: 'Seen' });
    expect((await browser.ask(url(`/admin/keys/${clientId}`))).status).toBe(200);
    for (const path of ['/admin/keys/new', `/admin/keys/${clientId}/edit`]) {
      expect((await browser.ask(url(path))).status, path).toBe(403);
    }
    const posts: [string, Record<string, string>][] = [
      ['/admin/keys', { name: 'X' }],
      [`/admin/keys/${clientId}`, { name: 'X', version: '1' }],
      [`/admin/keys/${clientId}/status`, { status: 'disabled', version: '1' }],
      ['/admin/messages/0192f0c1-0000-7000-8000-000000000000/replay', {}],
    ];
    for (const [path, fields] of posts) expect((await browser.ask(url(path), form(fields))).status, path).toBe(403);
  });

  test("another site's key and message have no page", async () => {
    const browser = await signIn();
    const foreign = await createApiKey(at.db.client, { site: await createSite(at.db.client), name: 'Foreign' });
    expect((await browser.ask(url(`/admin/keys/${foreign.clientId}`))).status).toBe(404);
    expect((await browser.ask(url('/admin/messages/0192f0c1-0000-7000-8000-000000000000'))).status).toBe(404);
  });

  test('signing out ends the session, and only a post from a page of the console does it', async () => {
    const browser = await signIn();
    expect((await browser.ask(url('/admin/sign-out'), form({}, 'https://evil.example'))).status).toBe(403);
    const out = await browser.ask(url('/admin/sign-out'), form({}));
    expect(out.status).toBe(303);
    expect(out.headers.get('location')).toContain(`${at.oidc.issuer}/session/end`);
    expect(browser.cookies.get(host())?.has(SESSION)).toBe(false);
    expect((await browser.ask(url('/admin/keys'))).status).toBe(302);
  });

  test('stored values appear as text on every page', async () => {
    const browser = await signIn();
    const name = '<script>alert(1)</script>"\'';
    const { clientId } = await createApiKey(at.db.client, {
      site: at.site,
      name,
      senderApplication: '<img src=x onerror=alert(1)>',
    });
    for (const path of [
      '/admin/keys',
      `/admin/keys/${clientId}`,
      `/admin/keys/${clientId}/edit`,
      `/admin/keys?q=${encodeURIComponent(name)}`,
    ]) {
      const text = await (await browser.ask(url(path))).text();
      expect(text, path).not.toContain('<script>alert');
      expect(text, path).not.toContain('<img src=x');
    }
  });
});

/** Issuers as authentik and Entra ID publish them, and claims with custom names. One account has its permissions by groups. */
const NORTH = ['site.endpoints.read', 'site.api_keys.read', 'site.rules.read', 'site.rules.write'];

describe.each(ONE_RUNTIME)('a provider below a path with a final slash, on %s', (runtime) => {
  const claimNames = { site: 'https://gateway.example/site', permissions: 'gateway_roles' };
  let db: TestDatabase;
  let stack: TestConsole;
  let [north, south] = ['', ''];

  beforeAll(async () => {
    db = await createTestDatabase();
    const site = await createSite(db.client, { name: 'Elsewhere' });
    [north, south] = [await createSite(db.client, { name: 'North' }), await createSite(db.client, { name: 'South' })];
    const byGroup = {
      // A site of another deployment is listed first.
      'Lab north': { site: [randomUUID(), north], permissions: NORTH },
      '/lab/south': { site: south, permissions: '*' },
      Unused: { site, permissions: '*' },
    };
    const reader = { [claimNames.site]: undefined, groups: ['Everyone', 'Lab north', '/lab/south', 'toString'] };
    stack = await startConsole(runtime, db, site, {
      provider: { path: '/application/o/gateway/', claimNames, claims: { reader } },
      env: {
        ADMIN_OIDC_SITE_CLAIM: claimNames.site,
        ADMIN_OIDC_PERMISSIONS_CLAIM: claimNames.permissions,
        ADMIN_OIDC_GROUPS: JSON.stringify(byGroup),
      },
    });
  });
  afterAll(async () => {
    await stack.stop();
    await db.drop();
  });

  const api = async (token: string, headers = {}) =>
    (await fetch(`${stack.baseUrl}/admin/api/api-keys`, { headers: { authorization: `Bearer ${token}`, ...headers } }))
      .status;

  const signIn = async ({ username, password }: Account) => {
    const browser = createHttpBrowser();
    const { url } = await browser.go(`${stack.baseUrl}/admin`);
    const page = await browser.go(url, { method: 'POST', body: new URLSearchParams({ username, password }) });
    return { browser, page };
  };

  test('accepts people and scripts', async () => {
    expect(stack.oidc.issuer).toMatch(/\/application\/o\/gateway\/$/);
    const { page } = await signIn(stack.oidc.admin);
    expect([page.status, page.url]).toEqual([200, `${stack.baseUrl}/admin`]);
    expect(await api(await stack.oidc.adminToken())).toBe(200);
    // The usual names mean nothing here.
    const usual = { site: stack.oidc.admin.site, [claimNames.site]: undefined };
    expect(await api(await stack.oidc.signToken(usual))).toBe(403);
    expect(await api(await stack.oidc.signToken({ iss: stack.oidc.issuer.slice(0, -1) }))).toBe(401);
  });

  test('by groups: a person with several sites chooses one, and has the permissions of the group there', async () => {
    const { browser, page } = await signIn(stack.oidc.reader);
    const choice = await page.text();
    expect([page.status, page.url]).toEqual([200, `${stack.baseUrl}/admin/site`]);
    expect(['North', 'South', 'Elsewhere'].map((name) => choice.includes(name))).toEqual([true, true, false]);
    const ask = async (path: string, of = browser) => (await of.ask(`${stack.baseUrl}/admin/${path}`)).status;
    expect([await ask('keys'), await ask('keys/new')]).toEqual([200, 403]);

    const old = createHttpBrowser();
    for (const [host, cookies] of browser.cookies) old.cookies.set(host, new Map(cookies));
    const choose = (site: string) =>
      browser.ask(`${stack.baseUrl}/admin/site`, {
        method: 'POST',
        body: new URLSearchParams({ site }),
        headers: { origin: stack.baseUrl },
      });
    expect((await choose(stack.oidc.admin.site)).status).toBe(403);
    expect((await choose('x')).status).toBe(400);
    expect((await choose(south)).status).toBe(303);
    expect([await ask('keys'), await ask('keys/new')]).toEqual([200, 200]);
    expect(await (await browser.ask(`${stack.baseUrl}/admin`)).text()).toContain('<strong>South</strong>');
    // A copy of the cookie from before is of a session that is not there any more.
    expect(await ask('keys', old)).toBe(302);
    const { rows } = await db.client.query<{ site: string; action: string }>(
      `select site_id as site, action from audit where actor = 'reader' and action like 'signed%' order by at`,
    );
    expect(rows).toEqual([
      { site: north, action: 'signed-in' },
      { site: north, action: 'signed-out' },
      { site: south, action: 'signed-in' },
    ]);
    // A person begins at the site of the previous session.
    const { username, password } = stack.oidc.reader;
    await browser.ask(`${stack.baseUrl}/admin/sign-out`, { method: 'POST', headers: { origin: stack.baseUrl } });
    const again = await browser.go(`${stack.baseUrl}/admin`);
    const back = again.url.startsWith(stack.baseUrl)
      ? again
      : await browser.go(again.url, { method: 'POST', body: new URLSearchParams({ username, password }) });
    expect(back.url).toBe(`${stack.baseUrl}/admin`);
    expect(await back.text()).toContain('<strong>South</strong>');
  });

  test('a form of a tab at one site writes nothing after another tab has chosen another site', async () => {
    const { browser } = await signIn(stack.oidc.reader);
    const post = (path: string, fields: Readonly<Record<string, string>>) =>
      browser.ask(`${stack.baseUrl}/admin/${path}`, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { origin: stack.baseUrl },
      });
    await post('site', { site: south });
    const form = await (await browser.ask(`${stack.baseUrl}/admin/code-tables`)).text();
    const [, ofSite = ''] = /name="ofSite" value="([^"]+)"/.exec(form) ?? [];
    expect(ofSite).toBe(south);
    await post('site', { site: north });
    const late = await post('code-tables', { name: 'Laboratory', ofSite });
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('at another site than this form')]);
    const { rows } = await db.client.query(`select from code_table where site_id in ($1, $2)`, [north, south]);
    expect(rows).toHaveLength(0);
    await post('site', { site: south });
    expect((await post('code-tables', { name: 'Laboratory', ofSite })).status).toBe(303);
  });

  test('a request with a token for several sites must name the site', async () => {
    const groups = { [claimNames.site]: undefined, groups: ['Lab north', '/lab/south'] };
    const token = await stack.oidc.signToken(groups);
    expect(await api(token)).toBe(400);
    expect(await api(token, { 'gateway-site': south.toUpperCase() })).toBe(200);
    expect(await api(token, { 'gateway-site': stack.oidc.admin.site })).toBe(403);
    expect(await api(await stack.oidc.signToken({ ...groups, groups: ['Everyone'] }))).toBe(403);
  });
});
