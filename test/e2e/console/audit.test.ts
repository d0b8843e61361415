/** "Who read this patient?", from the identifier on the wristband to a name, in a real Chromium. */
import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { admission, consoleInBrowser, expectAccessible } from '../../stack/tools/console-browser.ts';

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

  const { context, page } = await signIn(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin`);
  await page.click('nav[aria-label="Console"] >> text=Audit');
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
  await page.locator('tbody a', { hasText: 'Ward viewer' }).first().click();
  expect(await page.textContent('h1')).toContain('Ward viewer');

  await page.goto(`${stack.baseUrl}/admin/audit?patient=w-4712`);
  expect(await page.textContent('main')).toContain('No patient has the identifier w-4712');
  await context.close();
});
