/** An alert from its cause to a receiver with a certificate, and what staff can do about it, on workerd and on Deno. */
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { makeAuthority } from '../stack/services/certificate.ts';
import { startKeyHost } from '../stack/services/key-host.ts';
import { createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { signIn, startConsole } from '../stack/tools/console.ts';
import { createTestDatabase } from '../stack/tools/database.ts';
import { onRuntimes } from './on-runtimes.ts';

const isDelivered = (webhook: unknown): boolean => (webhook as { state?: string } | undefined)?.state === 'delivered';

onRuntimes(
  async (runtime) => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-alerts-'));
    const authority = makeAuthority();
    const caCertificate = join(folder, 'authority.pem');
    await writeFile(caCertificate, authority.certificate);
    const host = await startKeyHost(authority.issue(['127.0.0.1']));
    const db = await createTestDatabase();
    const site = await createSite(db.client);
    const env = { JWKS_TRUSTED_HOSTS: '127.0.0.1', JOB_TICK_SECONDS: '0.2' };
    const stack = await startConsole(runtime, db, site, { env, caCertificate });
    const stop = async () => {
      await stack.stop();
      await host.stop();
      await db.drop();
      await rm(folder, { recursive: true });
    };
    return { host, db, site, stack, stop };
  },
  (subject) => {
    test('a notice is posted and signed; the alert can be acknowledged and silenced, which the audit shows', async () => {
      const { host, db, site, stack } = subject();
      const authorization = `Bearer ${await stack.oidc.signToken({ sub: 'alex-4711' })}`;
      const api = async (method: string, path: string, body?: object) => {
        const headers = { authorization, 'content-type': 'application/json', 'if-match': '*' };
        const init = body === undefined ? {} : { body: JSON.stringify(body) };
        const answer = await fetch(`${stack.baseUrl}/admin/api${path}`, { method, headers, ...init });
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
      };
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
      expect(webhook).toEqual({ site, url, secret: expect.stringMatching(/^whsec_/) });

      const [ring] = (JSON.parse(stack.gateway.secrets.env.TOKEN_SIGNING_KEYS) as { keys: { kid: string }[] }).keys;
      await db.client.query(
        `insert into signing_key_seen (kid, first_seen) values ($1, now() - interval '2 years')
           on conflict (kid) do update set first_seen = excluded.first_seen`,
        [ring?.kid],
      );
      await until('it is posted', async () => {
        await db.client.query('update job set run_after = now()');
        await stack.gateway.tick?.();
        return received.length > 0;
      });
      const [{ headers, body } = { headers: {}, body: '' }] = received;
      const known = Buffer.from(String(webhook['secret']).replace('whsec_', ''), 'base64');
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', known).update(signed).digest('base64')}`);
      expect(JSON.parse(body)).toMatchObject({
        type: 'alert.opened',
        data: { site, kind: 'signing-key-old', subject: ring?.kid, url: `${stack.baseUrl}/admin/alerts` },
      });

      const item = async () => ((await api('GET', '/alerts')).body['items'] as Record<string, unknown>[])[0];
      const { alertId } = { ...(await item()) };
      // It is noted as delivered after the receiver has answered.
      await until('that is noted', async () => isDelivered((await item())?.['webhook']));
      const act = (what: string, given?: object) => api('POST', `/alerts/${String(alertId)}/${what}`, given);
      expect((await act('acknowledge')).status).toBe(200);
      expect((await act('mute', { minutes: 60 })).status).toBe(200);
      expect(await item()).toMatchObject({
        acknowledged: { by: expect.stringContaining('alex-4711') },
        muted: { by: expect.stringContaining('alex-4711'), until: expect.any(String) },
        webhook: { state: 'delivered' },
      });
      for (const minutes of [0, 1.5, '60', 1e9]) expect((await act('mute', { minutes })).status).toBe(422);
      expect((await act('unmute')).status).toBe(200);
      expect((await act('unmute')).status).toBe(404);
      expect(await item()).toMatchObject({ muted: null });
      const { rows } = await db.client.query(
        `select action, actor, types from audit where action like 'alert-%' order by at`,
      );
      expect(rows).toEqual(
        ['alert-acknowledged', 'alert-muted', 'alert-unmuted'].map((action) => ({
          action,
          actor: 'alex-4711',
          types: ['Alert'],
        })),
      );

      const browser = await signIn(stack);
      const page = await browser.go(`${stack.baseUrl}/admin/alerts`);
      const text = await page.text();
      expect(text).toContain('older than a year');
      expect(text).toContain('acknowledged');
      const origin = new URL(stack.baseUrl).origin;
      const muted = await browser.go(`${stack.baseUrl}/admin/alerts/${String(alertId)}/mute`, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({ minutes: '' }),
      });
      expect(await muted.text()).toContain('without an end');
      const shown = await (await browser.go(`${stack.baseUrl}/admin/alerts/webhook`)).text();
      expect(shown).toContain(String(webhook['secret']));
    });
  },
);
