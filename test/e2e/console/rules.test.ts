/** The form of a rule in a real Chromium: from a rejected rule to a live version. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import {
  admission,
  complaintsOf,
  consoleInBrowser,
  expectAccessible,
  PHONE,
} from '../../stack/tools/console-browser.ts';

const open = consoleInBrowser();

async function add(page: Page, rules: string, verb: string): Promise<void> {
  await page.goto(rules);
  await page.selectOption('select[name="verb"]', verb);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.waitForURL(/\/rule\?verb=/);
}

const saveRule = (page: Page) => page.getByRole('button', { name: 'Save to the draft' }).click();

test('without a script a rule is rejected, corrected, moved, tried and made live', async () => {
  const { signIn, stack, hl7Key, sendMessage } = open();
  expect((await sendMessage(admission('RULES-1', '4712'))).status).toBe(200);
  const { context, page } = await signIn(stack.oidc.admin, { javaScriptEnabled: false });
  const rules = `${stack.baseUrl}/admin/keys/${hl7Key.clientId}/rules`;

  await add(page, rules, 'set');
  await page.fill('#path', 'MSH-9');
  await page.fill('#value', 'M');
  await page.fill('#name', 'Sex of the ward');
  await page.locator('input[name="condition-path"]').first().fill('PID-8');
  await page.locator('input[name="condition-value"]').first().fill('F');
  await saveRule(page);
  await page.waitForSelector('#path-error');
  expect(await page.textContent('#path-error')).toContain('No rule may change it.');
  expect(await page.getAttribute('#path', 'aria-invalid')).toBe('true');
  expect(await page.inputValue('#name')).toBe('Sex of the ward');

  await page.fill('#path', 'PID-8');
  await saveRule(page);
  await page.waitForURL(/done=draft/);
  const draft = page.getByRole('list', { name: 'Rules of the draft' });
  expect(await draft.textContent()).toContain('If PID-8 is “F”: set PID-8 to “M”.');
  await add(page, rules, 'trim');
  await page.fill('#path', 'PID-5');
  await saveRule(page);
  await page.waitForURL(/done=draft/);
  await page.getByRole('button', { name: 'Move up rule 2' }).click();
  await expect.poll(() => draft.locator('li').first().textContent()).toContain('Remove white space around PID-5.');
  await page.getByRole('button', { name: 'Remove rule 1' }).click();
  await expect.poll(() => draft.locator('li').count()).toBe(1);

  await page.getByRole('link', { name: 'Try the draft' }).click();
  await page.getByRole('button', { name: 'Try the draft' }).click();
  await expect.poll(() => page.textContent('#main')).toContain('of 1 messages');

  await page.goto(rules);
  await page.fill('input[name="comment"]', 'The ward');
  await page.getByRole('button', { name: 'Make live' }).click();
  await page.waitForURL(/done=release/);
  expect(await page.textContent('#main')).toContain('It applies from the next message on.');
  expect(await page.getByRole('list', { name: 'Live rules' }).textContent()).toContain('set PID-8 to “M”');
  await context.close();
});

test('a form with faults is accessible, fits a telephone, and the first wrong field has the focus', async () => {
  const { signIn, stack, hl7Key } = open();
  const { context, page } = await signIn(stack.oidc.admin);
  const complaints = complaintsOf(page);
  await add(page, `${stack.baseUrl}/admin/keys/${hl7Key.clientId}/rules`, 'map');
  await page.fill('#path', 'PID-8');
  await page.fill('#values', 'U = unknown');
  await page
    .locator('input[name="condition-path"]')
    .first()
    .fill('A_PATH_THAT_IS_LONGER_THAN_THE_SCREEN_OF_A_TELEPHONE');
  await saveRule(page);
  await page.waitForSelector('#condition-0-error');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('condition-0');
  await expectAccessible(page);
  await page.setViewportSize({ width: PHONE, height: 900 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE);
  expect(complaints.filter((line) => !line.includes('422'))).toEqual([]);
  await context.close();
});
