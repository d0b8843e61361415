/** Messages, their issues and names in a real Chromium. */
import { expect, test } from 'vitest';

import { clientAssertion, requestToken } from '../../stack/services/client.ts';
import {
  admission,
  consoleInBrowser,
  expectAccessible,
  PHONE,
  PICTURES,
  WIDE,
} from '../../stack/tools/console-browser.ts';

const open = consoleInBrowser();

test('the workbench explains an assertion, a message and a resource, and stores nothing', async () => {
  const { db, hl7Key, signIn, stack } = open();
  const { context, page } = await signIn(stack.oidc.admin);
  const endpoint = `${stack.gateway.oauthBaseUrl}/oauth2/token`;
  const paste = async (bench: string, text: string): Promise<string> => {
    await page.goto(`${stack.baseUrl}/admin/workbench/${bench}`);
    await page.fill('#pasted', text);
    await page.click('form.record button');
    await page.waitForSelector('#result, .notice');
    await expectAccessible(page);
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
  expect(explained).toContain('would reject');
  expect(explained).toContain('kid "other" is not in the JWKS');
  expect(explained).toContain('aud was "https://elsewhere.example/token"');

  const tried = await paste('message', admission('BENCH-1', 'B-1').replaceAll('\r', '\n'));
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
  const { sendMessage, signIn, stack } = open();
  expect((await sendMessage(admission('E2E-1', 'M-1'))).status).toBe(200);
  const { context, page } = await signIn(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin/messages?q=E2E-1`);
  await expectAccessible(page);
  await page.click('tbody th a');
  const shown = (await page.textContent('#main')) ?? '';
  expect(shown).toContain('Lovelace^Ada');
  expect(shown).toContain('Patient Name');
  expect(shown).toMatch(/Patient\/[0-9a-f-]{36}/);
  expect(shown).toMatch(/MSA\|AA\|E2E-1/);
  await expectAccessible(page);
  // Four segments fit on one screen of a laptop.
  expect((await page.locator('.pair').boundingBox())?.height).toBeLessThan(900);
  expect(await page.locator('.pair pre').innerText()).toContain('PID|1||M-1^^^EAST^MR||Lovelace^Ada||19701231|F');
  const marked = () => page.locator('.pair .marked').allTextContents();
  await page.hover('.segments tr:has-text("PID-7")');
  expect(await marked()).toEqual(['19701231', expect.stringMatching(/PID-7[^]*Date\/Time of Birth/)]);
  await page.click('.pair pre a:has-text("Lovelace")');
  expect(await marked()).toEqual(['Lovelace^Ada', expect.stringMatching(/PID-5[^]*Family Name[^]*Lovelace/)]);
  await page.click('a:has-text("Replay …")');
  await page.waitForSelector('h2:has-text("Changes")');
  await expectAccessible(page);
  await page.click('button:has-text("Apply")');
  await page.waitForSelector('text=The message was replayed');
  await page.goto(`${stack.baseUrl}/admin/replays?outcome=AA`);
  await page.click('#main button:text-is("Preview")');
  await page.waitForSelector('#sample');
  expect(await page.textContent('#main')).toMatch(/not applied[^]*AA 1, AE 0, AR 0[^]*0 resources created, 0 changed/);
  await expectAccessible(page);
  await page.click('a:has-text("Show it")');
  expect(await page.locator('tbody tr').allTextContents()).toEqual([expect.stringContaining('E2E-1')]);
  await page.goto(`${stack.baseUrl}/admin/replays?count=1&outcome=AA`);
  await expectAccessible(page);
  await page.click('#main button:text-is("Replay")');
  await page.waitForSelector('text=running');
  await expectAccessible(page);
  await page.click('text=Stop');
  await page.waitForSelector('text=Resume');
  await context.close();
});

test('the messages of identifier 4711, rejected ones included, are found and lead to their changes', async () => {
  const { db, sendMessage, signIn, site, stack } = open();
  for (const [control, change] of [
    ['HIS-1', ''],
    ['HIS-2', 'King^Ada'],
    ['HIS-3', '00000000'],
  ] as const) {
    const sent = admission(control, '004711');
    const text =
      change === ''
        ? sent
        : control === 'HIS-2'
          ? sent.replace('Lovelace^Ada', change)
          : sent.replace('19701231', change);
    expect((await sendMessage(text)).status).toBe(200);
  }
  expect((await sendMessage(admission('HIS-4', '004711').replace('P|2.5.1', 'X|2.5.1'))).status).toBe(422);
  const { context, page } = await signIn(stack.oidc.admin);
  await page.click('nav >> text=Messages');
  await page.fill('input[name="patient"]', '4711');
  await page.click('button:has-text("Show")');
  await page.waitForSelector('text=4 messages');
  expect(await page.locator('tbody tr').allTextContents()).toEqual([
    expect.stringMatching(/004711[^]*HIS-4[^]*AR rejected[^]*unsupported-processing-id/),
    expect.stringMatching(/HIS-3[^]*AA accepted[^]*1 warning[^]*PID-7/),
    expect.stringMatching(/HIS-2[^]*AA accepted/),
    expect.stringMatching(/HIS-1[^]*AA accepted/),
  ]);
  await expectAccessible(page);
  await page.click('a.chip:has-text("With warnings")');
  await page.waitForSelector('text=One message');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=CSV')]);
  const file = await (await download.createReadStream()).toArray();
  expect(Buffer.concat(file).toString()).toMatch(
    /^receivedAt,messageType,controlId[^]*ADT\^A04,HIS-3,ADT,EAST[^]*,AA,/,
  );
  expect(Buffer.concat(file).toString()).not.toMatch(/4711|Lovelace/);
  await page.click('tbody th a');
  // The fault is in its field.
  expect(await page.textContent('td.faulty')).toMatch(/00000000[^]*warning/);
  await page.click('text=Previous message of the patient >> xpath=.. >> a');
  await page.waitForSelector('h1:has-text("HIS-2")');
  expect(await page.textContent('.changes')).toMatch(/name[^]*Lovelace[^]*King/);
  await page.click('text=As it was sent');
  expect(await page.textContent('[aria-label="The message"]')).toContain('PID|1||004711^^^EAST^MR||King^Ada');
  await page.click('text=Show version');
  expect(await page.textContent('[aria-label="The resource"]')).toContain('"family": "King"');
  await expectAccessible(page);

  await page.goto(`${stack.baseUrl}/admin/messages?patient=HIS-1&from=2026-01-01T00:00`);
  expect(await page.textContent('.empty')).toMatch(
    /since[^]*has the patient “HIS-1”[^]*Control ids that contain it: 1/,
  );
  await page.goto(`${stack.baseUrl}/admin/messages?from=2026-02-01T00:00&to=2026-01-01T00:00`);
  expect(await page.textContent('.empty')).toContain('after');
  const { rows } = await db.client.query<{ action: string; parameters: string[]; patients: string[] }>(
    `select action, coalesce(parameters, '{}') as parameters, patients from audit where site_id = $1 and action in ('search', 'read') order by at`,
    [site],
  );
  const search = rows.find(({ parameters }) => parameters.length > 0);
  expect(search).toMatchObject({ action: 'search', parameters: ['patient'], patients: [expect.any(String)] });
  expect(rows).toContainEqual({ action: 'read', parameters: [], patients: search?.patients });
  await context.close();
});

test('Messages previews a row, keeps the chosen columns, and shows 50 messages on five screens of a phone', async () => {
  const { sendMessage, signIn, stack } = open();
  const sent = await Promise.all(
    Array.from({ length: 50 }, (_, n) => sendMessage(admission(`ROW-${n}`, `ROW-${n % 9}`))),
  );
  expect(sent.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
  const { context, page } = await signIn(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin/messages?q=ROW-`);
  const row = page.locator('tbody tr').nth(2);
  const control = await row.locator('.of-controlId').textContent();
  expect(await row.locator('.of-patient').textContent()).toMatch(/Lovelace, Ada ROW-\d EAST/);
  await row.locator('button:has-text("Preview")').click();
  await page.waitForSelector(`.preview h1:has-text("${control}")`);
  expect(await row.getAttribute('class')).toBe('previewed');
  expect(await page.locator('.preview .segments').textContent()).toContain('Patient Name');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(WIDE);
  await expectAccessible(page);
  await page.click('.preview .pair pre a:has-text("Lovelace")');
  expect(await page.locator('.preview tr.marked').textContent()).toContain('PID-5');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.preview', { state: 'detached' });
  expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('Preview');

  await page.click('summary:has-text("Columns")');
  await expectAccessible(page);
  await page.uncheck('input[name="columns"][value="took"]');
  await page.uncheck('input[name="columns"][value="sender"]');
  await page.click('button:has-text("Keep these columns")');
  await page.goto(`${stack.baseUrl}/admin/messages`);
  expect(await page.locator('thead th').allTextContents()).toEqual([
    'Received',
    'Patient',
    'Type',
    'Control id',
    'API key',
    'Outcome',
  ]);
  await page.setViewportSize({ width: PHONE, height: 844 });
  expect(await page.locator('tbody tr').count()).toBe(50);
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(5 * 844);
  await context.close();
});

test('a message shows only what it changed, and its request id finds it and the reason', async () => {
  const { sendMessage, signIn, stack } = open();
  const moved = (control: string, address: string): string =>
    admission(control, '4720').replace('|F\r', `|F|||${address}\r`);
  for (const [control, address] of [
    ['MOVE-1', 'Am Hof 1^^Bonn'],
    ['MOVE-2', 'Am Markt 2^^Berlin'],
    ['MOVE-3', ''],
  ] as const)
    expect((await sendMessage(moved(control, address))).status).toBe(200);
  const refused = await sendMessage(admission('MOVE-4', '4720').replace('P|2.5.1', 'X|2.5.1'));
  const id = refused.headers.get('x-request-id') ?? '';
  const { context, page } = await signIn(stack.oidc.admin);
  const check = async (name: string): Promise<void> => {
    await expectAccessible(page);
    for (const width of [WIDE, PHONE]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name}-${width}.png`, fullPage: true });
    }
    await page.setViewportSize({ width: WIDE, height: 900 });
  };
  for (const [control, change] of [
    ['MOVE-2', /changed[^]*address[^]*Bonn[^]*Berlin/],
    ['MOVE-3', /no change stayed at version 2, the current one/],
  ] as const) {
    await page.goto(`${stack.baseUrl}/admin/messages?q=${control}`);
    await page.click('tbody th a');
    expect(await page.textContent('.changes')).toMatch(change);
    await check(control);
  }
  expect(await page.textContent('.changes')).not.toContain('Bonn');

  await page.goto(`${stack.baseUrl}/admin/requests`);
  await page.fill('input[name="q"]', ` ${id} `);
  await page.click('button:has-text("Show")');
  await page.waitForSelector(`.refusals code:has-text("${id}")`);
  expect(await page.textContent('#main')).toContain('Found by its request id');
  await check('requests-by-id');
  await page.click('.refusals a:has-text("The message")');
  await page.click('tbody th a');
  await page.waitForSelector('h1:has-text("MOVE-4")');
  expect(await page.textContent('[aria-label="Attempts"]')).toContain(id);

  const gone = '0197a3b0-5c00-7000-8000-000000000000';
  await page.goto(`${stack.baseUrl}/admin/requests?q=${gone}`);
  expect(await page.textContent('.empty')).toMatch(/newest 100[^]*The id was made at[^]*ask the operator/);
  await check('requests-no-id');
  await page.click('text=show the rejected requests of that quarter of an hour');
  expect(await page.textContent('#main')).toContain('No requests were rejected or failed in this time.');
  await page.goto(`${stack.baseUrl}/admin/messages?q=${gone}`);
  expect(await page.locator('.empty a:has-text("see Requests")').getAttribute('href')).toContain(`q=${gone}`);
  await context.close();
});

test('possible duplicates are reviewed and dismissed, and a dismissal is undone', async () => {
  const { listDuplicates, signIn, stack } = open();
  await listDuplicates('DUP-1', 'DUP-2');
  const looking = await signIn(stack.oidc.reader);
  await looking.page.goto(`${stack.baseUrl}/admin/attention`);
  expect(await looking.page.textContent('#main')).toContain('DUP-1');
  expect(await looking.page.locator('button:has-text("Dismiss")').count()).toBe(0);
  await looking.context.close();

  const { context, page } = await signIn(stack.oidc.admin);
  await page.click('nav >> text=Attention');
  const shown = (await page.textContent('#main')) ?? '';
  expect(shown).toMatch(/Family name[^]*Lovelace[^]*Given names[^]*Ada/);
  expect(shown).toContain('DUP-2');
  expect(shown).toMatch(/agrees[^]*differs/);
  await page.click('summary:has-text("Merge message (ADT A40)")');
  await page.click('summary:has-text("Dismiss")');
  expect(await page.textContent('[aria-label="The first patient stays"] pre')).toMatch(
    /ADT\^A40\^ADT_A39[^]*\nMRG\|DUP-/,
  );
  await expectAccessible(page);
  await page.fill('input[name="reason"]', 'Twins.');
  await page.click('button:has-text("Dismiss it")');
  await page.waitForSelector('text=Dismissed.');
  expect(await page.textContent('#main')).not.toContain('DUP-1');
  await page.selectOption('select[name="state"]', 'dismissed');
  await page.click('button:has-text("Show")');
  expect(await page.textContent('#main')).toMatch(/Dismissed[^]*by Alex Admin[^]*Twins\./);
  await page.click('button:has-text("Undo the dismissal")');
  await page.waitForSelector('text=The dismissal was undone.');
  expect(await page.textContent('#main')).toMatch(
    /DUP-1[^]*Reopened[^]*by Alex Admin|Reopened[^]*by Alex Admin[^]*DUP-1/,
  );
  await context.close();
});

test('a merge is previewed and undone with a reason', async () => {
  const { sendMessage, signIn, stack } = open();
  for (const mrn of ['UNDO-1', 'UNDO-2']) expect((await sendMessage(admission(`E-${mrn}`, mrn))).status).toBe(200);
  const merge = `${admission('E-UNDO-3', 'UNDO-1').replace('ADT^A04', 'ADT^A40')}MRG|UNDO-2^^^EAST^MR\r`;
  expect((await sendMessage(merge)).status).toBe(200);

  const { context, page } = await signIn(stack.oidc.admin);
  await page.click('nav >> text=Merges');
  expect(await page.textContent('#main')).toMatch(/Lovelace[^]*UNDO-2/);
  await page.click('tbody th a');
  await page.waitForSelector('h1:has-text("Undo a merge")');
  expect(await page.textContent('[aria-label="Both patients"]')).toMatch(
    /Survivor[^]*UNDO-1[^]*Merged patient[^]*UNDO-2/,
  );
  await expectAccessible(page);
  await page.fill('input[name="reason"]', 'Two persons.');
  await page.click('button:has-text("Undo the merge")');
  await page.waitForSelector('text=The merge was undone.');
  expect(await page.textContent('#main')).toMatch(/undone[^]*by Alex Admin[^]*Two persons\./);
  await context.close();

  const looking = await signIn(stack.oidc.reader);
  await looking.page.goto(`${stack.baseUrl}/admin/merges`);
  expect(await looking.page.textContent('#main')).not.toContain('UNDO-1');
  await looking.context.close();
});

test('an unmapped name gets a URI and links to its messages', async () => {
  const { db, sendMessage, signIn, site, stack } = open();
  const sent = admission('NAME-1', 'N-1').replace('^^^EAST', '^^^Clinic');
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
  await expectAccessible(page);
  await row.locator('input[name="system"]').fill('urn:oid:1.2.3.4');
  await row.locator('button').click();
  await page.waitForSelector('h1:has-text("A URI for CLINIC")');
  expect(await page.textContent('#main')).toMatch(
    /1 message has the name[^]*1 patient record has an identifier of CLINIC/,
  );
  await expectAccessible(page);
  await page.click('button:has-text("Give CLINIC this URI")');
  await page.waitForSelector('text=CLINIC has its URI');
  expect(await row.textContent()).toContain('urn:oid:1.2.3.4');
  await row.locator('text=Process its messages again').click();
  await page.waitForSelector('text=One message matches.');
  await expectAccessible(page);
  await page.fill('input[name="comment"]', 'CLINIC has its OID');
  await page.click('#main button:text-is("Replay")');
  await page.waitForSelector('q:has-text("CLINIC has its OID")');
  await expectAccessible(page);
  await page.click('nav >> text=Names');
  await page.click('text=URIs of their namespaces');
  await page.waitForSelector('h1:has-text("URIs of namespaces")');
  await expectAccessible(page);
  const { rows } = await db.client.query('select assigning_authorities as named from site where site_id = $1', [site]);
  expect(rows[0]).toMatchObject({ named: { CLINIC: 'urn:oid:1.2.3.4' } });
  await context.close();
});

test('a value shows its origin on hover, by keyboard and by tap, also on a phone', async () => {
  const { db, sendMessage, signIn, site, stack } = open();
  expect((await sendMessage(admission('FROM-1', 'FROM'))).status).toBe(200);
  const { rows } = await db.client.query<{ id: string; message: string }>(
    `select x.id, x.message_id as message from hl7_message_resource x join hl7_message m using (site_id, message_id)
      where x.site_id = $1 and m.control_id = 'FROM-1' and x.type = 'Patient'`,
    [site],
  );
  const { id = '', message = '' } = rows[0] ?? {};
  const { context, page } = await signIn(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin/messages/resources/Patient/${id}`);
  const family = page.locator('.value', { hasText: '"Lovelace"' });
  expect(await family.getAttribute('title')).toContain('FROM-1, PID-5');
  const shown = page.locator('.origin:popover-open');
  await family.focus();
  await page.keyboard.press('Enter');
  expect(await shown.textContent()).toMatch(/name\[0\]\.family[^]*FROM-1[^]*PID-5[^]*Replaced: nothing/);
  await expectAccessible(page);
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe(`/admin/messages/${message}`);
  await page.keyboard.press('Escape');
  expect(await shown.count()).toBe(0);

  await page.setViewportSize({ width: PHONE, height: 800 });
  await page.locator('.value', { hasText: '"1970-12-31"' }).click();
  expect(await shown.textContent()).toContain('PID-7');
  const box = await shown.boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= PHONE).toBe(true);
  await expectAccessible(page);
  if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/origin-${PHONE}.png` });
  await shown.locator('a').click();
  await page.waitForURL(`${stack.baseUrl}/admin/messages/${message}`);
  await context.close();
});
