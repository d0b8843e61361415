/** What is given back of a form whose session had ended: what our own page sent, and never a private key. */
import { Hono } from 'hono';
import { html } from 'hono/html';
import { describe, expect, test } from 'vitest';

import { UnsentForm, unsentOf } from '../../../edge/admin/web/unsent.tsx';
import type { Config } from '../../../edge/config.ts';
import type { GatewayEnv } from '../../../edge/http/surface.ts';

const config = { ADMIN_PUBLIC_BASE_URL: 'https://console.test/gateway' } as Config;
const app = new Hono<GatewayEnv>();
app.all('*', async (c) => {
  const unsent = await unsentOf(c, config);
  return c.json(unsent === undefined ? null : { action: unsent.action, form: [...unsent.form] });
});

const FORM = 'application/x-www-form-urlencoded';
const given = async (headers: Record<string, string>, method = 'POST', body = 'name=Lab&name=Two') => {
  const init = method === 'GET' ? { headers } : { method, headers, body };
  return (await app.request('https://console.test/admin/keys?kept=1', init)).json();
};

describe('a form', () => {
  const ours = { 'content-type': FORM, origin: 'https://console.test', 'sec-fetch-site': 'same-origin' };

  test('of our own page is given back with every value, at its address', async () => {
    expect(await given(ours)).toEqual({
      action: '/gateway/admin/keys?kept=1',
      form: [
        ['name', 'Lab'],
        ['name', 'Two'],
      ],
    });
  });

  test.each([
    ['of another site', { ...ours, origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }, 'POST'],
    ['of who does not say from where', { 'content-type': FORM }, 'POST'],
    ['that is none', { ...ours, 'content-type': 'application/json' }, 'POST'],
    ['that was not sent', ours, 'GET'],
  ])('%s is not', async (_, headers, method) => {
    expect(await given(headers, method)).toBeNull();
  });

  test('larger than anybody types is not', async () => {
    expect(await given(ours, 'POST', `name=${'a'.repeat(1024 * 1024)}`)).toBeNull();
  });
});

describe('the page', () => {
  const shown = (jwks: string) =>
    html`${UnsentForm({
      unsent: { action: '/admin/keys', form: new URLSearchParams({ name: 'a"<b', jwks }) },
      signInPath: '/admin/sign-in',
    })}`;

  test.each([
    '{"kty":"EC","crv":"P-256","d":"c2VjcmV0"}',
    '{"kty":"oct", "k" : "c2VjcmV0"}',
    '-----BEGIN PRIVATE KEY-----\nc2VjcmV0',
    '-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0',
  ])('does not repeat %s', async (jwks) => {
    const page = String(await shown(jwks));
    expect(page).not.toContain('c2VjcmV0');
    expect(page).toContain('a private key was left out');
    expect(page).toContain('value="a&quot;&lt;b"');
  });

  test('repeats a public key', async () => {
    expect(String(await shown('{"kty":"EC","crv":"P-256","x":"cHVibGlj"}'))).toContain('cHVibGlj');
  });
});
