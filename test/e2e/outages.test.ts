/**
 * Each part is stopped and started again while the doctor, /metrics, the console's Health and Alerts, and a receiver of
 * webhooks watch. The parts are real. For a rule that needs minutes of the clock, the test backdates the rows.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { makeAuthority } from '../stack/services/certificate.ts';
import { requestToken } from '../stack/services/client.ts';
import { freePort } from '../stack/services/free-port.ts';
import { jwks, type KeyHost, startKeyHost } from '../stack/services/key-host.ts';
import { type OidcProvider, startOidcProvider } from '../stack/services/oidc-provider.ts';
import { runProgram } from '../stack/tools/command-line.ts';
import { makeSecrets } from '../stack/services/secrets.ts';
import { type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';
import { type SidecarProcess, startSidecar } from '../stack/services/sidecar.ts';
import { until } from '../stack/services/until.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { type Gateway, type Runtime, startGateway } from '../stack/tools/gateway.ts';
import { signIn } from '../stack/tools/console.ts';
import type { HttpBrowser } from '../stack/tools/http-browser.ts';
import { sidecarMetrics } from '../stack/tools/sidecar-metrics.ts';
import { type SilentProxy, startSilentProxy } from '../stack/tools/silent-proxy.ts';

describe.each<Runtime>(['deno', 'workerd'])('each part is pulled out, on %s', (runtime) => {
  let db: TestDatabase;
  let proxy: SilentProxy;
  let host: KeyHost;
  let oidc: OidcProvider;
  let gateway: Gateway;
  let sidecar: SidecarProcess;
  let browser: HttpBrowser;
  let adminToken: string;
  let key: ApiKey;
  let folder: string;
  let start: () => Promise<Gateway>;
  let startWard: () => Promise<SidecarProcess>;
  /** `alert.firing provider-away`, as it was posted. */
  const posted: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-outages-'));
    const authority = makeAuthority();
    const caCertificate = join(folder, 'authority.pem');
    await writeFile(caCertificate, authority.certificate);
    host = await startKeyHost(authority.issue(['127.0.0.1']));
    db = await createTestDatabase();
    const overTcp = runtime === 'deno';
    proxy = await startSilentProxy(overTcp ? db.endpoint.wirePort : db.endpoint.port);
    const site = await createSite(db.client);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    oidc = await startOidcProvider({ adminBaseUrl: url, site });
    const databaseUrl = new URL(db.url);
    databaseUrl.port = String(proxy.port);
    const secrets = await makeSecrets();
    const env = {
      ...oidc.env,
      ADMIN_PUBLIC_BASE_URL: url,
      INTEGRATION_DOCS_URL: `${url}/docs`,
      INTEGRATION_HL7_MTTP_DOMAIN: 'mllp.example',
      INTEGRATION_HL7_MTTP_PORT: '2575',
      JWKS_TRUSTED_HOSTS: '127.0.0.1',
      JOB_TICK_SECONDS: '0.2',
      ...(overTcp
        ? { DATABASE_URL: databaseUrl.href }
        : { DATABASE_FETCH_ENDPOINT: `http://127.0.0.1:${proxy.port}/sql` }),
    };
    start = () => startGateway({ runtime, database: db, port, secrets, caCertificate, env });
    gateway = await start();
    startWard = () =>
      startSidecar({ edgeUrl: url, privateKey: secrets.sidecarPrivateKey, env: { SIDECAR_NAME: 'ward' } });
    sidecar = await startWard();
    await createApiKey(db.client, { site, protocols: ['hl7-mllp'], allowedIps: ['127.0.0.1'] });
    const jwksUri = host.serve('/jwks', (response) => response.writeHead(503).end());
    key = await createApiKey(db.client, { site, name: 'Laboratory', jwksUri });
    const webhook = host.serve('/alerts', (response, request) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const { type, data } = JSON.parse(body) as { type: string; data: { kind: string } };
        posted.push(`${type} ${data.kind}`);
        response.writeHead(204).end();
      });
    });
    await db.client.query('update site set alert_webhook = $1', [webhook]);
    adminToken = await oidc.adminToken();
    browser = await signIn({ baseUrl: url, oidc });
    await until('the sidecar is known', async () => (await metrics()).includes('sidecar="ward"'));
  });
  afterAll(async () => {
    await sidecar?.kill();
    await gateway?.kill();
    await oidc?.stop();
    await proxy?.close();
    await host?.stop();
    await db?.drop();
    await rm(folder, { recursive: true });
  });

  /** @returns its exit code, and its standard output */
  const doctor = async (): Promise<readonly [code: number | null, output: string]> => {
    const { code, stdout } = await runProgram('doctor', [gateway.url], { ADMIN_TOKEN: adminToken });
    return [code, stdout];
  };
  const scrape = () =>
    fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${gateway.secrets.env.METRICS_TOKEN}` } });
  const metrics = async (): Promise<string> => (await scrape()).text();
  const page = async (path: string) => {
    const answer = await browser.go(`${gateway.url}/admin/${path}`);
    return { status: answer.status, text: await answer.text() };
  };

  /** Makes the known times older, so that the test need not wait. */
  const pass = async (minutes: number): Promise<void> => {
    for (const [table, column] of [
      ['alert', 'clear_since'],
      ['alert', 'notified_at'],
      ['refusal', 'since'],
      ['refusal', 'last_at'],
    ]) {
      await db.client.query(`update ${table} set ${column} = ${column} - make_interval(mins => $1)`, [minutes]);
    }
    await db.client.query('update alert_notice set next_at = now() where delivered_at is null');
  };
  /** The work that is due once a minute is due now. */
  const work = async (): Promise<void> => {
    await db.client.query('update job set run_after = now()');
    await gateway.tick?.();
  };
  const firingIn = (text: string, kind: string): boolean =>
    new RegExp(`^gateway_alerts\\{site="[^"]+",kind="${kind}",state="firing"\\} 1$`, 'm').test(text);

  /** @param title how the console calls it */
  async function alerted(kind: string, title: string): Promise<void> {
    await until(`${kind} fires and is posted`, async () => {
      await work();
      return firingIn(await metrics(), kind) && posted.includes(`alert.firing ${kind}`);
    });
    expect((await page('alerts')).text).toContain(title);
    const health = await page('health');
    expect(health.text).toContain(title);
    expect(health.text).toContain('problem');
  }

  async function resolved(kind: string, title: string): Promise<void> {
    await until(`${kind} is resolved and posted`, async () => {
      await pass(20);
      await work();
      return !firingIn(await metrics(), kind) && posted.includes(`alert.resolved ${kind}`);
    });
    expect((await page('alerts')).text).not.toContain(title);
    expect((await page('alerts?state=resolved')).text).toContain(title);
  }

  const allIsWell = async (): Promise<void> => {
    const [code, output] = await doctor();
    expect([code, output]).toEqual([0, expect.not.stringContaining('BAD')]);
    expect((await page('health')).text).toContain('No known problems.');
  };

  test('the OpenID provider', async () => {
    await allIsWell();
    const title = 'The staff’s OpenID provider does not answer';
    oidc.setAway(true);
    await alerted('provider-away', title);
    expect(await doctor()).toEqual([1, expect.stringMatching(/^BAD +OpenID provider /m)]);
    oidc.setAway(false);
    await resolved('provider-away', title);
  });

  test('the JWKS URI of a key', async () => {
    const title = 'The JWKS URI of an API key cannot be used';
    for (let times = 1; times <= 3; times += 1) {
      expect((await requestToken(gateway.oauthBaseUrl, key)).status).toBe(401);
    }
    await alerted('jwks-uri-failing', title);
    expect((await page('alerts')).text).toContain('Laboratory');
    expect(await doctor()).toEqual([1, expect.stringMatching(/^BAD +alerts +1 firing: The JWKS URI of/m)]);
    const { d: _, ...publicJwk } = key.privateJwk;
    host.serve('/jwks', jwks([publicJwk]));
    await resolved('jwks-uri-failing', title);
  });

  test('the sidecar, then the edge, and both come back', async () => {
    const title = 'An MLLP sidecar does not call';
    await sidecar.kill();
    await db.client.query("update sidecar_seen set last_seen = last_seen - interval '6 minutes'");
    await until('the watching has no gap, even during a run in progress', async () => {
      await db.client.query(
        `update job set cursor = jsonb_set(cursor::jsonb, '{since}', '0')::json where kind = 'alerts'`,
      );
      await work();
      return firingIn(await metrics(), 'sidecar-silent');
    });
    await alerted('sidecar-silent', title);
    expect(await doctor()).toEqual([1, expect.stringMatching(/^BAD +sidecar ward +silent for \d+ minutes/m)]);

    await gateway.kill();
    sidecar = await startWard();
    expect(await doctor()).toEqual([1, expect.stringMatching(/^BAD +ready /m)]);
    await expect(scrape()).rejects.toThrow();
    const ready = async () => (await fetch(`http://127.0.0.1:${sidecar.healthPort}/readyz`)).status;
    const reaches = async () => (await sidecarMetrics(sidecar.healthPort)).get('mllp_edge_reachable');
    expect([await ready(), await reaches()]).toEqual([503, 0]);

    gateway = await start();
    await until('the sidecar reaches it', async () => (await reaches()) === 1);
    expect(await ready()).toBe(200);
    await resolved('sidecar-silent', title);
    await allIsWell();
  });

  test('the database', async () => {
    const lines = (event: string) =>
      gateway
        .logs()
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { level: string; event: string; subject?: string })
        .filter((line) => line.event === event && line.subject === 'database')
        .map(({ level }) => level);
    proxy.hangUp();
    // Readiness is remembered for a second.
    await until('it is not ready', async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
    expect(await doctor()).toEqual([1, expect.stringMatching(/^BAD +ready +the database cannot be reached/m)]);
    expect(await metrics()).toContain('gateway_database_up 0\n');
    expect((await page('health')).status).toBe(503);
    await until('its absence is logged', () => lines('dependency.away').length > 0);
    expect(lines('dependency.away')).toEqual(['error']);
    proxy.speak();
    await until('it is ready', async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
    await until('its return is logged', () => lines('dependency.back').length > 0);
    expect(lines('dependency.back')).toEqual(['info']);
    await allIsWell();
    // Nothing was an alert that was the gateway's own break.
    expect(posted.filter((each) => each.startsWith('alert.firing'))).toHaveLength(3);
  });
});
