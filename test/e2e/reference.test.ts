/**
 * The API reference in a real Chromium, with the reference, the token service and FHIR at separate hosts. The page
 * makes a token from a private key and sends requests with it. Nothing that the page sends contains the key.
 */
import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

import { exportJWK, exportPKCS8, generateKeyPair } from 'jose';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { CHAPTERS } from '../../edge/docs/contents.ts';
import { makeLink } from '../../edge/http/key-link.ts';
import { expectAccessible, PHONE, PICTURES, WIDE } from '../stack/tools/console-browser.ts';
import { isBrowserMissing, NO_BROWSER, startBrowser } from '../stack/tools/browser.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { freePort } from '../stack/services/free-port.ts';
import { type Gateway, startGateway } from '../stack/tools/gateway.ts';
import { ASSERTION_TYPE, clientAssertion } from '../stack/services/client.ts';
import { until } from '../stack/services/until.ts';
import { everyNth, isFull } from '../stack/tools/size.ts';
import { ALL_SCOPES, createApiKey, createSite } from '../stack/services/seed.ts';

/** Swagger UI has a second `main`, and headings that leave out a level. */
const OF_SWAGGER_UI = ['landmark-main-is-top-level', 'landmark-no-duplicate-main', 'landmark-unique', 'heading-order'];

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly text: string;
}

