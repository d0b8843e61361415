/** The log line of a request: its client, and whether a person is needed. The same on workerd and on Deno. */
import { readFile } from 'node:fs/promises';

import { describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { getToken } from '../stack/services/client.ts';
import { until } from '../stack/services/until.ts';
import { RUNTIMES } from '../stack/tools/gateway.ts';
import { sidecarToken } from '../stack/tools/sidecar-token.ts';

type Line = Readonly<Record<string, unknown>>;

describe.each(RUNTIMES)('the log on %s', (runtime) => {
  let requests = 0;

  const at = useConsole(runtime, {
    key: { protocols: ['fhir', 'hl7', 'hl7-mllp'], allowedIps: ['192.0.2.10'] },
    // HL7 over HTTP is not configured, and meant so.
    env: { INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: '' },
  });

  /** All lines of one request, the last of which is its access line. */
  const linesOf = async (
    path: string,
    bearer: string,
    body?: Uint8Array<ArrayBuffer>,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Line[]> => {
    requests += 1;
    const requestId = `request-${String(requests).padStart(4, '0')}`;
    const headers = { authorization: `Bearer ${bearer}`, 'x-request-id': requestId, ...more };
    await fetch(`${at.gateway.url}${path}`, { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
    const logged = () =>
      at.gateway
        .logs()
        .filter((line) => line.includes(requestId))
        .map((line) => JSON.parse(line) as Line);
    await until('the request is logged', () => logged().some(({ event }) => event === 'http.request'));
    return logged();
  };

  test('a request of a client has its id and its site', async () => {
    const token = await getToken(at.gateway.oauthBaseUrl, at.key, { audience: 'svc-fhir' });
    const { clientId } = at.key;
    const [line, ...more] = await linesOf('/fhir/Patient', token);
    expect(line).toMatchObject({ event: 'http.request', clientId, site: at.site, databaseRequests: 1 });
    expect(line?.['databaseMs']).toEqual(expect.any(Number));
    expect(Number(line?.['databaseMs'])).toBeLessThanOrEqual(Number(line?.['durationMs']));
    expect([more, line?.['bytes']]).toEqual([[], undefined]);
  });

  test('so has a message from a sidecar, whose token names neither', async () => {
    const message = Uint8Array.from(await readFile(new URL('../messages/demo/adt-a04.hl7', import.meta.url)));
    const { clientId } = at.key;
    expect(await linesOf('/internal/mllp/messages', sidecarToken(at.gateway, message), message)).toMatchObject([
      { event: 'hl7.message', clientId, site: at.site, detail: 'AA' },
      { event: 'http.request', clientId, site: at.site, bytes: message.length },
    ]);
  });

  test('each of several simultaneous requests logs only its database requests', async () => {
    const token = await getToken(at.gateway.oauthBaseUrl, at.key, { audience: 'svc-fhir' });
    const together = Array.from({ length: 10 }, () => linesOf('/fhir/Patient', token));
    const lines = await Promise.all(together);
    expect(lines.map(([line]) => line?.['databaseRequests'])).toEqual(lines.map(() => 1));
  });

  test('a request continues its trace, or begins a trace', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceOf = async (traceparent: string) => {
      const [line] = await linesOf('/fhir/metadata', '', undefined, { traceparent, tracestate: 'patient=Doe^Jane' });
      expect([line?.['status'], JSON.stringify(line)]).toEqual([200, expect.not.stringContaining('Doe')]);
      return line;
    };
    const parentSpanId = '00f067aa0ba902b7';
    expect(await traceOf(`00-${traceId}-${parentSpanId}-01`)).toMatchObject({ traceId, parentSpanId });
    const begun = await traceOf(`00-${'0'.repeat(32)}-${parentSpanId}-01`);
    expect(begun).toMatchObject({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(begun).not.toHaveProperty('parentSpanId');
  });

  test('a request of the staff names the person', async () => {
    const token = await at.oidc.signToken({ sub: 'alex-4711' });
    expect(await linesOf('/admin/api/api-keys', token)).toMatchObject([
      { event: 'http.request', surface: 'admin', actor: 'alex-4711', site: at.site },
    ]);
  });

  test('a surface that is not configured is not an error: no person is needed', async () => {
    const lines = await linesOf('/hl7/messages', 'none', new Uint8Array(1));
    expect(lines).toMatchObject([
      { event: 'fault', level: 'warn', fault: 'unavailable' },
      { event: 'http.request', level: 'info', status: 503 },
    ]);
  });
});
