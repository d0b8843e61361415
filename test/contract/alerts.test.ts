/**
 * The gateway posts alerts and notifications of subscriptions to receivers with a certificate, and staff act on them. On
 * workerd and on Deno.
 */
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { describe, expect, test } from 'vitest';

import { FORBIDDEN_URLS } from '../inputs/foreign-urls.ts';
import { getToken } from '../stack/services/client.ts';
import { createApiKey } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { signIn } from '../stack/tools/console.ts';
import { useConsole } from '../stack/tools/console-site.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';
import { useKeyHost } from '../stack/tools/use-key-host.ts';

const isDelivered = (webhook: unknown): boolean => (webhook as { state?: string } | undefined)?.state === 'delivered';

interface Parameter {
  readonly name: string;
  readonly valueCode?: string;
  readonly part?: readonly { readonly valueString?: string }[];
}

const host = await useKeyHost();

describe.each(ONE_RUNTIME)('on %s', (runtime) => {
  const at = useConsole(runtime, {
    env: { FHIR_SUBSCRIPTIONS: 'on', JWKS_TRUSTED_HOSTS: '127.0.0.1', JOB_TICK_SECONDS: '0.2' },
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

  test('staff create, watch, pause, resume, repeat, test and delete a subscription; the audit has each', async () => {
    const { client } = at.db;
    const scopes = ['system/Patient.read', 'system/Patient.write'];
    const hosts = [`127.0.0.1:${host.port}`];
    const key = await createApiKey(client, { site: at.site, name: 'Registry', scopes, subscriptionHosts: hosts });
    const fhirToken = await getToken(at.gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
    const fhir = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${at.gateway.fhirBaseUrl}/fhir${path}`, {
        method,
        headers: { authorization: `Bearer ${fhirToken}`, 'content-type': 'application/fhir+json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const write = async (family: string) =>
      expect((await fhir('POST', '/Patient', { resourceType: 'Patient', name: [{ family }] })).status).toBe(201);

    const received: { type: string; events: number[]; key: unknown }[] = [];
    const answers: (number | Promise<number>)[] = [];
    const url = host.serve('/registry/secret-path', (response, request) => {
      let text = '';
      request.on('data', (chunk) => (text += String(chunk)));
      request.on('end', () => {
        const { entry } = JSON.parse(text) as { entry: { resource: { parameter: Parameter[] } }[] };
        const all = entry[0]?.resource.parameter ?? [];
        const events = all.flatMap(({ name, part = [] }) =>
          name === 'notification-event' ? [Number(part[0]?.valueString)] : [],
        );
        const type = all.find(({ name }) => name === 'type')?.valueCode ?? '';
        received.push({ type, events, key: request.headers['x-api-key'] });
        void Promise.resolve(answers.shift() ?? 200).then((status) => response.writeHead(status).end());
      });
    });
    const got = (first = 0) => received.slice(first).flatMap(({ events }) => events);

    const wanted = { clientId: key.clientId, type: 'Patient', filter: 'name=Ada', endpoint: url, reason: 'registry' };
    for (const [change, place] of [
      [{ filter: 'nothing=x' }, 'filter'],
      [{ type: 'Observation', filter: '' }, 'type'],
      [{ type: 'Provenance', filter: '' }, 'type'],
      [{ endpoint: 'https://hooks.example.org/' }, 'endpoint'],
      ...FORBIDDEN_URLS.map((endpoint) => [{ endpoint }, 'endpoint'] as const),
      [{ headers: ['Host: inside.example'] }, 'headers'],
      [{ heartbeatSeconds: 5 }, 'heartbeatSeconds'],
      [{ reason: ' ' }, 'reason'],
      [{ since: '2001-01-01T00:00:00Z' }, 'since'],
    ] as const) {
      const refused = await at.ask('POST', '/subscriptions', { ...wanted, ...change });
      expect([refused.status, refused.body['errors']], JSON.stringify(change)).toEqual([
        422,
        [expect.objectContaining({ field: place })],
      ]);
    }
    const created = await at.ask('POST', '/subscriptions', { ...wanted, headers: ['X-API-Key: of the receiver'] });
    expect([created.status, created.body]).toEqual([201, expect.objectContaining({ status: 'requested' })]);
    expect(created.body['secret']).toMatch(/^whsec_/);
    const id = String(created.body['subscriptionId']);
    const show = async (as?: string) => (await at.ask('GET', `/subscriptions/${id}`, undefined, {}, as)).body;
    const change = async (what: string, body?: object) => at.ask('POST', `/subscriptions/${id}/${what}`, body);
    const is = (expected: object) =>
      until(JSON.stringify(expected), async () => {
        const shown = await show();
        return Object.entries(expected).every(([name, value]) => shown[name] === value);
      });
    await is({ status: 'active' });
    // The client sees it as its own.
    expect((await fhir('GET', '/Subscription')).body).toMatchObject({ total: 1, entry: [{ resource: { id } }] });
    await write('Ada');
    await is({ delivered: 1 });
    expect(await show()).toMatchObject({
      ...wanted,
      keyName: 'Registry',
      hasHeaders: true,
      host: hosts[0],
      blockedBy: null,
      lag: { events: 0, seconds: 0 },
      throughput: { hour: 1, day: 1 },
      lastAnswer: '200',
      nextAt: null,
      error: null,
    });
    expect(await show()).not.toHaveProperty('secret');
    // The filter may name a patient, the address may hold a secret.
    const watcher = await at.oidc.signToken({ permissions: ['site.endpoints.read'] });
    expect(await show(watcher)).toMatchObject({ filter: null, filterParameters: ['name'], endpoint: null });
    for (const what of ['pause', 'resume', 'test', 'delete'])
      expect((await at.ask('POST', `/subscriptions/${id}/${what}`, undefined, {}, watcher)).status).toBe(403);

    // Paused while a post is under way: its result counts, and nothing follows it.
    const held = Promise.withResolvers<number>();
    answers.push(held.promise);
    await write('Ada');
    await until('the post is under way', async () => received.length === 3);
    expect((await change('pause')).body).toMatchObject({ status: 'off', isPosting: true });
    await write('Ada');
    held.resolve(200);
    await is({ delivered: 2, lastEvent: 3, isPosting: false });
    expect(await show()).toMatchObject({ status: 'off', lag: { events: 1 }, nextAt: null });
    expect(got()).toEqual([1, 2]);
    expect((await change('pause')).status).toBe(200);
    expect((await change('resume')).body).toMatchObject({ status: 'requested' });
    await is({ delivered: 3, status: 'active' });
    expect(got()).toEqual([1, 2, 3]);

    // Paused and resumed while a post is under way: a handshake follows it.
    const setHeartbeat = (seconds: number | null) =>
      client.query(
        `update subscription set heartbeat_seconds = $2, tried_at = now() - interval '1 hour' where subscription_id = $1`,
        [id, seconds],
      );
    for (const kind of ['event-notification', 'heartbeat']) {
      const [from, open] = [received.length, Promise.withResolvers<number>()];
      answers.push(open.promise);
      if (kind === 'event-notification') await write('Ada');
      else await setHeartbeat(60);
      await until('the post is under way', async () => received.length > from);
      await change('pause');
      await change('resume');
      open.resolve(200);
      await is({ status: 'active', isPosting: false });
      expect(received.slice(from).map(({ type }) => type)).toEqual([kind, 'handshake']);
      await setHeartbeat(null);
    }

    // Sent again from a number.
    for (const from of [0, 5, 1.5, '1', undefined]) expect((await change('resend', { from })).status).toBe(422);
    const again = received.length;
    expect((await change('resend', { from: 2 })).body).toMatchObject({ delivered: 1, lag: { events: 3 } });
    await is({ delivered: 4 });
    expect(got(again)).toEqual([2, 3, 4]);

    // Sent again while a post is under way: the next one follows its end, not the end of its time.
    const [before, last] = [received.length, Promise.withResolvers<number>()];
    answers.push(last.promise);
    await change('resend', { from: 4 });
    await until('the post is under way', async () => received.length > before);
    await change('resend', { from: 3 });
    await client.query(`update subscription set lease_until = now() + interval '1 hour' where subscription_id = $1`, [
      id,
    ]);
    last.resolve(200);
    await is({ delivered: 4, isPosting: false });
    expect(got(again)).toEqual([2, 3, 4, 4, 3, 4]);

    // A test changes nothing.
    const tests = received.length;
    answers.push(200, 500);
    expect((await change('test')).body).toEqual({ notification: 'heartbeat', isDelivered: true, answer: '200' });
    expect((await change('test')).body).toEqual({ notification: 'heartbeat', isDelivered: false, answer: '500' });
    expect(received.slice(tests)).toEqual([
      { type: 'heartbeat', events: [], key: 'of the receiver' },
      { type: 'heartbeat', events: [], key: 'of the receiver' },
    ]);
    expect(await show()).toMatchObject({ status: 'active', lastAnswer: '200', attempts: 0 });

    // A receiver that wants no more, and a resume after the error.
    answers.push(410);
    await write('Ada');
    await is({ status: 'error' });
    expect(await show()).toMatchObject({ lastAnswer: '410', error: expect.stringContaining('410'), nextAt: null });
    expect((await change('resume')).status).toBe(200);
    await is({ delivered: 5, status: 'active', error: null });

    // The key has lost the host: nothing may be posted, not by a test either.
    await client.query(`update api_key set subscription_hosts = '{}' where client_id = $1`, [key.clientId]);
    const count = received.length;
    expect((await change('pause')).body).toMatchObject({ status: 'off', blockedBy: 'host' });
    for (const what of ['resume', 'test']) expect((await change(what)).status).toBe(409);
    expect(received).toHaveLength(count);
    await client.query('update api_key set subscription_hosts = $2 where client_id = $1', [key.clientId, hosts]);
    await client.query(`update subscription set ends_at = now() where subscription_id = $1`, [id]);
    expect((await change('resume')).status).toBe(409);
    expect(await show()).toMatchObject({ status: 'off', hasEnded: true });

    const listed = async (query: string) => (await at.ask('GET', `/subscriptions?${query}`)).body['items'];
    expect(await listed(`clientId=${key.clientId}&status=off`)).toMatchObject([{ subscriptionId: id }]);
    expect(await listed('status=active')).toEqual([]);
    expect((await change('delete')).body).toEqual({ subscriptionId: id });
    expect((await at.ask('GET', `/subscriptions/${id}`)).status).toBe(404);
    expect((await change('delete')).status).toBe(404);
    const { rows } = await client.query<{ action: string }>(
      `select action from audit where site_id = $1 and 'Subscription' = any (types) order by at`,
      [at.site],
    );
    const [pause, resume] = ['subscription-paused', 'subscription-resumed'];
    expect(rows.map(({ action }) => action)).toEqual([
      'create',
      pause,
      pause,
      resume,
      pause,
      resume,
      pause,
      resume,
      'subscription-resent',
      'subscription-resent',
      'subscription-resent',
      resume,
      pause,
      'subscription-deleted',
    ]);

    // A site's file makes one too, whose secret only that answer has.
    const posts: { headers: IncomingHttpHeaders; body: string }[] = [];
    const hook = host.serve('/by-file', (response, request) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        posts.push({ headers: request.headers, body });
        response.writeHead(204).end();
      });
    });
    const entry = { apiKey: 'Registry', type: 'Patient', endpoint: hook, reason: 'by file' };
    const file = { format: 1, subscriptions: [entry] };
    const { body: plan } = await at.ask('POST', '/plan', { file });
    const { body: applied } = await at.ask('POST', '/apply', { file, fingerprint: plan['fingerprint'] });
    const [made] = applied['subscriptions'] as { readonly subscriptionId: string; readonly secret: string }[];
    await until('the handshake', async () => posts.length > 0);
    const [{ headers, body }] = posts as [(typeof posts)[0]];
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    const secret = Buffer.from(String(made?.secret).replace('whsec_', ''), 'base64');
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', secret).update(signed).digest('base64')}`);
    expect((await at.ask('POST', '/apply', { file, fingerprint: 'x' })).body).toMatchObject({
      changes: [],
      subscriptions: [],
    });
    expect((await at.ask('GET', '/export')).body).toMatchObject({
      subscriptions: [{ ...entry, filter: '', payload: 'id-only', status: 'on' }],
    });
    await at.ask('POST', `/subscriptions/${String(made?.subscriptionId)}/delete`);
  });

  test('the pages create a subscription, show its secret once, test, pause, repeat and delete it', async () => {
    const hosts = [`127.0.0.1:${host.port}`];
    const key = await createApiKey(at.db.client, { site: at.site, name: 'Paged', subscriptionHosts: hosts });
    const url = host.serve('/paged', (response) => void response.writeHead(204).end());
    const browser = await signIn(at);
    const page = async (path: string, form?: Readonly<Record<string, string>>) => {
      const init = form && {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: { origin: new URL(at.baseUrl).origin },
      };
      const answer = await browser.go(`${at.baseUrl}/admin${path}`, init);
      return { status: answer.status, text: await answer.text() };
    };
    expect((await page(`/keys/${key.clientId}`)).text).toContain(`/admin/subscriptions?clientId=${key.clientId}`);
    const protocols = ['hl7'];
    const other = await createApiKey(at.db.client, { site: at.site, name: 'Hl7', subscriptionHosts: hosts, protocols });
    const form = (await page(`/subscriptions/new?clientId=${key.clientId}`)).text;
    expect(form).toContain('Create subscription');
    expect([form.includes(key.clientId), form.includes(other.clientId)]).toEqual([true, false]);
    const wanted = {
      clientId: key.clientId,
      type: 'Patient',
      filter: '',
      endpoint: url,
      payload: 'id-only',
      reason: 'x',
    };
    const more = { heartbeatSeconds: '', since: '' };
    const refused = await page('/subscriptions', {
      ...wanted,
      ...more,
      endpoint: 'https://10.0.0.1/',
      heartbeatSeconds: '5',
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('must be a whole number from 60 to 86400');
    const created = await page('/subscriptions', { ...wanted, ...more });
    expect(created.text).toMatch(/whsec_[\w+/=]+/);
    const id = /\/admin\/subscriptions\/([0-9a-f-]{36})\/test/.exec(created.text)?.[1] ?? '';
    const shown = () => page(`/subscriptions/${id}`);
    expect((await shown()).text).not.toContain('whsec_');
    const isActive = async () => (await shown()).text.includes('>active<');
    await until('it is active', isActive);
    expect((await page(`/subscriptions/${id}/test`, {})).text).toContain('The receiver accepted the heartbeat (204).');
    expect((await page(`/subscriptions/${id}/pause`, {})).text).toContain('The subscription is paused.');
    expect((await page(`/subscriptions?clientId=${key.clientId}`)).text).toContain('>paused<');
    // The next page may show the handshake that follows already.
    expect((await page(`/subscriptions/${id}/resume`, {})).text).toContain(
      'The gateway posts the next notification now.',
    );
    await until('it is active again', isActive);
    expect((await page(`/subscriptions/${id}/resend`, { from: '7' })).status).toBe(422);
    expect((await page(`/subscriptions/${id}/delete`, {})).text).toContain('The subscription is deleted.');
    expect((await shown()).status).toBe(404);
  });
});
