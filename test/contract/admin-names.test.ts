/** Names that messages use and nobody has given a URI: listed, named in the console, and their messages found, on both runtimes. */
import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { getToken } from '../stack/services/client.ts';
import { PERMISSIONS } from '../stack/services/oidc-accounts.ts';
import { type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';
import { startConsole, type TestConsole } from '../stack/tools/console.ts';
import { createTestDatabase, type TestDatabase } from '../stack/tools/database.ts';
import { RUNTIMES } from '../stack/tools/gateway.ts';

interface Name {
  readonly kind: string;
  readonly name: string;
  readonly system: string | null;
  readonly messages: number;
  readonly lastMessageId: string;
}

const READ = ['site.messages.read'];

describe.each(RUNTIMES)('names without a URI on %s', (runtime) => {
  let db: TestDatabase;
  let site: string;
  let otherSite: string;
  let stack: TestConsole;
  let key: ApiKey;

  beforeAll(async () => {
    db = await createTestDatabase();
    site = await createSite(db.client, { name: 'North' });
    otherSite = await createSite(db.client, { name: 'South' });
    stack = await startConsole(runtime, db, site);
    key = await createApiKey(db.client, { site, name: 'Laboratory', protocols: ['hl7'] });
    for (const [issuer, system] of [
      ['EAST', '99LAB'],
      ['East', '99lab'],
      ['WEST', 'LN'],
    ]) {
      await send(
        `PID|1||${randomUUID()}^^^${issuer}^MR||Doe^Jane\rOBR|1||${randomUUID()}|1^x^LN|||20260701`,
        system ?? '',
      );
    }
  });
  afterAll(async () => {
    await stack.stop();
    await db.drop();
  });

  const send = async (segments: string, system: string): Promise<void> => {
    const token = await getToken(stack.gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
    const answer = await fetch(`${stack.gateway.hl7BaseUrl}/hl7/messages`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/plain' },
      body: `MSH|^~\\&|LAB|EAST|GW|GW|20260701093000+0000||ORU^R01^ORU_R01|${randomUUID().slice(0, 20)}|P|2.5.1\r${segments}\rOBX|1|ST|GLU^Glucose^${system}||5||||||F\r`,
    });
    expect(answer.status, await answer.clone().text()).toBe(200);
  };

  const call = async (path: string, permissions: readonly string[], init: RequestInit = {}, of = site) => {
    const token = await stack.oidc.signToken({ site: of, permissions });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'If-Match': '*' };
    return fetch(`${stack.baseUrl}/admin/api${path}`, { ...init, headers });
  };
  const list = async (query = '', of = site): Promise<{ items: Name[]; next: string | null }> => {
    const response = await call(`/unnamed-names${query}`, READ, {}, of);
    expect(response.status).toBe(200);
    return (await response.json()) as { items: Name[]; next: string | null };
  };

  test('are listed by kind and name, whatever their capitals, with their messages; page by page', async () => {
    const { items, next } = await list();
    expect(next).toBeNull();
    expect(items).toMatchObject([
      { kind: 'authority', name: 'EAST', system: null, messages: 2, lastKeyName: 'Laboratory' },
      { kind: 'authority', name: 'WEST', system: null, messages: 1 },
      { kind: 'code-system', name: '99LAB', system: null, messages: 2, lastClientId: key.clientId },
    ]);
    const first = await list('?limit=2');
    const second = await list(`?limit=2&cursor=${first.next}`);
    expect([...first.items, ...second.items]).toEqual(items);
    expect(second.next).toBeNull();
  });

  test('lead to the messages that have them', async () => {
    const found = async (query: string) => {
      const response = await call(`/messages?${query}`, READ);
      expect(response.status).toBe(200);
      return ((await response.json()) as { items: { messageId: string }[] }).items.map(({ messageId }) => messageId);
    };
    const [east] = (await list()).items;
    const concerned = await found('unnamed=authority:east');
    expect(concerned).toHaveLength(2);
    expect(concerned[0]).toBe(east?.lastMessageId);
    expect(await found('unnamed=code-system:EAST')).toEqual([]);
    expect(await found('unnamed=authority:EAST&q=LAB&type=ORU')).toHaveLength(2);
    expect((await call('/messages?unnamed=EAST', READ)).status).toBe(400);
  });

  test('once they are named say so until their messages are processed again', async () => {
    const system = 'urn:oid:1.2.3';
    const body = JSON.stringify({ assigningAuthorities: [{ namespace: 'West', system }] });
    expect((await call('/site', PERMISSIONS, { method: 'PATCH', body })).status).toBe(200);
    const west = (await list()).items.find(({ name }) => name === 'WEST');
    expect(west).toMatchObject({ system, messages: 1 });
    const replayed = await call(`/messages/${west?.lastMessageId}/replay`, PERMISSIONS, {
      method: 'POST',
      body: JSON.stringify({ apply: 'newest' }),
    });
    expect(replayed.status).toBe(200);
    expect((await list()).items.map(({ name }) => name)).toEqual(['EAST', '99LAB']);
  });

  test('are of the caller’s site, and for those who may see messages', async () => {
    expect(await list('', otherSite)).toEqual({ items: [], next: null });
    expect((await call('/unnamed-names', ['site.settings.update'])).status).toBe(403);
    const foreign = await call('/messages?unnamed=authority:EAST', READ, {}, otherSite);
    expect(await foreign.json()).toEqual({ items: [], next: null });
  });
});
