/** "Who read this patient?", from the identifier on the wristband to a name, in a real Chromium. */
import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { admission, consoleInBrowser, expectAccessible, PHONE, PICTURES } from '../../stack/tools/console-browser.ts';

const open = consoleInBrowser();

test('a search by identifier lists the accesses to the patient, with the name of the API key', async () => {
  const { db, sendMessage, signIn, site, stack } = open();
  expect((await sendMessage(admission('WHO-1', 'W-4711'))).status).toBe(200);
  const reader = await createApiKey(db.client, { site, name: 'Ward viewer', protocols: ['fhir'] });
  const token = await getToken(stack.gateway.oauthBaseUrl, reader, { audience: 'svc-fhir' });
  const headers = { Authorization: `Bearer ${token}` };
  const found = await fetch(`${stack.gateway.fhirBaseUrl}/fhir/Patient?identifier=W-4711`, { headers });
  const { entry } = (await found.json()) as { entry: { resource: { id: string } }[] };
  expect((await fetch(`${stack.gateway.fhirBaseUrl}/fhir/Patient/${entry[0]?.resource.id}`, { headers })).status).toBe(
    200,
  );

  await sendMessage('unreadable');
  const { context, page } = await signIn(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin`);
  await page.click('nav[aria-label="Console"] >> text=Audit');
  // An unreadable message has no type and no control id: its link is its id.
  const stored = page.locator('tbody tr', { hasText: 'HL7 message stored' }).first();
  expect(await stored.locator('td').last().locator('a code').textContent()).toMatch(/^[\da-f-]{36}$/);
  await page.getByLabel('Patient (identifier or id)').fill('W-4711');
  await page.getByLabel('Action').selectOption('seen, in any way');
  await page.click('#main form[role=search] button');
  await expectAccessible(page);
  const rows = await page.locator('tbody tr').allTextContents();
  expect(rows.some((row) => row.includes('Ward viewer') && row.includes('read'))).toBe(true);
  expect(rows.some((row) => row.includes('found by a search') && row.includes('by identifier'))).toBe(true);
  expect(rows.some((row) => row.includes('HL7 message stored'))).toBe(false);
  expect(await page.textContent('main')).toContain('One patient has the identifier W-4711');

  // The download has the filter of the page.
  expect(page.url()).not.toContain('4711');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('a:has-text("Download all rows")')]);
  const events = await readFile(await download.path(), 'utf8');
  expect(events).toContain('search-type');
  expect(events).not.toContain('110107');
  // Each name is a link: the patient's to the resource, the key's to its page.
  expect(await page.locator('tbody tr', { hasText: 'Ward viewer' }).first().textContent()).toContain(
    'Patient Lovelace, Ada',
  );
  await page.click('a:has-text("By actor")');
  await expectAccessible(page);
  const sums = page.locator('tbody tr', { hasText: 'Ward viewer' });
  expect(await sums.locator('td.number').allTextContents()).toEqual(['2', '2', '0', '1']);
  await sums.locator('td.number a').click();
  await page.waitForSelector('[aria-label="Rows by patient"]');
  await expectAccessible(page);
  expect(page.url()).not.toContain('4711');
  expect(await page.locator('tbody tr').textContent()).toMatch(/Lovelace, Ada[^]*2[^]*2[^]*0[^]*1/);
  await page.click('tbody a:has-text("all rows")');
  const read = page.locator('tbody tr', { hasText: 'found by a search' }).first();
  await read.locator('a:has-text("request …")').click();
  await page.waitForSelector('h1:has-text("Search")');
  await page.goBack();
  await page.locator('tbody a', { hasText: 'Ward viewer' }).first().click();
  expect(await page.textContent('h1')).toContain('Ward viewer');

  // The audit has the patients whose names it showed, also without a filter by patient.
  const { rows: noted } = await db.client.query<{ patients: string[]; parameters: string[] }>(
    `select patients from audit where site_id = $1 and action = 'audit-viewed' order by at`,
    [site],
  );
  expect(noted.map(({ patients }) => patients)).toContainEqual([entry[0]?.resource.id]);
  expect(noted[0]?.patients).toContain(entry[0]?.resource.id);

  await page.goto(`${stack.baseUrl}/admin/audit?patient=w-4712`);
  expect(await page.textContent('main')).toContain('No patient has the identifier w-4712');

  const stored50 = Array.from({ length: 50 }, (_, n) => sendMessage(admission(`LONG-${n}`, `W-${n}`)));
  expect((await Promise.all(stored50)).map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
  await page.setViewportSize({ width: PHONE, height: 844 });
  await page.goto(`${stack.baseUrl}/admin/audit?action=message`);
  expect(await page.locator('tbody tr').count()).toBe(50);
  if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/audit-50-${PHONE}.png`, fullPage: true });
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(5 * 844);
  await context.close();
});
