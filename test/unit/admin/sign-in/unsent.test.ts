/** A form whose session had ended is shown again if the console sent it, never with a private key. */
import { Hono } from 'hono';
import { html } from 'hono/html';
import { describe, expect, test } from 'vitest';

import { createSeal } from '../../../../edge/admin/staff/seal.ts';
import { createSessions } from '../../../../edge/admin/staff/session.ts';
import { readForm } from '../../../../edge/admin/web/form.ts';
import { UnsentForm, unsentOf } from '../../../../edge/admin/sign-in/unsent.tsx';
import type { Config } from '../../../../edge/config.ts';
import type { GatewayEnv } from '../../../../edge/http/surface.ts';

const NOW = 1_800_000_000_000;
const SECRET = 'q'.repeat(43);
const config = { ADMIN_PUBLIC_BASE_URL: 'https://console.test/gateway', GATEWAY_SECRET: [SECRET] } as Config;
const sessions = createSessions({ config, now: () => NOW });
const cookieOf = async (secret: string, purpose: string, endsAt: number): Promise<string> =>
  `__Host-gateway-session=${await createSeal([secret], purpose).seal({ session: 'x' }, endsAt)}`;
const cookie = await cookieOf(SECRET, 'admin session', NOW / 1000 + 60);
const foreign = await cookieOf('r'.repeat(43), 'admin session', NOW / 1000 + 60);
const ofSignIn = await cookieOf(SECRET, 'admin sign-in', NOW / 1000 + 60);
const app = new Hono<GatewayEnv>();
app.all('*', async (c) => {
  if (c.req.query('read') !== undefined) await readForm(c);
  const unsent = await unsentOf(c, config, sessions);
  return c.json(unsent === undefined ? null : { action: unsent.action, form: [...unsent.form] });
});

const FORM = 'application/x-www-form-urlencoded';
const given = async (headers: Record<string, string>, method = 'POST', body = 'name=Lab&name=Two') => {
  const init = method === 'GET' ? { headers } : { method, headers, body };
  return (await app.request('https://console.test/admin/keys?kept=1', init)).json();
};
/** A body without an end: reading it would hang. */
const never = () => new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });

describe('a form', () => {
  const ours = { 'content-type': FORM, origin: 'https://console.test', 'sec-fetch-site': 'same-origin', cookie };

  test('from the console is shown again with every value and its address', async () => {
    expect(await given(ours)).toEqual({
      action: '/gateway/admin/keys?kept=1',
      form: [
        ['name', 'Lab'],
        ['name', 'Two'],
      ],
    });
  });

  test.each([
    ['from another origin', { ...ours, origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }, 'POST'],
    ['without an origin', { 'content-type': FORM, cookie }, 'POST'],
    ['with another content type', { ...ours, 'content-type': 'application/json' }, 'POST'],
    ['that was not posted', ours, 'GET'],
  ])('%s is not shown again', async (_, headers, method) => {
    expect(await given(headers, method)).toBeNull();
  });

  test('above the limit is not shown again, also if the page has read it', async () => {
    const body = (length: number) => `name=${'a'.repeat(length - 'name='.length)}`;
    expect(await given(ours, 'POST', body(16 * 1024))).not.toBeNull();
    expect(await given(ours, 'POST', body(16 * 1024 + 1))).toBeNull();
    for (const [length, isNull] of [
      [16 * 1024, false],
      [16 * 1024 + 1, true],
    ] as const) {
      const request = new Request('https://console.test/admin/keys?read=1', {
        method: 'POST',
        headers: ours,
        body: body(length),
      });
      expect((await (await app.request(request)).json()) === null).toBe(isNull);
    }
  });

  test('from an ended session is shown again', async () => {
    const ended = await cookieOf(SECRET, 'admin session', NOW / 1000 - 60);
    expect(await given({ ...ours, cookie: ended })).not.toBeNull();
  });

  test.each([
    ['no cookie', ''],
    ['an invalid cookie', '__Host-gateway-session=a.b.c.d.e'],
    ['a cookie of another gateway', foreign],
    ['a cookie for another purpose', ofSignIn],
  ])('with %s is not read', async (_, other) => {
    const request = new Request('https://console.test/admin/keys', {
      method: 'POST',
      headers: { ...ours, cookie: other },
      body: never(),
      duplex: 'half',
    } as RequestInit);
    expect(await (await app.request(request)).json()).toBeNull();
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
    expect(page).toContain('A private key was removed');
    expect(page).toContain('value="a&quot;&lt;b"');
  });

  test('repeats a public key', async () => {
    expect(String(await shown('{"kty":"EC","crv":"P-256","x":"cHVibGlj"}'))).toContain('cHVibGlj');
  });
});
