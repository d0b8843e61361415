/** A request id finds the reason in the console: each id of equal requests, and the ids of messages. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { clientAssertion, getToken, requestToken } from '../stack/services/client.ts';
import { createApiKey } from '../stack/services/seed.ts';
import { sidecarToken } from '../stack/tools/sidecar-token.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Found {
  readonly items: readonly {
    readonly requestId: string;
    readonly requests: number;
    readonly reason: string;
    readonly controlId: string;
  }[];
}

const adt = (control: string, mrn = 'R-1', processing = 'P'): string =>
  `MSH|^~\\&|ADT|EAST|GW|GW|20261101083000+0100||ADT^A04^ADT_A01|${control}|${processing}|2.5.1\r` +
  `EVN|A04|20261101083000+0100\rPID|1||${mrn}^^^EAST^MR||Lovelace^Ada||19701231|F\r`;

describe.each(ONE_RUNTIME)('a request id, on %s', (runtime) => {
  const at = useConsole(runtime, { key: { protocols: ['hl7', 'fhir'] } });

  const idOf = (response: Response): string => response.headers.get('x-request-id') ?? '';
  const api = (path: string) => at.json<Found>(path);
  /** The log is written some seconds behind the answers. */
  const inRequests = async (id: string) => {
    await expect.poll(async () => (await api(`/requests?q=${id}`)).items.length, { timeout: 30_000 }).toBe(1);
    return (await api(`/requests?q=${id}&range=1h`)).items[0];
  };
  const inMessages = async (id: string): Promise<string[]> =>
    (await api(`/messages?q=${id}`)).items.map(({ controlId }) => controlId);
  const send = async (text: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await at.send(text, headers);
    return { response, ack: await response.text() };
  };

  test('finds the reason of each of three equal token requests, which the caller does not get', async () => {
    const endpoint = `${at.gateway.oauthBaseUrl}/oauth2/token`;
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const assertion = await clientAssertion(at.key, endpoint, { header: { kid: 'other' } });
      const response = await requestToken(at.gateway.oauthBaseUrl, at.key, { client_assertion: assertion });
      expect(response.status).toBe(401);
      expect(await response.text()).not.toContain('kid');
      ids.push(idOf(response));
    }
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) {
      expect(await inRequests(id)).toMatchObject({
        requestId: id,
        reason: expect.stringContaining('kid "other" is not in the JWKS'),
      });
    }
    expect((await api(`/requests?q=${ids[0]}&clientId=svc-${randomUUID()}`)).items).toEqual([]);
    expect((await api(`/api-keys/${at.key.clientId}/refusals?q=${ids[0]}`)).items).toHaveLength(1);
  });

  test('finds each rejected message in Requests and in Messages, and equals ERR-7', async () => {
    const ids: string[] = [];
    for (const control of ['Q-1', 'Q-2', 'Q-2']) {
      const { response, ack } = await send(adt(control, 'R-2', 'X'));
      expect(response.status).toBe(422);
      expect(ack).toContain(`|${idOf(response)}|`);
      ids.push(idOf(response));
    }
    for (const [at, control] of ['Q-1', 'Q-2', 'Q-2'].entries()) {
      expect(await inRequests(ids[at] ?? '')).toMatchObject({ requestId: ids[at] });
      expect(await inMessages(ids[at] ?? '')).toEqual([control]);
    }
    expect((await api(`/messages?q=${ids[0]}&outcome=AR&patient=R-2`)).items).toHaveLength(1);
    expect((await api(`/messages?q=${ids[0]}&patient=R-9`)).items).toEqual([]);
    expect((await api(`/messages?q=${ids[0]}&outcome=AA`)).items).toEqual([]);
  });

  test('finds an accepted message, and an id of a proxy finds all its requests', async () => {
    const { response } = await send(adt('Q-3'));
    expect(await inMessages(idOf(response))).toEqual(['Q-3']);
    for (const control of ['Q-4', 'Q-5']) await send(adt(control), { 'X-Request-Id': 'proxy.always-1' });
    expect(await inMessages('proxy.always-1')).toEqual(['Q-5', 'Q-4']);
    expect(await inMessages('proxy.always')).toEqual([]);
  });

  test('finds for each of two equal FHIR requests why it was rejected', async () => {
    const access = await getToken(at.gateway.oauthBaseUrl, at.key, { scope: 'system/Patient.write' });
    const headers = { Authorization: `Bearer ${access}`, 'Content-Type': 'application/fhir+json' };
    const post = () =>
      fetch(`${at.gateway.fhirBaseUrl}/fhir/Patient`, {
        method: 'POST',
        headers,
        body: '{"resourceType":"Patient","gender":"x"}',
      });
    const [one, other] = [await post(), await post()];
    expect([one.status, other.status]).toEqual([400, 400]);
    expect(await inRequests(idOf(one))).toMatchObject({ requestId: idOf(one) });
    expect(await inRequests(idOf(other))).toMatchObject({ requestId: idOf(other) });
  });

  test('finds the message of a sidecar, and why a sender has no key', async () => {
    const named = await createApiKey(at.db.client, {
      site: at.site,
      protocols: ['hl7-mllp'],
      allowedIps: ['192.0.2.10'],
      senderApplication: 'ADT',
    });
    const forward = async (text: string, requestId: string) => {
      const body = new TextEncoder().encode(text);
      const response = await fetch(`${at.gateway.url}/internal/mllp/messages`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${sidecarToken(at.gateway, body)}`,
          'Content-Type': 'application/hl7-v2',
          'X-Request-Id': requestId,
        },
        body,
      });
      expect(await response.text()).toContain(`|${requestId}|`);
    };
    const [refused, unknown] = [randomUUID(), randomUUID()];
    await forward(adt('Q-6', 'R-6', 'X'), refused);
    expect(await inRequests(refused)).toMatchObject({ requestId: refused, clientId: named.clientId });
    expect(await inMessages(refused)).toEqual(['Q-6']);
    await forward(adt('Q-7').replace('|ADT|', '|OTHER|'), unknown);
    expect(await inRequests(unknown)).toMatchObject({ code: 'no-key', clientId: named.clientId });
    expect(await inMessages(unknown)).toEqual([]);
  });

  test('without a key is kept without a site, and contains the time of the request', async () => {
    const before = Date.now();
    const response = await fetch(`${at.gateway.fhirBaseUrl}/fhir/Patient`);
    expect(response.status).toBe(401);
    const id = idOf(response);
    expect(Math.abs(Number.parseInt(id.replace('-', '').slice(0, 12), 16) - before)).toBeLessThan(60_000);
    expect((await api(`/requests?q=${id}`)).items).toEqual([]);
  });
});
