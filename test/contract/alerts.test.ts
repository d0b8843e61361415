/** An alert from its cause to a receiver with a certificate, and what staff can do about it, on workerd and on Deno. */
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { describe, expect, test } from 'vitest';

import { until } from '../stack/services/until.ts';
import { signIn } from '../stack/tools/console.ts';
import { useConsole } from '../stack/tools/console-site.ts';
import { RUNTIMES } from '../stack/tools/gateway.ts';
import { useKeyHost } from '../stack/tools/use-key-host.ts';

const isDelivered = (webhook: unknown): boolean => (webhook as { state?: string } | undefined)?.state === 'delivered';

const host = await useKeyHost();

describe.each(RUNTIMES)('on %s', (runtime) => {
  const at = useConsole(runtime, {
    env: { JWKS_TRUSTED_HOSTS: '127.0.0.1', JOB_TICK_SECONDS: '0.2' },
    caCertificate: host.caCertificate,
  });

  test('a notice is posted and signed; the alert can be acknowledged and silenced, which the audit shows', async () => {
    const token = await at.oidc.signToken({ sub: 'alex-4711' });
    const api = (method: string, path: string, body?: object) => at.ask(method, path, body, { 'if-match': '*' }, token);
    const received: { headers: IncomingHttpHeaders; body: string }[] = [];
    const url = host.serve('/alerts', (response, request) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        received.push({ headers: request.headers, body });
        response.writeHead(204).end();
      });
    });
    expect((await api('PATCH', '/site', { alertWebhook: url })).status).toBe(200);
    const { body: webhook } = await api('GET', '/alerts/webhook');
    expect(webhook).toEqual({ site: at.site, url, secret: expect.stringMatching(/^whsec_/) });
    const known = Buffer.from(String(webhook['secret']).replace('whsec_', ''), 'base64');
    const expectSigned = ({ headers, body }: { headers: IncomingHttpHeaders; body: string }): void => {
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', known).update(signed).digest('base64')}`);
    };
    expect((await api('POST', '/alerts/webhook/test')).body).toEqual({ url, isDelivered: true, answer: '204' });
    const [test] = received.splice(0);
    expect(JSON.parse(test?.body ?? '')).toMatchObject({ type: 'alert.test', data: { site: at.site } });
    if (test !== undefined) expectSigned(test);

    const [ring] = (JSON.parse(at.gateway.secrets.env.TOKEN_SIGNING_KEYS) as { keys: { kid: string }[] }).keys;
    await at.db.client.query(
      `insert into signing_key_seen (kid, first_seen) values ($1, now() - interval '2 years')
           on conflict (kid) do update set first_seen = excluded.first_seen`,
      [ring?.kid],
    );
    await until('it is posted', async () => {
      await at.db.client.query('update job set run_after = now()');
      await at.gateway.tick?.();
      return received.length > 0;
    });
    const [notice = { headers: {}, body: '' }] = received;
    expectSigned(notice);
    expect(JSON.parse(notice.body)).toMatchObject({
      type: 'alert.firing',
      data: { site: at.site, kind: 'signing-key-old', subject: ring?.kid, url: `${at.baseUrl}/admin/alerts` },
    });

    const item = async () => ((await api('GET', '/alerts')).body['items'] as Record<string, unknown>[])[0];
    const { alertId, measured, numbers } = { ...(await item()) };
    expect(numbers).toEqual({ firstSeen: expect.any(Number) });
    expect(measured).toMatch(/^In use for 73\d days\.$/);
    // It is noted as delivered after the receiver has answered.
    await until('that is noted', async () => isDelivered((await item())?.['webhook']));
    const act = (what: string, given?: object) => api('POST', `/alerts/${String(alertId)}/${what}`, given);
    expect((await act('acknowledge')).status).toBe(200);
    expect((await act('silence', { minutes: 60 })).status).toBe(200);
    expect(await item()).toMatchObject({
      acknowledged: { by: expect.stringContaining('alex-4711') },
      silenced: { by: expect.stringContaining('alex-4711'), until: expect.any(String) },
      webhook: { state: 'delivered' },
    });
    for (const minutes of [0, 1.5, '60', 1e9]) expect((await act('silence', { minutes })).status).toBe(422);
    expect((await act('unsilence')).status).toBe(200);
    expect((await act('unsilence')).status).toBe(404);
    expect(await item()).toMatchObject({ silenced: null });
    const { rows } = await at.db.client.query(
      `select action, actor, types from audit where action like 'alert-%' order by at`,
    );
    expect(rows).toEqual(
      ['alert-acknowledged', 'alert-silenced', 'alert-unsilenced'].map((action) => ({
        action,
        actor: 'alex-4711',
        types: ['Alert'],
      })),
    );

    const browser = await signIn(at);
    const page = await browser.go(`${at.baseUrl}/admin/alerts`);
    const text = await page.text();
    expect(text).toContain('older than a year');
    expect(text).toMatch(/In use for 73\d days\. <a href="\/admin\/signing-keys">/);
    expect(text).toContain('acknowledged');
    const origin = new URL(at.baseUrl).origin;
    const silenced = await browser.go(`${at.baseUrl}/admin/alerts/${String(alertId)}/silence`, {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams({ minutes: '' }),
    });
    expect(await silenced.text()).toContain('without an end');
    const shown = await (await browser.go(`${at.baseUrl}/admin/alerts/webhook`)).text();
    expect(shown).toContain(String(webhook['secret']));
    const tested = (): Promise<Response> =>
      browser.go(`${at.baseUrl}/admin/alerts/webhook/test`, { method: 'POST', headers: { origin } });
    expect(await (await tested()).text()).toContain('The receiver accepted the test (204).');
    host.serve('/alerts', (response) => response.writeHead(500).end());
    expect(await (await tested()).text()).toContain('The receiver did not accept the test: 500.');
    expect((await api('PATCH', '/site', { alertWebhook: null })).status).toBe(200);
    expect((await api('POST', '/alerts/webhook/test')).status).toBe(422);
    const reader = await at.oidc.signToken({ permissions: ['site.endpoints.read', 'site.alerts.update'] });
    expect((await at.ask('POST', '/alerts/webhook/test', undefined, {}, reader)).status).toBe(403);
  });
});
