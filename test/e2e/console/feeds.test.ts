/** The first page leads to the cause: why the lab's messages stopped, and which key fails. In a real browser, with real messages. */
import { describe, expect, test } from 'vitest';

import { admission, consoleInBrowser, expectAccessible } from '../../stack/tools/console-browser.ts';
import { zoneAtNoon } from '../../stack/tools/midday.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { getToken, requestToken } from '../../stack/services/client.ts';
import { until } from '../../stack/services/until.ts';

const open = consoleInBrowser();

describe('from the first page', () => {
  test('why the messages of the lab stopped: its key was disabled, and it still tries', async () => {
    const { signIn, stack, db, site } = open();
    await db.client.query('update site set time_zone = $2 where site_id = $1', [site, zoneAtNoon()]);
    const lab = await createApiKey(db.client, { site, name: 'Laboratory', protocols: ['hl7'] });
    const token = await getToken(stack.gateway.oauthBaseUrl, lab, { audience: 'svc-hl7-http' });
    const send = (body: string): Promise<Response> =>
      fetch(`${stack.gateway.hl7BaseUrl}/hl7/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
        body,
      });
    expect((await send(admission('FEED-1', 'F-1'))).status).toBe(200);
    expect((await send(admission('FEED-2', 'F-2').replace('F-2^^^EAST^MR', ''))).status).toBe(422);
    await db.client.query(`update api_key set status = 'disabled', updated_at = now() where client_id = $1`, [
      lab.clientId,
    ]);
    expect((await send(admission('FEED-3', 'F-3'))).status).toBe(401);
    expect((await requestToken(stack.gateway.oauthBaseUrl, lab)).status).toBe(401);

    const { page } = await signIn(stack.oidc.admin);
    await until('the feed is shown', async () => {
      await page.goto(`${stack.baseUrl}/admin`);
      const shown = await page.textContent('.feeds li:has-text("Laboratory")').catch(() => null);
      return shown?.includes('2 today') === true && shown.includes('in the last 24 hours');
    });
    expect(await page.textContent('.health')).toContain('Laboratory is disabled and still sends');
    const item = page.locator('.feeds li', { hasText: 'Laboratory' });
    expect(await item.textContent()).toContain('1 AE');
    await expectAccessible(page);
    await item.locator('text=rejected or failed in the last 24 hours').click();
    await page.waitForSelector('h1:has-text("Requests")');
    const reasons = (await page.textContent('.refusals')) ?? '';
    expect(reasons).toContain('the token is no longer valid');
    expect(reasons).toContain('the API key is disabled');
    expect(reasons).toMatch(/PID-3/);
    await expectAccessible(page);
    await page.locator('.refusals li', { hasText: 'PID-3' }).locator('text=The messages').click();
    await page.waitForSelector('h1:has-text("Messages")');
    expect(await page.textContent('main')).toContain('FEED-2');
    expect(await page.textContent('main')).not.toContain('FEED-1');
  });

  test('lists only the failing key with its reason', async () => {
    const { signIn, stack, db, site } = open();
    const reader = await createApiKey(db.client, {
      site,
      name: 'Portal',
      protocols: ['fhir'],
      scopes: ['system/Patient.read'],
    });
    const token = await getToken(stack.gateway.oauthBaseUrl, reader);
    for (let n = 0; n < 3; n += 1) {
      const url = `${stack.gateway.fhirBaseUrl}/fhir/Observation?patient=Patient/1`;
      expect((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(403);
    }
    const { page } = await signIn(stack.oidc.admin);
    await until('the refusals are shown', async () => {
      await page.goto(`${stack.baseUrl}/admin/requests?status=403&range=1h`);
      return (await page.textContent('main'))?.includes('3 times');
    });
    const item = page.locator('.refusals li', { hasText: 'Portal' });
    expect(await item.textContent()).toContain('the access token lacks a scope: system/Observation.read is needed');
    await item.locator('code', { hasText: 'insufficient_scope' }).click();
    await page.waitForSelector('text=Only those of');
    expect(await page.locator('.refusals li').count()).toBe(1);
    await page.locator('.refusals li').locator('text=The rights of the key').click();
    await page.waitForSelector('h1:has-text("Portal")');
  });
});
