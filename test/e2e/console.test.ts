/**
 * The console as an administrator uses it, in a real Chromium: sign in, create a key, get a token with it, disable it,
 * see the refusal explained, try a message, replay one. Every page is looked at by axe-core, and none is heavy.
 */
import { mkdir } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { NO_BROWSER, isBrowserMissing, startBrowser } from '../stack/tools/browser.ts';
import { clientAssertion, getToken, requestToken } from '../stack/services/client.ts';
import { startConsole, type TestConsole } from '../stack/tools/console.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import type { Account } from '../stack/services/oidc-accounts.ts';
import { ALL_SCOPES, type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';

const MAX_PAGE_BYTES = 200 * 1024;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Where pictures of the pages go, when someone wants to look at them. */
const PICTURES = process.env['SCREENSHOTS'];
const WIDE = 1280;
const VIEWS = ['light', 'dark'].flatMap((colorScheme) =>
  [WIDE, 800].map((width) => ({ colorScheme: colorScheme as 'light' | 'dark', width })),
);

const message = (control: string, mrn: string): string =>
  `MSH|^~\\&|ADT|EAST|GW|GW|20261101083000+0100||ADT^A04^ADT_A01|${control}|P|2.5.1\r` +
  `EVN|A04|20261101083000+0100\rPID|1||${mrn}^^^EAST^MR||Lovelace^Ada||19701231|F\rZZZ|1\r`;

describe('the console in a browser', () => {
  let db: TestDatabase;
  let stack: TestConsole;
  let browser: Browser;
  let site: string;
  let hl7Key: ApiKey;

  const isSkipped = isBrowserMissing();
  beforeEach(({ skip }) => skip(isSkipped, NO_BROWSER));
  beforeAll(async () => {
    if (isSkipped) return;
    db = await createTestDatabase();
    site = await createSite(db.client, { name: 'North Hospital', timeZone: 'Europe/Berlin' });
    hl7Key = await createApiKey(db.client, {
      site,
      name: 'Admissions',
      scopes: ALL_SCOPES,
      protocols: ['hl7', 'hl7-mllp'],
      allowedIps: ['10.1.0.0/16', '2001:db8::/32'],
    });
    stack = await startConsole('workerd', db, site, {
      env: { INTEGRATION_HL7_MTTP_DOMAIN: 'hl7.north.example', INTEGRATION_HL7_MTTP_PORT: '2575' },
    });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await db?.drop();
  });

  const signIn = async (account: Account, options: object = {}): Promise<{ context: BrowserContext; page: Page }> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    await page.goto(`${stack.baseUrl}/admin/keys`);
    await page.fill('#username', account.username);
    await page.fill('#password', account.password);
    await page.click('button');
    await page.waitForURL(`${stack.baseUrl}/admin/keys`);
    return { context, page };
  };

  /** No violation of accessibility, no error in the page's console, no host but our own. */
  const lookAt = async (page: Page): Promise<void> => {
    await page.evaluate(AXE);
    const violations = await page.evaluate(async () => {
      const axe = (
        globalThis as unknown as {
          axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        }
      ).axe;
      return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    });
    expect(violations, page.url()).toEqual([]);
  };

  const sendMessage = async (text: string): Promise<Response> => {
    const token = await getToken(stack.gateway.oauthBaseUrl, hl7Key, { audience: 'svc-hl7-http' });
    return fetch(`${stack.gateway.hl7BaseUrl}/hl7/messages`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/plain' },
      body: text,
    });
  };

  test('an administrator makes a key, uses it, disables it and sees why it was refused', async () => {
    const { context, page } = await signIn(stack.oidc.admin);
    const problems: string[] = [];
    page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
    page.on('pageerror', (error) => problems.push(String(error)));

    await page.click('text=New API key');
    await lookAt(page);
    await page.fill('#name', 'Laboratory');
    await page.fill('#tokenTtlSeconds', '30');
    await page.click('button:has-text("Create API key")');
    expect(await page.textContent('#tokenTtlSeconds-error')).toContain('at least 60');
    expect(await page.textContent('#jwks-error')).toContain('paste a JWKS');
    await lookAt(page);

    const pair = await generateKeyPair('ES256', { extractable: true });
    const privateJwk: JWK = { ...(await exportJWK(pair.privateKey)), kid: 'lab-1', alg: 'ES256' };
    const publicJwk = { ...(await exportJWK(pair.publicKey)), kid: 'lab-1', alg: 'ES256' };
    await page.fill('#jwks', JSON.stringify({ keys: [privateJwk] }));
    await page.fill('#tokenTtlSeconds', '120');
    await page.check('input[value="system/Patient.read"]');
    await page.click('button:has-text("Create API key")');
    expect(await page.textContent('#jwks-error')).toContain('PRIVATE key');
    expect(await page.inputValue('#jwks')).not.toContain(privateJwk.d ?? '');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('jwks');
    expect(await page.inputValue('#name')).toBe('Laboratory');
    expect(await page.isChecked('input[value="system/Patient.read"]')).toBe(true);
    await page.fill('#jwks', JSON.stringify({ keys: [publicJwk] }));
    await page.click('button:has-text("Create API key")');
    await page.waitForSelector('text=The API key is created');
    await lookAt(page);

    const clientId = (await page.textContent('.facts code')) ?? '';
    expect(clientId).toMatch(/^svc-/);
    expect(await page.textContent('[aria-label="Public keys found"]')).toContain('lab-1');
    const key = { clientId, privateJwk };
    await expect(getToken(stack.gateway.oauthBaseUrl, key)).resolves.toMatch(/^ey/);

    const keyUrl = page.url();
    await page.click('a:has-text("Disable")');
    await lookAt(page);
    await page.fill('#name', 'Lab');
    await page.click('button:has-text("Disable")');
    expect(await page.textContent('#name-error')).toContain('not the name');
    await page.fill('#name', 'Laboratory');
    await page.click('button:has-text("Disable")');
    await page.waitForSelector('text=The API key is disabled');
    expect((await requestToken(stack.gateway.oauthBaseUrl, key)).status).toBe(401);
    await until('the refusal is shown', async () => {
      await page.goto(keyUrl);
      return (await page.textContent('#main'))?.includes('the API key is disabled');
    });
    expect(await page.textContent('.refusals')).toContain('Enable the API key');
    await page.click('text=All refusals of this key');
    expect(await page.textContent('.refusals')).toContain('Laboratory');
    await lookAt(page);

    await page.goto(keyUrl);
    await page.click('a:has-text("Enable")');
    await page.click('button:has-text("Enable")');
    await page.waitForSelector('text=The API key is enabled');
    await expect(getToken(stack.gateway.oauthBaseUrl, key)).resolves.toMatch(/^ey/);
    await page.click('summary:has-text("Version 3")');
    expect(await page.textContent('[aria-label="What version 3 changed"]')).toContain('disabled');
    // The answers 422 to the three forms above are the only failures.
    expect(problems.filter((line) => !line.includes('422'))).toEqual([]);
    await context.close();
  });

  test('of two who edit one version the second is told, and nothing is overwritten', async () => {
    const { clientId } = await createApiKey(db.client, { site, name: 'Shared' });
    const { context, page } = await signIn(stack.oidc.admin);
    const second = await context.newPage();
    for (const each of [page, second]) await each.goto(`${stack.baseUrl}/admin/keys/${clientId}/edit`);
    await page.fill('#name', 'First');
    await page.click('button:has-text("Save")');
    await page.waitForSelector('text=The change is saved');
    await second.fill('#name', 'Second');
    for (const _ of ['once', 'again']) {
      const [answer] = await Promise.all([
        second.waitForResponse((response) => response.request().method() === 'POST'),
        second.click('button:has-text("Save")'),
      ]);
      expect(answer.status()).toBe(409);
      await second.waitForSelector('text=changed meanwhile');
    }
    await lookAt(second);
    await second.click('text=Edit it as it is now');
    await second.waitForSelector('#name');
    expect(await second.inputValue('#name')).toBe('First');
    const { rows } = await db.client.query('select name from api_key where client_id = $1', [clientId]);
    expect(rows).toEqual([{ name: 'First' }]);
    await context.close();
  });

  test('the settings of the site and of a key are set, refused by field, and cleared again', async () => {
    const { clientId } = await createApiKey(db.client, { site, name: 'Ward', protocols: ['hl7'] });
    const { context, page } = await signIn(stack.oidc.admin);
    const save = () => page.click('button:has-text("Save")');
    await page.click('nav >> text=Settings');
    expect(await page.textContent('.facts')).toContain('Europe/Berlin');
    await page.click('text=Edit');
    await page.fill('#timeZone', 'Mars');
    await page.fill('#assigningAuthorities', 'EAST = urn:oid:1.2.3\neast = urn:oid:1.2.4');
    await save();
    expect(await page.textContent('#timeZone-error')).toContain('not an IANA name');
    expect(await page.textContent('#assigningAuthorities-error')).toContain('"east" is given twice');
    await lookAt(page);
    await page.fill('#timeZone', 'Europe/Vienna');
    await page.selectOption('#defaultCharset', 'iso-8859-1');
    await page.check('input[value="T"]');
    await page.fill('#assigningAuthorities', 'EAST = urn:oid:1.2.3\nLAB = https://lab.example/codes');
    await save();
    await page.waitForSelector('text=The settings are saved');
    const facts = (await page.textContent('.facts')) ?? '';
    for (const text of ['Europe/Vienna', 'iso-8859-1', 'P, T', 'EAST = urn:oid:1.2.3']) expect(facts).toContain(text);
    await page.click('summary:has-text("Version 2")');
    expect(await page.textContent('[aria-label="What version 2 changed"]')).toContain(
      'LAB = https://lab.example/codes',
    );
    await lookAt(page);

    const keyPage = `${stack.baseUrl}/admin/keys/${clientId}`;
    await page.goto(`${keyPage}/edit`);
    await page.fill('#hl7TimeZone', 'Asia/Kolkata');
    await page.selectOption('#hl7DefaultCharset', 'windows-1252');
    await page.check('input[name="hl7ProcessingIds"][value="D"]');
    await save();
    await page.waitForSelector('text=The change is saved');
    expect(await page.textContent('.facts')).toMatch(/Asia\/Kolkata[^]*windows-1252[^]*HL7 processing idsD/);
    await page.goto(`${keyPage}/edit`);
    await page.fill('#hl7TimeZone', '');
    await page.selectOption('#hl7DefaultCharset', '');
    await page.uncheck('input[name="hl7ProcessingIds"][value="D"]');
    await save();
    await page.waitForSelector('text=The change is saved');
    const { rows } = await db.client.query(
      'select hl7_time_zone, hl7_default_charset, hl7_processing_ids from api_key where client_id = $1',
      [clientId],
    );
    expect(rows).toEqual([{ hl7_time_zone: null, hl7_default_charset: null, hl7_processing_ids: null }]);
    await context.close();
  });

  test('the workbench explains an assertion, a message and a resource, and stores nothing', async () => {
    const { context, page } = await signIn(stack.oidc.admin);
    const endpoint = `${stack.gateway.oauthBaseUrl}/oauth2/token`;
    const paste = async (bench: string, text: string): Promise<string> => {
      await page.goto(`${stack.baseUrl}/admin/workbench/${bench}`);
      await page.fill('#pasted', text);
      await page.click('form.record button');
      await page.waitForSelector('#result, .notice');
      await lookAt(page);
      return (await page.textContent('#main')) ?? '';
    };
    const good = await clientAssertion(hl7Key, endpoint);
    expect(await paste('assertion', good)).toContain('would accept');
    expect(
      (await requestToken(stack.gateway.oauthBaseUrl, hl7Key, { client_assertion: good, audience: 'svc-hl7-http' }))
        .status,
    ).toBe(200);
    const bad = await clientAssertion(hl7Key, 'https://elsewhere.example/token', { header: { kid: 'other' } });
    const explained = await paste('assertion', bad);
    expect(explained).toContain('would refuse');
    expect(explained).toContain('kid "other" is not in the JWKS');
    expect(explained).toContain('aud was "https://elsewhere.example/token"');

    const tried = await paste('message', message('BENCH-1', 'B-1').replaceAll('\r', '\n'));
    expect(tried).toContain('AA accepted');
    expect(tried).toContain('"resourceType": "Patient"');
    expect(tried).toContain('Patient Identifier List');
    expect(tried).toMatch(/MSA\|AA\|BENCH-1/);
    const { rows } = await db.client.query(
      `select (select count(*)::int from hl7_message where control_id = 'BENCH-1') as messages,
              (select count(*)::int from resource) as resources`,
    );
    expect(rows).toEqual([{ messages: 0, resources: 0 }]);

    expect(await paste('resource', '{"resourceType":"Patient","gender":"x","foo":1}')).toContain('Patient.gender');
    expect(await paste('resource', '{"resourceType":"Patient","gender":"female"}')).toContain('valid FHIR R4');
    expect(await paste('resource', '{"resourceType":')).toContain('not valid JSON');
    await context.close();
  });

  test('a message is found, read segment by segment and replayed', async () => {
    expect((await sendMessage(message('E2E-1', 'M-1'))).status).toBe(200);
    const { context, page } = await signIn(stack.oidc.admin);
    await page.goto(`${stack.baseUrl}/admin/messages?q=E2E-1`);
    await lookAt(page);
    await page.click('tbody a');
    const shown = (await page.textContent('#main')) ?? '';
    expect(shown).toContain('Lovelace^Ada');
    expect(shown).toContain('Patient Name');
    expect(shown).toMatch(/Patient\/[0-9a-f-]{36}/);
    expect(shown).toMatch(/MSA\|AA\|E2E-1/);
    await lookAt(page);
    await page.click('a:has-text("Replay …")');
    await page.waitForSelector('h2:has-text("What would change")');
    await lookAt(page);
    await page.click('button:has-text("Apply")');
    await page.waitForSelector('text=The message was replayed');
    await page.goto(`${stack.baseUrl}/admin/replays?count=1&outcome=AA`);
    await lookAt(page);
    await page.click('text=Replay them');
    await page.waitForSelector('text=under way');
    await lookAt(page);
    await page.click('text=Stop');
    await page.waitForSelector('text=Go on');
    await context.close();
  });

  /** Two charts with these numbers, listed as possible duplicates. */
  const attend = async (one: string, other: string): Promise<void> => {
    for (const mrn of [one, other]) expect((await sendMessage(message(`ATT-${mrn}`, mrn))).status).toBe(200);
    await db.client.query(
      `select attention_add($1, (select message_id from hl7_message where control_id = $2), json_build_array(json_build_object(
         'kind', 'possible-duplicate', 'detail', json_build_object('reason', 'number-taken', 'at', 'PID^1^3'),
         'patients', (select json_agg(distinct id) from resource_identifier where site_id = $1 and value in ($3, $4)))))`,
      [site, `ATT-${one}`, one, other],
    );
  };

  test('possible duplicates are looked at and dismissed', async () => {
    await attend('DUP-1', 'DUP-2');
    const looking = await signIn(stack.oidc.reader);
    await looking.page.goto(`${stack.baseUrl}/admin/attention`);
    expect(await looking.page.textContent('#main')).toContain('DUP-1');
    expect(await looking.page.locator('button:has-text("Dismiss")').count()).toBe(0);
    await looking.context.close();

    const { context, page } = await signIn(stack.oidc.admin);
    await page.click('nav >> text=Attention');
    const shown = (await page.textContent('#main')) ?? '';
    expect(shown).toContain('Lovelace, Ada');
    expect(shown).toContain('DUP-2');
    expect(shown).toMatch(/agrees[^]*differs/);
    await lookAt(page);
    await page.click('button:has-text("Dismiss")');
    await page.waitForSelector('text=It is dismissed');
    expect(await page.textContent('#main')).not.toContain('DUP-1');
    await page.selectOption('select[name="state"]', 'dismissed');
    await page.click('button:has-text("Show")');
    expect(await page.textContent('#main')).toMatch(/Dismissed[^]*by Alex Admin/);
    await context.close();
  });

  test('a name in messages is given its URI, and leads to its messages', async () => {
    const sent = message('NAME-1', 'N-1').replace('^^^EAST', '^^^Clinic');
    expect((await sendMessage(sent)).status).toBe(200);
    const { context, page } = await signIn(stack.oidc.admin);
    await page.click('nav >> text=Names');
    const row = page.locator('tr:has-text("CLINIC")');
    expect(await row.textContent()).toContain('assigning authority');
    await row.locator('input[name="system"]').fill('clinic');
    await row.locator('button').click();
    await page.waitForSelector('.notice.bad');
    expect(await page.textContent('.notice.bad')).toContain('"CLINIC" needs an absolute URI');
    expect(await row.locator('input[name="system"]').inputValue()).toBe('clinic');
    await lookAt(page);
    await row.locator('input[name="system"]').fill('urn:oid:1.2.3.4');
    await row.locator('button').click();
    await page.waitForSelector('text=CLINIC has its URI');
    expect(await row.textContent()).toContain('urn:oid:1.2.3.4');
    await row.locator('text=Process its messages again').click();
    await page.waitForSelector('text=One message is meant.');
    await lookAt(page);
    await page.fill('input[name="comment"]', 'CLINIC has its OID');
    await page.click('text=Replay them');
    await page.waitForSelector('q:has-text("CLINIC has its OID")');
    await lookAt(page);
    await page.click('nav >> text=Names');
    await page.click('text=what their namespaces stand for');
    await page.waitForSelector('h1:has-text("What namespaces stand for")');
    await lookAt(page);
    const { rows } = await db.client.query('select assigning_authorities as named from site where site_id = $1', [
      site,
    ]);
    expect(rows[0]).toMatchObject({ named: { CLINIC: 'urn:oid:1.2.3.4' } });
    await context.close();
  });

  test('one who may only look sees no button to change anything, and is refused without one', async () => {
    const { context, page } = await signIn(stack.oidc.reader);
    expect(await page.textContent('#main')).not.toContain('New API key');
    await page.goto(`${stack.baseUrl}/admin/keys/${hl7Key.clientId}`);
    expect(await page.locator('text=Disable').count()).toBe(0);
    expect(await page.locator('a:has-text("Edit")').count()).toBe(0);
    const status = await page.evaluate(async (path) => {
      const answer = await fetch(path, {
        method: 'POST',
        body: new URLSearchParams({ status: 'disabled', version: '1' }),
      });
      return answer.status;
    }, `/admin/keys/${hl7Key.clientId}/status`);
    expect(status).toBe(403);
    expect((await page.goto(`${stack.baseUrl}/admin/keys/new`))?.status()).toBe(403);
    await lookAt(page);
    await context.close();
  });

  test('the console is used with the keyboard alone, and without its script', async () => {
    const { context, page } = await signIn(stack.oidc.admin);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('New API key');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#name');
    await context.close();
    const plain = await signIn(stack.oidc.admin, { javaScriptEnabled: false });
    await plain.page.goto(`${stack.baseUrl}/admin`);
    expect(await plain.page.textContent('#main')).toContain('active API keys');
    await plain.context.close();
  });

  test('signing out ends the session here and at the provider', async () => {
    const { context, page } = await signIn(stack.oidc.admin);
    await page.click('text=Sign out');
    await page.waitForSelector('h1:has-text("Sign out")');
    await page.click('button');
    await page.waitForURL(`${stack.baseUrl}/admin/signed-out*`);
    await lookAt(page);
    await page.goto(`${stack.baseUrl}/admin/keys`);
    await page.waitForSelector('#password');
    await context.close();
  });

  test('the API reference is read and tried with a token', async () => {
    const context = await browser.newContext({ colorScheme: 'dark' });
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    const { clientId, privateJwk } = await createApiKey(db.client, { site, protocols: ['fhir'] });
    const token = await getToken(stack.gateway.oauthBaseUrl, { clientId, privateJwk });
    await page.goto(`${stack.baseUrl}/docs`);
    await page.click('button.authorize');
    await page.fill('.auth-container:has-text("accessToken") input', token);
    await page.click('.auth-container:has-text("accessToken") button:has-text("Authorize")');
    await page.click('.modal-ux button.btn-done');
    await page.click('#operations-tag-FHIR_Patient');
    await page.click('#operations-FHIR_Patient-searchPatient .opblock-summary-control');
    await page.click('#operations-FHIR_Patient-searchPatient button.execute');
    await page.waitForSelector('.live-responses-table');
    expect(await page.textContent('.live-responses-table')).toContain('"searchset"');
    expect(problems).toEqual([]);
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/reference-dark-1280.png` });
    await context.close();
  });

  test('every page is light, in our own hands and readable in both colour schemes and widths', async () => {
    await attend('PAIR-1', 'PAIR-2');
    await sendMessage(message('E2E-2', 'M-2'));
    await sendMessage(message('E2E-3', 'M-3').replace('P|2.5.1', 'X|2.5.1'));
    const { clientId } = await createApiKey(db.client, { site, name: 'Radiology', status: 'disabled' });
    await db.client.query(
      `insert into usage (site_id, bucket, surface, outcome, requests, latency)
       select $1, date_bin('15 minutes', now(), 'epoch') - n * interval '15 minutes', s, o, 40 + (n * 37) % 60,
              '{0,0,10,20,8,2,0,0,0,0,0,0}'
         from generate_series(1, 95) n, unnest('{token,fhir,hl7,mllp}'::text[]) s, unnest('{ok,refused}'::text[]) o
        where o = 'ok' or n % 9 = 0
       on conflict do nothing -- a quarter of an hour may have begun since this file's own requests were counted`,
      [site],
    );
    await db.client.query(
      `select refusal_add($1, gen_random_uuid(), 'token', 'request-1', '192.0.2.1', 'kid',
         'kid "b" is not in the JWKS, which has "a"'),
              refusal_add($1, gen_random_uuid(), 'mllp', 'request-2', '198.51.100.7', 'no-key',
         'the source address 198.51.100.7 is not among the Allowed IPs')`,
      [clientId],
    );
    const { rows } = await db.client.query<{ message_id: string }>('select message_id from hl7_message limit 1');
    const paths = {
      overview: '/admin',
      keys: '/admin/keys',
      'key-new': '/admin/keys/new',
      key: `/admin/keys/${hl7Key.clientId}`,
      'key-edit': `/admin/keys/${hl7Key.clientId}/edit`,
      settings: '/admin/settings',
      'settings-edit': '/admin/settings/edit',
      refusals: '/admin/refusals',
      messages: '/admin/messages',
      message: `/admin/messages/${rows[0]?.message_id}`,
      attention: '/admin/attention',
      names: '/admin/names',
      workbench: '/admin/workbench/message',
    };
    for (const { colorScheme, width } of VIEWS) {
      const { context, page } = await signIn(stack.oidc.admin, { colorScheme, viewport: { width, height: 900 } });
      for (const [name, path] of Object.entries(paths)) {
        let bytes = 0;
        const hosts = new Set<string>();
        const count = async (response: import('playwright-core').Response): Promise<void> => {
          hosts.add(new URL(response.url()).host);
          bytes += (await response.body().catch(() => Buffer.alloc(0))).length;
        };
        const counted: Promise<void>[] = [];
        page.on('response', (response) => counted.push(count(response)));
        await page.goto(`${stack.baseUrl}${path}`, { waitUntil: 'load' });
        await Promise.all(counted);
        page.removeAllListeners('response');
        expect([...hosts]).toEqual([new URL(stack.baseUrl).host]);
        expect(bytes, `${name} transfers`).toBeLessThan(MAX_PAGE_BYTES);
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
          `${name} at ${width}`,
        ).toBe(true);
        if (width === WIDE) await lookAt(page);
        if (PICTURES === undefined) continue;
        await mkdir(PICTURES, { recursive: true });
        await page.screenshot({ path: `${PICTURES}/${name}-${colorScheme}-${width}.png`, fullPage: true });
      }
      await context.close();
    }
  }, 120_000);
});