describe('the API reference in a browser', () => {
  let db: TestDatabase;
  let gateway: Gateway;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let site: string;
  let at: (host: string) => string;
  let sent: Sent[];
  let problems: string[];

  const isSkipped = isBrowserMissing();
  beforeEach(({ skip }) => skip(isSkipped, NO_BROWSER));
  beforeAll(async () => {
    if (isSkipped) return;
    db = await createTestDatabase();
    site = await createSite(db.client);
    const port = await freePort();
    // Chromium knows every name below localhost as this machine, and as secure enough for WebCrypto.
    at = (host) => `http://${host}.localhost:${port}`;
    gateway = await startGateway({
      runtime: 'deno',
      database: db,
      port,
      env: {
        INTEGRATION_OAUTH_PUBLIC_BASE_URL: at('auth'),
        INTEGRATION_FHIR_PUBLIC_BASE_URL: at('fhir'),
        INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: at('hl7'),
        ADMIN_PUBLIC_BASE_URL: at('console'),
        INTEGRATION_DOCS_URL: `${at('docs')}/docs`,
      },
      rateLimits: { tokenPerClient: 60 },
    });
    if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    await db?.drop();
  });

  const note = async (request: Request): Promise<void> => {
    const headers = await request.allHeaders().catch(() => request.headers());
    const text = `${request.url()} ${JSON.stringify(headers)} ${request.postData() ?? ''}`;
    sent.push({ url: request.url(), method: request.method(), text });
  };

  const openPage = async (): Promise<void> => {
    sent = [];
    problems = [];
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.on('request', (request) => void note(request));
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
  };

  /** A key of the site, and the texts in which its private half must never leave the browser. */
  const makeKey = async (alg: string) => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), kid: 'docs-1', alg };
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'docs-1', alg }] };
    const { clientId } = await createApiKey(db.client, { site, jwks, scopes: ALL_SCOPES, protocols: ['fhir', 'hl7'] });
    const pem = await exportPKCS8(privateKey);
    const [, first = '', second = ''] = pem.split('\n');
    return { clientId, jwk, pem, secrets: [jwk.d ?? '', second === '' ? first : second] };
  };

  /** The page of the API reference, which takes Swagger UI some seconds. */
  const openReference = async (): Promise<void> => {
    await page.goto(`${at('docs')}/docs`);
    await page.waitForSelector('.swagger-ui .opblock-tag');
  };

  const getToken = async (clientId: string, key: string): Promise<string> => {
    await page.fill('#token-client', clientId);
    await page.fill('#token-key', key);
    await page.click('text=Sign and get a token');
    await page.waitForSelector('#token-said:not(.busy)');
    return (await page.textContent('#token-said')) ?? '';
  };

  /** Opens an operation, presses Execute, and waits for what was answered. */
  const execute = async (operation: string): Promise<string> => {
    const block = page.locator(`[id$="${operation}"]`);
    await block.locator('.opblock-summary-control').click();
    await block.locator('button:has-text("Execute")').click();
    const status = block.locator('.live-responses-table .response-col_status').last();
    await status.waitFor();
    return ((await status.textContent()) ?? '').trim();
  };

  const authorized = (): Promise<string[]> =>
    page.evaluate(() => {
      const { ui } = globalThis as unknown as { ui: { authSelectors: { authorized(): { toJS(): object } } } };
      return Object.keys(ui.authSelectors.authorized().toJS());
    });

  const chapters: readonly string[] = CHAPTERS.map(({ page: chapter }) => chapter);
  /** Chapters share their styles, and so do the two pages of Swagger UI: at the normal size, these stand for the others. */
  const standsForOthers = (name: string): boolean =>
    name !== 'api' && (!chapters.includes(name) || everyNth(4, chapters).includes(name));

  const expectReadable = async (name: string): Promise<void> => {
    for (const [width, colorScheme] of [
      [WIDE, 'light'],
      [PHONE, 'dark'],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 900 });
      if (PICTURES !== undefined) {
        await page.screenshot({ path: `${PICTURES}/reference-${name}-${colorScheme}-${width}.png`, fullPage: true });
      }
      const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(scrollWidth, `${name} at ${width}`).toBeLessThanOrEqual(width);
      const left = name === 'api' || name === 'admin' ? OF_SWAGGER_UI : [];
      const rules = width === PHONE ? 'all' : 'contrast';
      await expectAccessible(page, left, isFull ? 'all' : standsForOthers(name) ? rules : 'none');
    }
  };

  const expectPageWell = async (name: string): Promise<void> => {
    expect(await page.isVisible(`a:has-text("Console")[href="${at('console')}/admin"]`)).toBe(true);
    await expectReadable(name);
    // axe-core tries to add a style, which the policy of the pages refuses.
    expect(problems.filter((line) => !line.startsWith('Applying inline style'))).toEqual([]);
  };

  describe('loaded once', () => {
    // Swagger UI loads in seconds. The last test leaves the page.
    beforeAll(async () => {
      if (isSkipped) return;
      await openPage();
      await openReference();
    });
    afterAll(() => context?.close());

    test('explains why a key cannot sign, and sends nothing', async () => {
      const { clientId, jwk } = await makeKey('ES256');
      const { d: _, ...publicJwk } = jwk;
      const sec1 = '-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----';
      const locked = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----';
      const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
      for (const [key, expected] of [
        [JSON.stringify(publicJwk), 'no private key'],
        [sec1, 'openssl pkcs8'],
        [locked, 'passphrase'],
        [certificate, 'certificate'],
        ['secret', 'neither a PEM nor a JWK'],
        ['', 'Paste the private key'],
      ] as const) {
        expect(await getToken(clientId, key), expected).toContain(expected);
      }
      expect(sent.filter(({ method }) => method === 'POST')).toEqual([]);
    });

    test('a token is made from a PEM and from a JWK of each kind of key, and patients are searched across three hosts', async () => {
      const secrets: string[] = [];
      await page.click('text=kid and algorithm');
      for (const alg of ['PS256', 'ES256', 'ES384', 'EdDSA', 'RS384']) {
        const key = await makeKey(alg);
        secrets.push(...key.secrets);
        // A PEM does not say how it signs: where RSA can in several ways the reader says it.
        await page.selectOption('#token-alg', alg === 'PS256' ? alg : '');
        expect(await getToken(key.clientId, key.pem), alg).toContain('A token for svc-fhir');
        expect(await page.inputValue('#token-key')).toBe('');
        await page.selectOption('#token-alg', '');
        const jwk = alg === 'ES256' ? { keys: [key.jwk] } : key.jwk;
        expect(await getToken(key.clientId, JSON.stringify(jwk)), alg).toContain('A token for svc-fhir');
      }
      expect(await execute('searchPatient')).toBe('200');
      // The key is still there for the next token, which needs no other.
      await page.selectOption('#token-audience', 'svc-hl7-http');
      await page.click('text=Sign and get a token');
      await page.waitForSelector('text=A token for svc-hl7-http');

      await page.waitForLoadState('networkidle');
      for (const secret of secrets) {
        expect(secret.length).toBeGreaterThan(20);
        expect(sent.filter(({ text }) => text.includes(secret))).toEqual([]);
      }
      const origins = new Set(sent.map(({ url }) => new URL(url).origin));
      expect([...origins].sort()).toEqual([at('auth'), at('docs'), at('fhir')]);
      expect(sent.filter(({ method }) => method === 'POST').map(({ url }) => url)).toEqual(
        Array.from({ length: 11 }, () => `${at('auth')}/oauth2/token`),
      );
      expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);
      expect(problems).toEqual([]);
    });

    test('the page api has no fault in both colour schemes, and is not wider than the window', async () => {
      for (const operation of ['createPatient', 'readPatient']) {
        await page.click(`[id$="-${operation}"] .opblock-summary-control`);
        await page.waitForSelector(`[id$="-${operation}"] .responses-inner pre`);
      }
      expect(await page.textContent('#reference')).not.toContain('"string"');
      await expectPageWell('api');
    });

    test('the filter finds an operation by its method and its terms, and opens its section', async () => {
      await page.fill('.operation-filter-input', 'observation search');
      await page.waitForSelector('[id$="searchObservation"]');
      await page.waitForSelector('[id$="searchPatient"]', { state: 'detached' });
    });

    test('shows a refusal with its request id; forgets key and token when the reader leaves the page', async () => {
      const { clientId, jwk } = await makeKey('ES256');
      const other = await makeKey('ES256');
      const said = await getToken(clientId, JSON.stringify(other.jwk));
      expect(said).toMatch(/401 invalid_client: client authentication failed\. Request [0-9a-f-]{36}/);
      expect(await getToken(clientId, JSON.stringify(jwk))).toContain('A token for');
      expect(await authorized()).toEqual(['accessToken']);
      await page.click('text=Forget key and token');
      expect(await authorized()).toEqual([]);
      await getToken(clientId, JSON.stringify(jwk));
      await page.goto(`${at('docs')}/docs/errors`);
      await page.goBack();
      await page.waitForSelector('.swagger-ui .opblock-tag');
      expect(await page.inputValue('#token-client')).toBe('');
      expect(await authorized()).toEqual([]);
      await page.click('text=Sign and get a token');
      expect(await page.isVisible('#token-said.good')).toBe(false);
    });
  });

  describe('loaded by each test', () => {
    beforeEach(async () => {
      if (isSkipped) return;
      await openPage();
      return () => context.close();
    });

    test('the search of the documentation finds a section and leads to it', async () => {
      await page.goto(`${at('docs')}/docs/quickstart`);
      await page.fill('#docs-search', 'acknowledgement');
      await page.click('#docs-found a[href$="senders#read-the-acknowledgement"]');
      await page.waitForURL(`${at('docs')}/docs/senders#read-the-acknowledgement`);
      expect(await page.isVisible('#read-the-acknowledgement')).toBe(true);
    });

    describe('the page for integrators', () => {
      const MESSAGE = [
        'MSH|^~\\&|A|B|C|D|20260101||ADT^A04^ADT_A01|1|P|2.5.1',
        'PID|1||4711^^^H^MR||Lovelace<b id="injected">^Ada||19800230',
        'ZZZ|1',
      ].join('\n');

      const createLink = async () => {
        const key = await createApiKey(db.client, { site, scopes: ALL_SCOPES, protocols: ['fhir', 'hl7'] });
        const { link, secret } = await makeLink(site, key.clientId);
        await db.client.query(
          `insert into key_link (site_id, link_id, client_id, secret_sha256, created_by, expires_at)
             values ($1, $2, $3, $4, 'staff', now() + interval '1 day')`,
          [site, link.linkId, key.clientId, link.sha256],
        );
        return { key, secret };
      };
      /** Presses the button, and returns the text of the page once the answer is there. */
      const press = async (button: 'Check the message' | 'Show my refusals and check list'): Promise<string> => {
        await page.click(`button:has-text("${button}")`);
        await page.waitForSelector('#try-result:not(:empty), #try-said.bad');
        return page.innerText('#main');
      };

      test('a link checks a message and shows refusals and the check list; the address has no secret', async () => {
        const { key, secret } = await createLink();
        const other = await createApiKey(db.client, { site });
        await page.goto(`${at('docs')}/docs/try#${secret}`);
        await page.waitForSelector('#try-said:has-text("in the form")');
        expect(page.url()).toBe(`${at('docs')}/docs/try`);
        expect(await page.inputValue('#try-secret')).toBe(secret);

        await page.fill('#try-message', MESSAGE);
        const checked = await press('Check the message');
        for (const shown of ['AA The gateway would accept', 'PID-7', 'MSA|AA|1', 'Copy for a ticket']) {
          expect(checked).toContain(shown);
        }
        expect(await page.innerText('.segments tr:has-text("PID-7") td.faulty.warn')).toContain('19800230');
        // The name is text, never markup.
        expect(await page.innerText('.segments tr:has-text("PID-5")')).toContain('<b id="injected">');
        expect(await page.locator('#injected').count()).toBe(0);
        expect(await page.textContent('[aria-label="resource 1, Patient"]')).toContain('"resourceType": "Patient"');
        const copy = (await page.textContent('[aria-label="the scrubbed message"]')) ?? '';
        expect(copy).toMatch(/^MSH\|/);
        expect(copy).not.toMatch(/Lovelace|4711/);
        await context.grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.click('[aria-label="Copy the scrubbed message"]');
        await page.waitForSelector('[aria-label="Copy the scrubbed message"]:has-text("Copied")');
        expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(copy);
        await page.waitForSelector(
          '[aria-label="Copy the scrubbed message"]:has-text("Copy"):not(:has-text("Copied"))',
        );
        await expectReadable('try-check');

        // The bytes of a file stay: as UTF-8 this name would be another one.
        const latin1 = Buffer.from(
          MESSAGE.replaceAll('\n', '\r').replace('2.5.1', '2.5.1||||||8859/1').replace('Ada', '\xc5sa'),
          'latin1',
        );
        await page.setInputFiles('#try-file', { name: 'a.hl7', mimeType: 'text/plain', buffer: latin1 });
        expect(await page.inputValue('#try-message')).toBe('');
        expect(await press('Check the message')).toContain('\xc5sa');

        // A failed signature, which only a link shows.
        const body = {
          grant_type: 'client_credentials',
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: await clientAssertion(
            { ...key, privateJwk: other.privateJwk },
            `${at('auth')}/oauth2/token`,
            { header: { kid: key.privateJwk.kid } },
          ),
        };
        const status = await page.evaluate(
          ([url, form]) =>
            fetch(url, { method: 'POST', body: new URLSearchParams(form) }).then((answer) => answer.status),
          [`${at('auth')}/oauth2/token`, body] as const,
        );
        expect(status).toBe(401);
        const listed = await until('the failed signature', async () => {
          const text = await press('Show my refusals and check list');
          if (text.includes('Sign with the private key')) return text;
          // The gateway accepts 60 requests a minute.
          await delay(250);
          return false;
        });
        for (const shown of ['401', 'Go-live check list', '0 of 7 seen', 'The client got an access token', 'not yet']) {
          expect(listed).toContain(shown);
        }
        await expectReadable('try-refusals');

        await page.waitForLoadState('networkidle');
        expect(sent.filter(({ url }) => url.includes('link_'))).toEqual([]);
        expect([...new Set(sent.map(({ url }) => new URL(url).origin))].sort()).toEqual([
          at('auth'),
          at('docs'),
          at('hl7'),
        ]);
        expect(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie])).toEqual([
          0,
          0,
          '',
        ]);
        await page.goto(`${at('docs')}/docs/errors`);
        await page.goBack();
        await page.waitForSelector('#try-form');
        expect(await page.inputValue('#try-secret')).toBe('');
        expect(await page.textContent('#try-result')).toBe('');
        expect(problems.filter((line) => !/^Applying inline style|status of 401/.test(line))).toEqual([]);
      });

      test('each error says in plain words what to do', async () => {
        const { secret } = await createLink();
        await page.goto(`${at('docs')}/docs/try`);
        const check = () => press('Check the message');
        expect(await check()).toContain('Enter the secret');
        // A copied address, a header line, and a secret that a mail program has broken.
        for (const given of [
          `${at('docs')}/docs/try#${secret}`,
          `Bearer ${secret}`,
          ` ${secret.slice(0, 60)} ${secret.slice(60)}`,
        ]) {
          await page.fill('#try-secret', given);
          await page.fill('#try-message', MESSAGE);
          expect(await check(), given).toContain('Verdict');
        }
        await page.fill('#try-message', '');
        expect(await check()).toContain('Paste a message');
        await page.setInputFiles('#try-file', {
          name: 'a',
          mimeType: 'text/plain',
          buffer: Buffer.alloc(1024 * 1024 + 1),
        });
        expect(await check()).toContain('The message is too large: it has 1,048,577 bytes');
        await page.fill('#try-message', 'FHS|^~\\&|A');
        expect(await check()).toContain('A batch cannot be checked.');
        await page.fill('#try-message', MESSAGE);
        for (const [wrong, says] of [
          ['link_AAAA', 'the link is not complete: copy it again. Ask the administrator for a new link'],
          [`${secret.slice(0, -2)}${secret.endsWith('AA') ? 'BB' : 'AA'}`, 'the link has expired, was revoked'],
          ['eyJ.e30.x', 'rejects this token: '],
          ['…', 'has a character that no secret has'],
        ] as const) {
          await page.fill('#try-secret', wrong);
          expect(await check()).toContain(says);
          expect(await press('Show my refusals and check list')).toContain(says.split('.')[0]);
        }

        await page.fill('#try-secret', secret);
        await context.setOffline(true);
        expect(await check()).toContain(`This page cannot reach ${new URL(at('hl7')).host}. Check your connection`);
        await context.setOffline(false);
        await page.evaluate(
          async ([url, authorization]) => {
            const ask = () => fetch(url, { headers: { authorization } });
            await Promise.all(Array.from({ length: 65 }, ask));
          },
          [`${at('auth')}/oauth2/refusals`, `Bearer ${secret}`] as const,
        );
        expect(await press('Show my refusals and check list')).toMatch(/Too many requests: .*\. Wait \d+ seconds/);
        expect(await page.innerText('#try-result')).toBe('');
      });
    });
  });

  describe('the pages, each after the other', () => {
    // A browser starts a process for each new page.
    beforeAll(async () => {
      if (!isSkipped) await openPage();
    });
    afterAll(() => context?.close());

    test.each([
      ['mllp', 'docs', '/docs/mllp'],
      ['try', 'docs', '/docs/try'],
      ['errors', 'docs', '/docs/errors'],
      ['changes', 'docs', '/docs/changes'],
      ...CHAPTERS.map(({ page: chapter }) => [chapter, 'docs', `/docs/${chapter}`] as const),
      ['admin', 'console', '/docs/admin'],
    ] as const)(
      'the page %s has no fault in both colour schemes, and is not wider than the window',
      async (...asked) => {
        const [name, host, path] = asked;
        problems = [];
        await page.emulateMedia({ colorScheme: 'light' });
        await page.setViewportSize({ width: WIDE, height: 900 });
        await page.goto(`${at(host)}${path}`);
        if (name === 'admin') await page.waitForSelector('.swagger-ui .opblock-tag');
        await expectPageWell(name);
      },
    );
  });
});
