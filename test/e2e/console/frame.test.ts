/** The frame of every page: keyboard, no script, signing out; and the API reference. */
import { expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import {
  admission,
  complaintsOf,
  consoleInBrowser,
  expectAccessible,
  PHONE,
  PICTURES,
  WIDE,
} from '../../stack/tools/console-browser.ts';
import { zoneAtNoon } from '../../stack/tools/midday.ts';
import { isFull } from '../../stack/tools/size.ts';
import { testWhere } from '../../stack/tools/test-where.ts';

const open = consoleInBrowser();

test('the console is used with the keyboard alone, and without its script', async () => {
  const { signIn, stack } = open();
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
  await plain.page.goto(`${stack.baseUrl}/admin/traffic`);
  expect(await plain.page.textContent('#main')).toContain('HL7 over MLLP');
  await plain.context.close();
});

test('signing out ends the session here and at the provider', async () => {
  const { signInAnew, stack } = open();
  const { context, page } = await signInAnew(stack.oidc.admin);
  await page.click('text=Sign out');
  await page.waitForSelector('h1:has-text("Sign out")');
  await page.click('button');
  await page.waitForURL(`${stack.baseUrl}/admin/signed-out*`);
  await expectAccessible(page);
  await page.goto(`${stack.baseUrl}/admin/keys`);
  await page.waitForSelector('#password');
  await context.close();
});

// test/e2e/reference.test.ts does the same with a token that the page makes.
testWhere(isFull)('the API reference is read and tried with a token', async () => {
  const { browser, db, site, stack } = open();
  const context = await browser.newContext({ colorScheme: 'dark' });
  const page = await context.newPage();
  const problems = complaintsOf(page);
  const { clientId, privateJwk } = await createApiKey(db.client, { site, protocols: ['fhir'] });
  const token = await getToken(stack.gateway.oauthBaseUrl, { clientId, privateJwk });
  await page.goto(`${stack.baseUrl}/docs`);
  await page.click('button.authorize');
  await page.fill('.auth-container:has-text("accessToken") input', token);
  await page.click('.auth-container:has-text("accessToken") button:has-text("Authorize")');
  await page.click('.modal-ux button.btn-done');
  await page.click('#operations-FHIR_Patient-searchPatient .opblock-summary-control');
  await page.click('#operations-FHIR_Patient-searchPatient button.execute');
  await page.waitForSelector('.live-responses-table');
  expect(await page.textContent('.live-responses-table')).toContain('"searchset"');
  expect(problems).toEqual([]);
  if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/reference-dark-1280.png` });
  await context.close();
});

test('the places are a menu on a phone, which needs no script, and errors keep them', async () => {
  const { signIn, stack } = open();
  const viewport = { width: PHONE, height: 800 };
  const { context, page } = await signIn(stack.oidc.admin, { viewport, javaScriptEnabled: false });
  const bar = await page.locator('header').boundingBox();
  expect(bar?.height).toBeLessThan(124);
  expect(await page.locator('nav >> text=Messages').isVisible()).toBe(false);
  await page.click('button:has-text("Menu")');
  await page.click('nav >> text=Messages');
  await page.waitForURL(`${stack.baseUrl}/admin/messages`);
  expect((await page.goto(`${stack.baseUrl}/admin/messages/nothing-is-here`))?.status()).toBe(404);
  await page.setViewportSize({ width: WIDE, height: 800 });
  await page.click('nav >> text=API keys');
  await page.waitForURL(`${stack.baseUrl}/admin/keys`);
  expect((await page.goto(`${stack.baseUrl}/admin/nowhere`))?.status()).toBe(404);
  expect(await page.locator('nav >> text=API keys').isVisible()).toBe(true);
  await context.close();
});

test('times are shown and read in the time zone of the site, and exact on hover', async () => {
  const { db, sendMessage, signIn, site, stack } = open();
  expect((await sendMessage(admission('TIME-1', 'T-1'))).status).toBe(200);
  await db.client.query(`update hl7_message set received_at = '2026-07-01T22:30:05Z' where site_id = $1`, [site]);
  const { context, page } = await signIn(stack.oidc.admin);
  const found = async (from: string, to: string): Promise<string | null> => {
    await page.goto(`${stack.baseUrl}/admin/messages`);
    await page.click('summary:has-text("More filters")');
    await page.fill('input[name="from"]', from);
    await page.fill('input[name="to"]', to);
    await page.click('button:has-text("Show")');
    return page.textContent('#main');
  };
  expect(await found('2026-07-02T00:30', '2026-07-02T00:31')).toContain('2026-07-02 00:30:05 CEST');
  expect(await page.getAttribute('tbody time', 'title')).toBe('2026-07-01 22:30:05 UTC');
  expect(await page.textContent('form.filter')).toContain('From (Berlin time)');
  expect(await found('2026-07-01T22:30', '2026-07-01T22:31')).not.toContain('TIME-1');
  // A link has the instant itself; the field shows it on the site's clocks.
  await page.goto(`${stack.baseUrl}/admin/messages?from=2026-07-01T22:30:00.000Z`);
  expect(await page.inputValue('input[name="from"]')).toBe('2026-07-02T00:30');

  await page.goto(`${stack.baseUrl}/admin/settings/edit`);
  await page.fill('#timeZone', 'America/New_York');
  await page.click('button:has-text("Save")');
  await page.waitForSelector('text=The settings are saved');
  await page.goto(`${stack.baseUrl}/admin/messages`);
  expect(await page.textContent('tbody time')).toBe('2026-07-01 18:30:05 EDT');
  await context.close();
});

test('a form that was sent after the session had ended is shown again without its private key', async () => {
  const { db, signInAnew, stack } = open();
  const { context, page } = await signInAnew(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin/keys/new`);
  await page.fill('#name', 'Radiology');
  await page.fill('#jwksUri', 'https://radiology.example/jwks.json');
  await page.fill('#jwks', '{"kty":"EC","d":"never-shown-again"}');
  await db.client.query('delete from console_session');
  await page.click('button:has-text("Create API key")');
  await page.waitForSelector('text=your session has ended');
  expect(await page.content()).not.toContain('never-shown-again');
  expect(await page.textContent('#main')).toContain('A private key was removed');
  await expectAccessible(page);
  const [other] = await Promise.all([context.waitForEvent('page'), page.click('a:has-text("Sign in again")')]);
  await other.waitForURL(/\/(?:interaction|admin)/);
  if (await other.locator('#username').isVisible()) {
    await other.fill('#username', stack.oidc.admin.username);
    await other.fill('#password', stack.oidc.admin.password);
    await other.click('button');
  }
  await other.waitForURL(`${stack.baseUrl}/admin`);
  await page.click('text=Send it again');
  await page.waitForSelector('text=The API key is created');
  expect(await page.textContent('#main')).toContain('Radiology');
  await context.close();
});

