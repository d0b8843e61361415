/** The workbench in a real Chromium: samples with their verdicts, and links whose content no server sees. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { createApiKey } from '../../stack/services/seed.ts';
import { admission, consoleInBrowser, expectAccessible, PICTURES } from '../../stack/tools/console-browser.ts';
import { msh } from '../../stack/tools/hl7-text.ts';

const open = consoleInBrowser();

const press = async (page: Page): Promise<string> => {
  await page.click('form.record button');
  await page.waitForSelector('#result, .notice.bad');
  return (await page.textContent('#main')) ?? '';
};

test('a sample is loaded and tried; the verdict is above the fold, failed checks before passed ones', async () => {
  const { db, signIn, site, stack } = open();
  const { context, page } = await signIn(stack.oidc.admin);
  for (const [bench, sample, verdict] of [
    ['message', 'oru-r01', 'AA accepted'],
    ['resource', 'bad-patient', 'not valid FHIR R4: 3 faults'],
    ['assertion', 'subject', 'would reject this assertion: 2 checks fail'],
  ] as const) {
    await page.goto(`${stack.baseUrl}/admin/workbench/${bench}`);
    await page.selectOption('select[name="sample"]', sample);
    await page.click('form.filter button');
    await page.waitForURL(/sample=/);
    expect(await press(page)).toContain(verdict);
    const box = await page.locator('.notice').first().boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(300);
    await expectAccessible(page);
    if (PICTURES === undefined) continue;
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: `${PICTURES}/workbench-${bench}-${colorScheme}-${width}.png`, fullPage: true });
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 900 });
  }
  expect(await page.locator('[aria-label="Checks that fail, in their order"] tbody tr').count()).toBe(2);
  expect(await page.locator('[aria-label="Checks that passed, in their order"]').isVisible()).toBe(false);
  const { rows } = await db.client.query(
    `select (select count(*)::int from hl7_message where site_id = $1) as messages,
            (select count(*)::int from resource where site_id = $1) as resources`,
    [site],
  );
  expect(rows).toEqual([{ messages: 0, resources: 0 }]);
  await context.close();
});

test('a message with many resources shows 200 of them, and names where all are', async () => {
  const { signIn, stack } = open();
  const { context, page } = await signIn(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin/workbench/message`);
  const results = Array.from({ length: 250 }, (_, at) => `OBX|${at + 1}|NM|K${at}^Test^L||5|||||F`);
  const head = ['PID|1||4711^^^HOSP^MR||Doe^Jane', 'OBR|1||F1|1^Panel^L|||20260101||||||||||||||||||F'];
  await page.fill('textarea[name="pasted"]', [msh('ORU^R01'), ...head, ...results].join('\n'));
  const text = await press(page);
  expect(text).toContain('AA accepted');
  const all = Number(/(\d+) resources of the message/.exec(text)?.[1]);
  expect(all).toBeGreaterThan(250);
  expect(text).toContain(`${all - 200} more: /admin/api/workbench returns all.`);
  for (const [at, count] of [
    [200, 1],
    [201, 0],
  ])
    expect(await page.locator(`[aria-label="Resource ${at}"]`).count()).toBe(count);
  await context.close();
});

test('an assertion of a sample names the chosen key, also with an RSA signature', async () => {
  const { db, site, signIn, stack } = open();
  const rsa = await createApiKey(db.client, { site, name: 'Reader', algorithm: 'RS384' });
  const { context, page } = await signIn(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin/workbench/assertion`);
  await page.selectOption('select[name="clientId"]', rsa.clientId);
  await page.click('form.filter button');
  await page.waitForURL(/sample=/);
  const result = await press(page);
  expect(result).toContain('1 check fails');
  expect(result).toContain(rsa.clientId);
  await context.close();
});

test('a message that was sent is compared with stored resources; another message is not', async () => {
  const { hl7Key, sendMessage, signIn, stack } = open();
  const sent = admission('SENT-1', 'S-1');
  expect((await sendMessage(sent)).status).toBe(200);
  const { context, page } = await signIn(stack.oidc.admin);
  const trial = async (text: string): Promise<string> => {
    await page.goto(`${stack.baseUrl}/admin/workbench/message`);
    await page.selectOption('form.record select[name="clientId"]', hl7Key.clientId);
    await page.fill('#pasted', text.replaceAll('\r', '\n'));
    return press(page);
  };
  expect(await trial(sent)).toContain('No changes: the data is stored already');
  const guessed = await trial(sent.replace('19701231', '19701230'));
  expect(guessed).toContain('The comparison with stored data needs a message that this key has sent');
  expect(guessed).not.toContain('1970-12-31');
  await context.close();
});

test('a link fills in the form, has no signature of an assertion, and is in no request', async () => {
  const { browser, signIn, stack } = open();
  const { context, page } = await signIn(stack.oidc.admin, { permissions: ['clipboard-read', 'clipboard-write'] });
  const requested: string[] = [];
  context.on('request', (request) => requested.push(`${request.url()} ${JSON.stringify(request.headers())}`));
  const linkOf = async (bench: string, text: string): Promise<string> => {
    await page.goto(`${stack.baseUrl}/admin/workbench/${bench}`);
    await page.fill('#pasted', text);
    await page.click('text=Copy a link');
    await page.waitForSelector('#permalink-said:not(:empty)');
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const text = admission('LINK-1', 'Zaphod-1').replaceAll('\r', '\n');
  const link = await linkOf('message', text);
  const [address = '', packed = ''] = link.split('#');
  expect(address).toBe(`${stack.baseUrl}/admin/workbench/message`);
  expect(packed).toMatch(/^w1\.[A-Za-z0-9_-]+$/);

  const other = await context.newPage();
  await other.goto(link);
  await other.waitForSelector('text=Filled in from the link');
  expect(await other.inputValue('#pasted')).toBe(text);
  expect(other.url()).toBe(address);
  expect(await other.locator('#result').count()).toBe(0);

  const signed = await linkOf('assertion', 'aaaa.bbbb.SIGNATURE');
  await other.goto(signed);
  await other.waitForSelector('text=Filled in from the link');
  expect(await other.inputValue('#pasted')).toBe('aaaa.bbbb.');

  await page.goto(address);
  await page.evaluate(() => {
    const random = Array.from({ length: 4000 }, () => Math.random().toString(36));
    const area = document.querySelector('textarea');
    if (area !== null) area.value = random.join('\n');
  });
  await page.click('text=Copy a link');
  await page.waitForSelector('text=Too long for a link');
  for (const cut of [`${address}#w1.AAAA`, `${address}#w1.!`]) {
    await other.goto('about:blank');
    await other.goto(cut);
    await other.waitForSelector('text=The link is not valid');
  }
  for (const one of requested) expect(one).not.toContain(packed.slice(0, 40));

  // A visitor without a session is sent to the provider, whose address must not have the content.
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(link);
  await stranger.waitForSelector('#password');
  expect(await stranger.evaluate(() => location.hash)).toBe('');
  await context.close();
});
