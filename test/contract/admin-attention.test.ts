/** Issues that administrators review, over the JSON API and in the console. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { ONE_RUNTIME } from './on-runtimes.ts';

interface Item {
  readonly id: string;
  readonly kind: string;
  readonly patients: readonly object[];
  readonly state: string;
}
interface List {
  readonly items: readonly Item[];
  readonly next: string | null;
}

const READ = ['site.messages.read'];
const BOTH = ['site.messages.read', 'site.settings.update'];

describe.each(ONE_RUNTIME)('issues to review on %s', (runtime) => {
  const at = useConsole(runtime, {
    site: { name: 'North' },
    otherSite: { name: 'South' },
    key: { protocols: ['hl7'] },
  });

  const call = async (
    method: 'GET' | 'POST',
    path: string,
    permissions: readonly string[],
    of = at.site,
    sub = 'ada',
  ) => {
    const token = await at.oidc.signToken({ sub, site: of, permissions });
    return at.api(method, path, undefined, {}, token);
  };
  const list = async (path: string, of = at.site): Promise<List> => {
    const response = await call('GET', path, READ, of);
    expect(response.status, path).toBe(200);
    return (await response.json()) as List;
  };

  const send = async (type: string, segments: string): Promise<void> => {
    const [, event = ''] = type.split('^');
    const answer = await at.send(
      `MSH|^~\\&|ADT|EAST|GW|GW|20260701093000+0000||${type}|${randomUUID().slice(0, 20)}|P|2.5.1\rEVN|${event}|20260701093000+0000\r${segments}\r`,
    );
    expect(answer.status, await answer.clone().text()).toBe(200);
  };

  /** A new patient by a message. @returns its id and number */
  const patient = async (rest: string): Promise<{ id: string; mrn: string }> => {
    const mrn = `M${randomUUID().slice(0, 8)}`;
    await send('ADT^A04', `PID|1||${mrn}^^^EAST^MR||${rest}`);
    const { rows } = await at.db.client.query<{ id: string }>(
      `select id from resource where site_id = $1 and type = 'Patient' and body like '%' || $2 || '%'`,
      [at.site, mrn],
    );
    return { id: rows[0]?.id ?? '', mrn };
  };

  const attend = (...rows: object[]) =>
    at.db.client.query(
      `select attention_add($1, (select message_id from hl7_message where site_id = $1 order by received_at limit 1), $2)`,
      [at.site, JSON.stringify(rows)],
    );

  test('possible duplicates show both patients, the reason, and equal elements', async () => {
    const a = await patient('Müller^Jürgen||19700101|M|||Main St 1^^Springfield^^12345||555-1');
    const b = await patient('MULLER^Juergen||19700102|M|||Main St 1^^Springfield^^12345');
    await attend({
      kind: 'possible-duplicate',
      patients: [b.id, a.id],
      detail: { reason: 'number-taken', at: 'PID^1^3' },
    });
    const { items, next } = await list('/possible-duplicates');
    expect(next).toBeNull();
    const references = [a.id, b.id].toSorted().map((id) => ({ reference: `Patient/${id}` }));
    expect(items).toMatchObject([
      {
        kind: 'possible-duplicate',
        state: 'open',
        why: 'A message moves an identifier to the first patient, but the second has it.',
        detail: { at: 'PID^1^3' },
        patients: references,
        agrees: ['gender', 'addresses'],
        differs: ['names', 'birthDate', 'identifiers'],
        message: { messageType: 'ADT^A04' },
        dismissedAt: null,
        dismissedBy: null,
      },
    ]);
    expect(items[0]?.patients).toContainEqual({
      reference: `Patient/${a.id}`,
      names: ['Müller, Jürgen'],
      birthDate: '1970-01-01',
      gender: 'male',
      identifiers: [{ issuer: 'EAST', value: a.mrn }],
      telecom: ['555-1'],
      addresses: ['Main St 1, 12345 Springfield'],
    });
    expect(await list('/attention')).toEqual({ items: [], next: null });
    expect(await list('/attention?kind=possible-duplicate')).toMatchObject({ items: [{ id: items[0]?.id }] });
  });

  test('the name that newborns get until they have one neither agrees nor differs', async () => {
    const [a, b] = [await patient('Jay^BABYGIRL||20260301|F'), await patient('Jay^BABYGIRL||20260301|F')];
    await attend({ kind: 'possible-duplicate', patients: [a.id, b.id] });
    const { items } = await list('/possible-duplicates');
    expect(items.find((item) => JSON.stringify(item.patients).includes(a.id))).toMatchObject({
      agrees: ['birthDate', 'gender'],
      differs: ['identifiers'],
    });
  });

  test('two that were merged are no longer open', async () => {
    const [a, b] = [await patient('Doe^Jane||19800101|F'), await patient('Doe^Jane||19800101|F')];
    await attend({ kind: 'possible-duplicate', patients: [a.id, b.id] });
    const openIds = async (state: string) =>
      (await list(`/possible-duplicates?state=${state}`)).items.map(({ patients }) => JSON.stringify(patients));
    expect((await openIds('open')).some((shown) => shown.includes(a.id))).toBe(true);
    await send('ADT^A40', `PID|1||${a.mrn}^^^EAST^MR||Doe^Jane\rMRG|${b.mrn}^^^EAST^MR`);
    expect((await openIds('open')).some((shown) => shown.includes(a.id))).toBe(false);
    expect((await openIds('merged')).some((shown) => shown.includes(a.id))).toBe(true);
  });

  test('the other kinds are listed by kind, the newest first, page by page', async () => {
    const { id } = await patient('Roe^Rick||19900101|M');
    for (const about of ['1', '2', '3']) await attend({ kind: 'stale-correction', patients: [id], about });
    await attend({ kind: 'not-moved', patients: [], detail: { at: 'MRG^1^3' } });
    const { items } = await list('/attention');
    expect(items.map(({ kind }) => kind)).toEqual([
      'not-moved',
      'stale-correction',
      'stale-correction',
      'stale-correction',
    ]);
    expect(items[0]).toMatchObject({ patients: [], agrees: [], differs: [], detail: { at: 'MRG^1^3' } });
    expect(items[1]).toMatchObject({ patients: [{ names: ['Roe, Rick'] }] });
    const first = await list('/attention?kind=stale-correction&limit=2');
    const second = await list(`/attention?kind=stale-correction&limit=2&cursor=${first.next}`);
    expect([...first.items, ...second.items]).toEqual(items.slice(1));
    expect(second.next).toBeNull();
  });

  test('a dismissed issue keeps its actor and time, stays dismissed, and leaves the list', async () => {
    const { id: patientId } = await patient('Poe^Pat||19910101|M');
    await attend({ kind: 'merge-unresolved', patients: [patientId], about: 'x' });
    const [{ id } = { id: '' }] = (await list('/attention?kind=merge-unresolved')).items;
    const dismissed = await call('POST', `/attention/${id}/dismiss`, BOTH);
    const answer = await dismissed.json();
    expect([dismissed.status, answer]).toMatchObject([200, { id, dismissedBy: expect.stringContaining('ada') }]);
    expect(JSON.stringify(answer)).not.toContain('Poe');
    const again = await call('POST', `/attention/${id}/dismiss`, BOTH, at.site, 'bob');
    expect(await again.json()).toEqual(answer);
    await attend({ kind: 'merge-unresolved', patients: [patientId], about: 'x' });
    expect(await list('/attention?kind=merge-unresolved')).toMatchObject({ items: [] });
    expect(await list('/attention?kind=merge-unresolved&state=dismissed')).toMatchObject({
      items: [{ id, state: 'dismissed', ...(answer as object) }],
    });
  });

  test('another site sees and dismisses none of the issues; a reader without the permission dismisses none', async () => {
    const [{ id } = { id: '' }] = (await list('/possible-duplicates')).items;
    for (const path of ['/possible-duplicates', '/attention', '/possible-duplicates?state=merged']) {
      expect(await list(path, at.otherSite)).toEqual({ items: [], next: null });
    }
    expect((await call('POST', `/attention/${id}/dismiss`, BOTH, at.otherSite)).status).toBe(404);
    expect((await call('POST', '/attention/x/dismiss', BOTH)).status).toBe(404);
    expect((await call('POST', `/attention/${id}/dismiss`, READ)).status).toBe(403);
    for (const path of ['/possible-duplicates', '/attention']) {
      expect((await call('GET', path, ['site.settings.read', 'site.settings.update'])).status).toBe(403);
    }
    expect((await list('/possible-duplicates')).items.map((item) => item.id)).toContain(id);
  });

  test.each(['kind=nothing', 'state=gone', 'limit=0', 'cursor=x', 'other=1'])('reject a query of %s', async (query) => {
    expect((await call('GET', `/attention?${query}`, READ)).status).toBe(400);
  });
});