const QUARTER_MS = 900_000;
/** A day ago: the same quarter of an hour throughout this file, which may begin in one and end in the next. */
const BUCKET = new Date(Math.floor(Date.now() / QUARTER_MS) * QUARTER_MS - 24 * 3_600_000);

/** So many reads of FHIR, a day ago and at noon on the clocks of the site, which is yesterday. */
async function countYesterday(requests: number): Promise<void> {
  const { db, site } = open();
  await db.client.query('update site set time_zone = $2 where site_id = $1', [site, zoneAtNoon()]);
  await db.client.query(
    `insert into usage (site_id, bucket, surface, outcome, requests, latency)
     values ($1, $3, 'fhir', 'ok', $2, '{0,0,0,0,0,0,0,0,0,0,0,0}')
     on conflict (site_id, bucket, surface, outcome) do update set requests = excluded.requests`,
    [site, requests, BUCKET],
  );
}

test('a section is refreshed except while it has the focus, and shows that its session has ended', async () => {
  const { db, signInAnew, stack } = open();
  const { context, page } = await signInAnew(stack.oidc.admin);
  await page.clock.install();
  await page.goto(`${stack.baseUrl}/admin/traffic?span=30d`);
  // As if another tab had chosen another site since.
  await page.evaluate(() => (document.body.dataset['site'] = 'the site of this page'));
  await page.clock.fastForward(61_000);
  await page.waitForSelector('text=another tab has chosen another site');
  await page.click('text=Show this page of it');
  const answered = page.locator('.tile:has-text("Answered") dd');
  expect(await answered.textContent()).not.toContain('4,711');
  await countYesterday(4711);
  await page.clock.fastForward(61_000);
  await page.waitForSelector('text=/4,7\\d\\d/');
  expect(await page.textContent('.refreshed')).toContain('Updated just now');
  expect(await page.locator('.chart canvas').count()).toBe(3);
  await expectAccessible(page);

  await page.focus('#traffic a');
  await countYesterday(8000);
  await page.clock.fastForward(61_000);
  await page.clock.fastForward(5_000);
  expect(await page.textContent('.refreshed')).toContain('Updated 1 min ago');
  await page.click('h1');
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  await page.clock.fastForward(5_000);
  await page.waitForSelector('text=/8,0\\d\\d/');

  await page.click('button:has-text("Pause")');
  await page.clock.fastForward(61_000);
  expect(await page.textContent('.refreshed')).toContain('paused');
  await page.click('button:has-text("Resume")');
  await db.client.query('delete from console_session');
  await page.clock.fastForward(61_000);
  await page.waitForSelector('text=your session has ended');
  await context.close();
});

test('the keyboard shows the values of a traffic graph and opens the list behind them', async () => {
  const { db, signInAnew, stack } = open();
  await db.client.query('delete from usage');
  await countYesterday(8000);
  const { context, page } = await signInAnew(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin/traffic?span=30d`);
  const graph = page.locator('.chart').first();
  await graph.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  expect(await graph.getAttribute('aria-valuetext')).toMatch(
    /^\w{3},? \d+ \w{3}: Tokens [\d,]+, FHIR 8,000, HL7 over HTTP/,
  );
  expect(await page.textContent('.legend')).toContain('FHIR8,000');
  await page.keyboard.press('Enter');
  await page.waitForURL(/as=table#t\d+$/);
  await page.click('tbody a:has-text("FHIR 8,000")');
  await page.waitForURL(/\/admin\/audit\?from=/);
  await context.close();
});
