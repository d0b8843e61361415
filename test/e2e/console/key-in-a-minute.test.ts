/**
 * A working key in a minute, in a real Chromium: a preset and a key pair that the page makes. The private key is only in its
 * file, which the test uses.
 */
import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import type { JWK } from 'jose';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { consoleInBrowser } from '../../stack/tools/console-browser.ts';

const open = consoleInBrowser();

/** Presses the button, and what was saved. */
const makePair = async (page: Page): Promise<{ pem: string; name: string }> => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('button:has-text("Make a key pair")'),
  ]);
  await page.waitForSelector('.said:has-text("was saved as private")');
  return { pem: await readFile(await download.path(), 'utf8'), name: download.suggestedFilename() };
};

test.each(['ES384', 'RS384'])('from a preset to a token with the file of a pair of %s', async (alg) => {
  const { signIn, stack } = open();
  const { context, page } = await signIn(stack.oidc.admin);
  const sent: string[] = [];
  page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
  await page.click('text=New API key');
  await page.click('text=FHIR reader');
  await page.fill('#name', `Reader ${alg}`);
  await page.selectOption('.make-key select', alg);
  const first = await makePair(page);
  const { pem, name } = await makePair(page);
  expect([name, pem === first.pem]).toEqual(['private.pem', false]);
  const { keys } = JSON.parse(await page.inputValue('#jwks')) as { keys: JWK[] };
  expect(keys).toMatchObject([{ alg, use: 'sig', kid: expect.stringMatching(/^[\w-]{43}$/) }]);
  const secret = pem.split('\n')[1] ?? '';
  expect(secret).toHaveLength(64);
  expect(await page.content()).not.toContain(secret);
  await page.click('button:has-text("Create API key")');
  await page.waitForSelector('text=The API key is created');

  const clientId = /svc-[0-9a-f-]{36}/.exec(page.url())?.[0] ?? '';
  const privateJwk: JWK = { ...createPrivateKey(pem).export({ format: 'jwk' }), alg, kid: keys[0]?.kid ?? '' };
  await expect(getToken(stack.gateway.oauthBaseUrl, { clientId, privateJwk })).resolves.toMatch(/^ey/);

  const d = privateJwk.d ?? '';
  for (const text of [...sent, ...stack.gateway.logs(), await page.content()]) {
    expect(text.includes(secret) || text.includes(encodeURIComponent(secret)) || text.includes(d)).toBe(false);
  }
  await context.close();
});

test('a second key is added to the present keys, for a rotation, and another text is not changed', async () => {
  const { signIn, stack } = open();
  const { context, page } = await signIn(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin/keys/new`);
  await page.fill('#jwks', JSON.stringify({ keys: [{ kty: 'OKP', kid: 'old' }] }));
  const { name } = await makePair(page);
  const { keys } = JSON.parse(await page.inputValue('#jwks')) as { keys: JWK[] };
  expect(keys.map(({ kid }) => kid)).toEqual(['old', expect.stringMatching(/^[\w-]{43}$/)]);
  expect(name).toBe(`private-${keys[1]?.kid?.slice(0, 8)}.pem`);
  await page.fill('#jwks', '-----BEGIN PUBLIC KEY-----');
  await page.click('button:has-text("Make a key pair")');
  await page.waitForSelector('.said:has-text("empty it first")');
  expect(await page.inputValue('#jwks')).toBe('-----BEGIN PUBLIC KEY-----');
  await context.close();
});

test('a page that is not secure explains the button; without a script the button is hidden', async () => {
  const { signIn, stack } = open();
  const { context, page } = await signIn(stack.oidc.admin);
  await page.addInitScript(() => Object.defineProperty(globalThis, 'isSecureContext', { value: false }));
  await page.goto(`${stack.baseUrl}/admin/keys/new`);
  await page.click('button:has-text("Make a key pair")');
  await page.waitForSelector('.said:has-text("https")');
  expect(await page.inputValue('#jwks')).toBe('');
  await context.close();
  const { page: plain, context: plainContext } = await signIn(stack.oidc.admin, { javaScriptEnabled: false });
  await plain.goto(`${stack.baseUrl}/admin/keys/new?preset=lab-mllp`);
  expect(await plain.isVisible('button:has-text("Make a key pair")')).toBe(false);
  expect(await plain.isVisible('#allowedIps')).toBe(true);
  expect(await plain.isVisible('#hl7TimeZone')).toBe(false);
  await plainContext.close();
});

test('a JWKS URI is checked while it is typed; a protocol opens its fields', async () => {
  const { signIn, stack } = open();
  const { context, page } = await signIn(stack.oidc.admin);
  await page.goto(`${stack.baseUrl}/admin/keys/new`);
  await page.fill('#jwksUri', 'https://10.0.0.1/jwks.json');
  await page.waitForSelector('.check.bad');
  await page.fill('#jwksUri', 'https://keys.gateway-test.example/jwks.json');
  await page.waitForSelector('.check.warn:has-text("could not be loaded")');
  expect(await page.isVisible('#allowedIps')).toBe(false);
  await page.check('input[value="hl7-mllp"]');
  expect(await page.isVisible('#allowedIps')).toBe(true);
  await context.close();
});
