/** API keys and settings in a real Chromium. */
import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { makeKeyPair } from '../../stack/services/key-pair.ts';
import { getToken, requestToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { until } from '../../stack/services/until.ts';
import { complaintsOf, consoleInBrowser, expectAccessible, PHONE } from '../../stack/tools/console-browser.ts';

const open = consoleInBrowser();

test('an administrator makes a key, uses it, disables it and sees the reason of its rejected request', async () => {
  const { signIn, stack } = open();
  const { context, page } = await signIn(stack.oidc.admin);
  const problems = complaintsOf(page);

  await page.click('text=New API key');
  await expectAccessible(page);
  await page.fill('#name', 'Laboratory');
  await page.fill('#tokenTtlSeconds', '30');
  await page.click('button:has-text("Create API key")');
  expect(await page.textContent('#tokenTtlSeconds-error')).toContain('at least 60');
  expect(await page.textContent('#jwks-error')).toContain('paste a JWKS');
  await expectAccessible(page);

  const { publicJwk, privateJwk } = await makeKeyPair({ kid: 'lab-1' });
  await page.fill('#jwks', JSON.stringify({ keys: [privateJwk] }));
  await page.fill('#tokenTtlSeconds', '120');
  await page.check('input[value="system/Patient.read"]');
  await page.click('button:has-text("Create API key")');
  expect(await page.textContent('#jwks-error')).toContain('PRIVATE key');
  expect(await page.inputValue('#jwks')).not.toContain(privateJwk.d ?? '');
  // A page takes the focus when it is first drawn, which may be after it is loaded.
  await page.waitForSelector('#jwks:focus');
  expect(await page.inputValue('#name')).toBe('Laboratory');
  expect(await page.isChecked('input[value="system/Patient.read"]')).toBe(true);
  await page.fill('#jwks', JSON.stringify({ keys: [publicJwk] }));
  await page.click('button:has-text("Create API key")');
  await page.waitForSelector('text=The API key is created');
  await expectAccessible(page);

  const clientId = (await page.textContent('.facts code')) ?? '';
  expect(clientId).toMatch(/^svc-/);
  expect(await page.textContent('[aria-label="Public keys found"]')).toContain('lab-1');
  const key = { clientId, privateJwk };
  await expect(getToken(stack.gateway.oauthBaseUrl, key)).resolves.toMatch(/^ey/);

  const keyUrl = page.url();
  await page.click('a:has-text("Disable")');
  await expectAccessible(page);
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
  await page.click('text=All rejected and failed requests of this API key');
  expect(await page.textContent('.refusals')).toContain('Laboratory');
  await expectAccessible(page);

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

test('a reload of the page with the secret of a new link makes no second link', async () => {
  const { db, signIn, site, stack } = open();
  const { clientId } = await createApiKey(db.client, { site, protocols: ['hl7'] });
  const { context, page } = await signIn(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin/keys/${clientId}/links`);
  await page.click('button:has-text("Create a link")');
  await page.waitForSelector('text=The link is created');
  await page.reload();
  expect(await page.textContent('#main')).not.toContain('The link is created');
  expect(await page.locator('[aria-label="Links"] tbody tr').count()).toBe(1);
  await context.close();
});

test('a second change of one version fails and overwrites nothing', async () => {
  const { db, signIn, site, stack } = open();
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
    await second.waitForSelector('text=was changed in the meantime');
  }
  await expectAccessible(second);
  await second.click('text=Edit the current version');
  await second.waitForSelector('#name');
  expect(await second.inputValue('#name')).toBe('First');
  const { rows } = await db.client.query('select name from api_key where client_id = $1', [clientId]);
  expect(rows).toEqual([{ name: 'First' }]);
  await context.close();
});

test('the settings of the site and of a key are set, rejected by field, and cleared again', async () => {
  const { db, signIn, site, stack } = open();
  const { clientId } = await createApiKey(db.client, { site, name: 'Ward', protocols: ['hl7'] });
  const { context, page } = await signIn(stack.oidc.admin);
  const save = () => page.click('button:has-text("Save")');
  await page.click('nav >> text=Settings');
  expect(await page.textContent('.facts')).toContain('Europe/Berlin');
  await page.click('text=Edit');
  await page.fill('#timeZone', 'Mars');
  await page.fill('#assigningAuthorities', 'EAST = urn:oid:1.2.3\neast = urn:oid:1.2.4');
  await save();
  expect(await page.textContent('#timeZone-error')).toContain('not a known IANA name');
  expect(await page.textContent('#assigningAuthorities-error')).toContain('"east" is given twice');
  await expectAccessible(page);
  await page.fill('#timeZone', 'Europe/Vienna');
  await page.selectOption('#defaultCharset', 'iso-8859-1');
  await page.check('input[value="T"]');
  await page.fill('#assigningAuthorities', 'EAST = urn:oid:1.2.3\nLAB = https://lab.example/codes');
  await save();
  await page.waitForSelector('text=The settings are saved');
  const facts = (await page.textContent('.facts')) ?? '';
  for (const text of ['Europe/Vienna', 'iso-8859-1', 'P, T', 'EAST = urn:oid:1.2.3']) expect(facts).toContain(text);
  await page.click('summary:has-text("Version 2")');
  expect(await page.textContent('[aria-label="What version 2 changed"]')).toContain('LAB = https://lab.example/codes');
  await expectAccessible(page);

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

test('an administrator downloads the site as a file, plans a changed file and applies it', async () => {
  const { db, signIn, site, stack } = open();
  const { clientId } = await createApiKey(db.client, { site, name: 'Filed' });
  const { context, page } = await signIn(stack.oidc.admin);
  const problems = complaintsOf(page);
  await page.setViewportSize({ width: PHONE, height: 900 });
  const expectNarrow = async () => {
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE);
    await expectAccessible(page);
  };
  await page.goto(`${stack.baseUrl}/admin/settings`);
  await page.click('a:has-text("Site as a file")');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download the file')]);
  expect(download.suggestedFilename()).toBe('site.yaml');
  const exported = await readFile(await download.path(), 'utf8');
  expect(exported).toContain(`\nsite: ${site}\n`);
  expect(exported).toContain('  - name: Filed\n');

  await page.fill('#file', 'format: 1\nformat: 2\n');
  await page.click('button:has-text("Show the plan")');
  expect(await page.textContent('[data-said]')).toMatch(/^Line 2: /);
  const more = Array.from({ length: 8 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(9)}]\n`);
  await page.fill('#file', `l0: &l0 [1]\n${more.join('')}`);
  await page.click('button:has-text("Show the plan")');
  expect(await page.textContent('[data-said]')).toMatch(/^Excessive alias count/);
  await expectNarrow();
  await page.fill('#file', 'format: 1\napiKeys:\n  - name: Filed\n    tokenTtlSeconds: 5\n');
  await page.click('button:has-text("Show the plan")');
  await page.waitForSelector('.notice.bad');
  expect(await page.textContent('.notice.bad')).toMatch(/apiKeys\[0\]\.tokenTtlSeconds must be at least 60/);
  // The file is shown again as it was given.
  expect(await page.inputValue('#file')).toContain('  - name: Filed\n    tokenTtlSeconds: 5');
  await expectNarrow();

  const { publicJwk } = await makeKeyPair({ kid: 'by-file' });
  const made = { name: 'Made by a file', tokenTtlSeconds: 300, jwks: { keys: [publicJwk] } };
  const file = `format: 1\napiKeys:\n  - name: Filed # no longer used\n    status: disabled\n  - ${JSON.stringify(made)}\n`;
  const choose = (buffer: Buffer) =>
    page.setInputFiles('#chosen', { name: 'site.yaml', mimeType: 'application/yaml', buffer });
  await choose(Buffer.from('name: M\xfcller', 'latin1'));
  await page.waitForSelector('[data-said]:has-text("The file is not UTF-8. Save it as UTF-8.")');
  await choose(Buffer.alloc(4 * 1024 * 1024 + 1, ' '));
  await page.waitForSelector('[data-said]:has-text("The file is larger than 4 MiB.")');
  await choose(Buffer.from(file));
  await page.waitForFunction(() => document.querySelector('textarea')?.value.includes('Made by a file'));
  await page.click('button:has-text("Show the plan")');
  await page.waitForSelector('#plan');
  expect(await page.textContent('.notice.warn')).toBe('1 record will stop working:API key Filed');
  expect(await page.textContent('.code')).toContain(
    `~ API key "Filed" (${clientId})\n    ~ status: "active" → "disabled"\n`,
  );
  await expectNarrow();
  // A colleague saves the form of the key meanwhile.
  await db.client.query('update api_key set contact = $2, version = version + 1 where client_id = $1', [
    clientId,
    'Bob',
  ]);
  await page.click('button:has-text("Apply 2 changes")');
  await page.waitForSelector('text=Nothing was written');
  await page.click('button:has-text("Apply 2 changes")');
  await page.waitForSelector('text=2 changes applied.');
  expect(await page.textContent('[aria-label="New API keys"]')).toMatch(/Made by a file.*svc-[0-9a-f-]{36}/);
  await expectNarrow();
  const { rows } = await db.client.query('select status, contact from api_key where client_id = $1', [clientId]);
  expect(rows).toEqual([{ status: 'disabled', contact: 'Bob' }]);
  await page.click('button:has-text("Show the plan")');
  await page.waitForSelector('text=No changes: the site is as the file says.');
  expect(problems.filter((line) => !line.includes('422'))).toEqual([]);
  await context.close();

  // A reader sees the plan, and no button.
  const reading = await signIn(stack.oidc.reader);
  await reading.page.goto(`${stack.baseUrl}/admin/settings/file`);
  await reading.page.fill('#file', '{ "format": 1, "settings": { "usCore": true } }');
  await reading.page.click('button:has-text("Show the plan")');
  await reading.page.waitForSelector('text=You need the permission site.settings.update');
  expect(await reading.page.locator('button:has-text("Apply")').count()).toBe(0);
  await expectAccessible(reading.page);
  await reading.context.close();
});

test('a reader sees no button to change anything, and a request without a button is rejected', async () => {
  const { hl7Key, signIn, stack } = open();
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
  await expectAccessible(page);
  await context.close();
});
