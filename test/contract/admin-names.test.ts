/** Unmapped names of messages: listed, mapped in the console, and their messages found. */
import { randomUUID } from 'node:crypto';

import { beforeAll, describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { PERMISSIONS } from '../stack/services/oidc-accounts.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Name {
  readonly kind: string;
  readonly name: string;
  readonly system: string | null;
  readonly messages: number;
  readonly lastMessageId: string;
}

const READ = ['site.messages.read'];

describe.each(ONE_RUNTIME)('names without a URI on %s', (runtime) => {
  const at = useConsole(runtime, {
    site: { name: 'North' },
    otherSite: { name: 'South' },
    key: { name: 'Laboratory', protocols: ['hl7'] },
  });
  beforeAll(async () => {
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

  const send = async (segments: string, system: string): Promise<void> => {
    const answer = await at.send(
      `MSH|^~\\&|LAB|EAST|GW|GW|20260701093000+0000||ORU^R01^ORU_R01|${randomUUID().slice(0, 20)}|P|2.5.1\r${segments}\rOBX|1|ST|GLU^Glucose^${system}||5||||||F\r`,
    );
    expect(answer.status, await answer.clone().text()).toBe(200);
  };

  const call = async (path: string, permissions: readonly string[], init: RequestInit = {}, of = at.site) => {
    const token = await at.oidc.signToken({ site: of, permissions });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'If-Match': '*' };
    return fetch(`${at.baseUrl}/admin/api${path}`, { ...init, headers });
  };
  const list = async (query = '', of = at.site): Promise<{ items: Name[]; next: string | null }> => {
    const response = await call(`/unmapped-names${query}`, READ, {}, of);
    expect(response.status).toBe(200);
    return (await response.json()) as { items: Name[]; next: string | null };
  };

  test('are listed by kind and name in any capitals, with their messages; page by page', async () => {
    const { items, next } = await list();
    expect(next).toBeNull();
    expect(items).toMatchObject([
      { kind: 'authority', name: 'EAST', system: null, messages: 2, lastKeyName: 'Laboratory' },
      { kind: 'authority', name: 'WEST', system: null, messages: 1 },
      { kind: 'code-system', name: '99LAB', system: null, messages: 2, lastClientId: at.key.clientId },
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
    const concerned = await found('unmapped=authority:east');
    expect(concerned).toHaveLength(2);
    expect(concerned[0]).toBe(east?.lastMessageId);
    expect(await found('unmapped=code-system:EAST')).toEqual([]);
    expect(await found('unmapped=authority:EAST&q=LAB&type=ORU')).toHaveLength(2);
    expect((await call('/messages?unmapped=EAST', READ)).status).toBe(400);
  });

  test('with a URI are listed until their messages are replayed', async () => {
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

  test('are processed again by one replay of all of them, with its preview and its reason', async () => {
    const replay = async (body: object) => {
      const response = await call('/replays', PERMISSIONS, { method: 'POST', body: JSON.stringify(body) });
      expect(response.status, await response.clone().text()).toBe(200);
      return (await response.json()) as { count?: number; replay?: { replayId: string } };
    };
    expect(await replay({ unmapped: 'authority:east' })).toEqual({ count: 2 });
    expect(await replay({ unmapped: 'authority:NOBODY' })).toEqual({ count: 0 });
    const body = JSON.stringify({ assigningAuthorities: [{ namespace: 'East', system: 'urn:oid:1.2.4' }] });
    expect((await call('/site', PERMISSIONS, { method: 'PATCH', body })).status).toBe(200);
    const { replay: asked } = await replay({
      unmapped: 'authority:EAST',
      apply: 'newest',
      comment: ' EAST has its OID ',
    });
    expect(asked).toMatchObject({ filter: { unmapped: 'authority:EAST' }, comment: 'EAST has its OID', total: 2 });
    expect((await call('/replays', PERMISSIONS, { method: 'POST', body: '{"unmapped":"EAST"}' })).status).toBe(422);
  });

  describe('aliases of namespaces in messages', () => {
    interface Alias {
      readonly namespace: string;
      readonly uri: string;
      readonly state: string;
      readonly decidedBy: string | null;
      readonly decisions: readonly { readonly state: string }[];
    }
    const admit = async (pid3: string, family: string): Promise<void> => {
      const answer = await at.send(
        `MSH|^~\\&|ADT|X|GW|GW|20260701093000+0000||ADT^A04^ADT_A01|${randomUUID().slice(0, 20)}|P|2.5.1\rPID|1||${pid3}||${family}^Jane||19800101|F\r`,
      );
      expect(answer.status, await answer.clone().text()).toBe(200);
    };
    const aliases = async (query = '', of = at.site): Promise<Alias[]> => {
      const response = await call(`/authority-aliases${query}`, READ, {}, of);
      expect(response.status, await response.clone().text()).toBe(200);
      return ((await response.json()) as { items: Alias[] }).items;
    };
    const decide = async (
      namespace: string,
      uri: string,
      decision: string,
      permissions = PERMISSIONS,
      of = at.site,
    ) => {
      const body = JSON.stringify({ clientId: at.key.clientId, namespace, uri, decision });
      return call('/authority-aliases/decide', permissions, { method: 'POST', body }, of);
    };
    const patients = async (family: string): Promise<number> => {
      const { rows } = await at.db.client.query<{ count: number }>(
        `select count(*)::int as count from resource where site_id = $1 and type = 'Patient' and body like '%' || $2 || '%'`,
        [at.site, family],
      );
      return rows[0]?.count ?? -1;
    };

    test('is listed: with a second URI neither is used', async () => {
      await admit('T1^^^TEACH&1.2.50&ISO^MR', 'Ashby');
      await admit('T2^^^Teach&1.2.51&ISO^MR', 'Ashby');
      const teach = (await aliases()).filter(({ namespace }) => namespace === 'TEACH');
      expect(teach).toMatchObject([
        { uri: 'urn:oid:1.2.50', state: 'taught', decidedBy: null },
        { uri: 'urn:oid:1.2.51', state: 'taught', decidedBy: null },
      ]);
      expect((await aliases('?state=undecided')).length).toBeGreaterThanOrEqual(2);
      expect(await aliases('?state=confirmed')).toEqual([]);
      expect(await aliases('', at.otherSite)).toEqual([]);
      const first = await aliases('?limit=1');
      expect(first).toHaveLength(1);
    });

    test('confirmed, another URI applies from the next message on, and the decision keeps its actor', async () => {
      // T9 of another person is not found by the bare name …
      await admit('T9^^^&1.2.51&ISO^MR', 'Before');
      await admit('T9^^^TEACH^MR', 'Other');
      expect(await patients('Other')).toBe(1);
      await at.db.client.query('truncate issue cascade');
      expect((await decide('teach', 'urn:oid:1.2.51', 'confirmed')).status).toBe(200);
      const teach = (await aliases()).filter(({ namespace }) => namespace === 'TEACH');
      expect(teach).toMatchObject([
        { uri: 'urn:oid:1.2.50', state: 'shown' },
        {
          uri: 'urn:oid:1.2.51',
          state: 'confirmed',
          decidedBy: expect.any(String),
          decisions: [{ state: 'confirmed' }],
        },
      ]);
      // … and the two are listed, since their numbers are one now.
      const response = await call('/attention?kind=possible-duplicate', READ);
      const { items } = (await response.json()) as { items: { why: string }[] };
      expect(items.map(({ why }) => why)).toContainEqual(expect.stringContaining('confirmed'));
      await admit('T8^^^&1.2.51&ISO^MR', 'Castle');
      await admit('T8^^^TEACH^MR', 'Castle');
      expect(await patients('Castle')).toBe(1);
    });

    test('rejected, it is not used, and no message teaches it again', async () => {
      await admit('U1^^^FALSE&1.2.60&ISO^MR', 'Draper');
      expect((await decide('FALSE', 'urn:oid:1.2.60', 'rejected')).status).toBe(200);
      // The message that says it again does not use it itself.
      await admit('U2^^^FALSE&1.2.60&ISO^MR~V2^^^FALSE^MR', 'Eames');
      await admit('V2^^^&1.2.60&ISO^MR', 'Eames');
      expect(await patients('Eames')).toBe(2);
      await admit('U1^^^FALSE^MR', 'Draper');
      expect(await patients('Draper')).toBe(2);
      expect((await aliases('?state=rejected')).map(({ namespace }) => namespace)).toEqual(['FALSE']);
      // An administrator can revert a decision, and the decision before it is kept.
      expect((await decide('FALSE', 'urn:oid:1.2.60', 'confirmed')).status).toBe(200);
      const [again] = (await aliases('?state=confirmed')).filter(({ namespace }) => namespace === 'FALSE');
      expect(again?.decisions.map(({ state }) => state)).toEqual(['confirmed', 'rejected']);
    });

    test('needs the permission for settings in the site', async () => {
      expect((await decide('TEACH', 'urn:oid:1.2.50', 'rejected', READ as never)).status).toBe(403);
      expect((await decide('TEACH', 'urn:oid:1.2.50', 'rejected', PERMISSIONS, at.otherSite)).status).toBe(404);
      expect((await decide('TEACH', 'urn:oid:9.9.9', 'confirmed')).status).toBe(404);
      expect((await decide('TEACH', 'urn:oid:1.2.50', 'taught')).status).toBe(422);
      expect((await call('/authority-aliases', ['site.settings.update'])).status).toBe(403);
    });
  });

  test('are of the caller’s site, and only for callers who may see messages', async () => {
    expect(await list('', at.otherSite)).toEqual({ items: [], next: null });
    expect((await call('/unmapped-names', ['site.settings.update'])).status).toBe(403);
    const foreign = await call('/messages?unmapped=authority:EAST', READ, {}, at.otherSite);
    expect(await foreign.json()).toEqual({ items: [], next: null, previous: null, count: 0, isMore: false });
  });
});
