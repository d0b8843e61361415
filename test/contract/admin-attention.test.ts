/** Issues that administrators review, over the JSON API and in the console. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Item {
  readonly id: string;
  readonly kind: string;
  readonly patients: readonly object[];
  readonly state: string;
  readonly foundAt: string;
  readonly merges: readonly { survivor: string; merged: string; message: string }[];
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
    { of = at.site, sub = 'ada', body }: { of?: string; sub?: string; body?: object } = {},
  ) => {
    const token = await at.oidc.signToken({ sub, site: of, permissions });
    return at.api(method, path, body, {}, token);
  };
  const dismiss = (id: string, body: object = { reason: 'Twins.' }, sub = 'ada') =>
    call('POST', `/attention/${id}/dismiss`, BOTH, { body, sub });
  const list = async (path: string, of = at.site): Promise<List> => {
    const response = await call('GET', path, READ, { of });
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

  test('possible duplicates show both patients, the reason, equal elements and the next step', async () => {
    const a = await patient('Müller^Jürgen||19700101|M|||Main St 1^^Springfield^^12345||555-1');
    const b = await patient('MULLER^Juergen||19700102|M|||Main St 1^^Springfield^^12345');
    await attend({
      kind: 'possible-duplicate',
      patients: [b.id, a.id],
      detail: { reason: 'number-taken', at: 'PID^1^3' },
    });
    const { items, next } = await list('/attention');
    expect(next).toBeNull();
    const references = [a.id, b.id].toSorted().map((id) => ({ reference: `Patient/${id}` }));
    expect(items).toMatchObject([
      {
        kind: 'possible-duplicate',
        state: 'open',
        why: 'A message moves an identifier to the first patient, but the second has it.',
        findings: [{ detail: { at: 'PID^1^3' }, resources: [] }],
        findingCount: 1,
        messageCount: 1,
        patients: references,
        agrees: ['families', 'gender', 'addresses'],
        differs: ['givens', 'birthDate', 'identifiers'],
        message: { messageType: 'ADT^A04' },
        next: { step: 'merge' },
        dismissedAt: null,
        dismissedBy: null,
        dismissedReason: null,
        decisions: [],
      },
    ]);
    expect(items[0]?.patients).toContainEqual({
      reference: `Patient/${a.id}`,
      families: ['Müller'],
      givens: ['Jürgen'],
      birthDate: '1970-01-01',
      gender: 'male',
      identifiers: [{ issuer: 'EAST', value: a.mrn }],
      telecom: ['555-1'],
      addresses: ['Main St 1, 12345 Springfield'],
    });
    expect(await list('/attention?kind=possible-duplicate')).toMatchObject({ items: [{ id: items[0]?.id }] });
  });

  test('the name that newborns get until they have one neither agrees nor differs', async () => {
    const [a, b] = [await patient('Jay^BABYGIRL||20260301|F'), await patient('Jay^BABYGIRL||20260301|F')];
    await attend({ kind: 'possible-duplicate', patients: [a.id, b.id] });
    const { items } = await list('/attention');
    expect(items.find((item) => JSON.stringify(item.patients).includes(a.id))).toMatchObject({
      agrees: ['families', 'birthDate', 'gender'],
      differs: ['identifiers'],
    });
  });

  test('the merge message of a pair, sent as it is, merges the two, and the issue is no longer open', async () => {
    const person = String.raw`O'Neill \T\ Sons^Zoë^Anna||19800101|F`;
    const [a, b] = [await patient(person), await patient(person)];
    await send('ADT^A08', `PID|1||${b.mrn}^^^EAST^MR~X1^^^WEST&1.2.3&ISO^PI~999^^^GOV^SS||${person}`);
    await attend({ kind: 'possible-duplicate', patients: [a.id, b.id] });
    const openPair = async (state: string) =>
      (await list(`/attention?state=${state}`)).items.find(({ patients }) => JSON.stringify(patients).includes(a.id));
    const { merges = [] } = (await openPair('open')) ?? {};
    expect(merges.map(({ survivor, merged }) => [survivor, merged].toSorted())).toEqual(
      Array.from({ length: 2 }, () => [`Patient/${a.id}`, `Patient/${b.id}`].toSorted()),
    );
    const kept = merges.find(({ survivor }) => survivor === `Patient/${a.id}`)?.message ?? '';
    expect(kept).toContain('|ADT^A40^ADT_A39|');
    expect(kept).toContain(`MRG|${b.mrn}^^^EAST^MR`);
    expect(kept).not.toContain('999^^^GOV');
    const sent = await at.send(kept);
    const ack = await sent.text();
    expect([sent.status, ack]).toEqual([200, expect.stringContaining('MSA|AA')]);
    expect(ack).not.toContain('ERR|');
    expect(await openPair('open')).toBeUndefined();
    expect(await openPair('merged')).toMatchObject({ state: 'merged', merges: [] });
  });

  test('kinds are listed together or alone, the newest first, page by page', async () => {
    const people = await Promise.all(['1', '2', '3'].map((n) => patient(`Roe^Rick${n}||19900101|M`)));
    for (const { id } of people) await attend({ kind: 'stale-correction', patients: [id], about: 'a' });
    await attend({ kind: 'namespace-contested', patients: [], about: 'LAB', detail: { at: 'PID^1^3' } });
    const items = (await list('/attention')).items.filter(({ kind }) => kind !== 'possible-duplicate');
    expect(items.map(({ kind }) => kind)).toEqual([
      'namespace-contested',
      'stale-correction',
      'stale-correction',
      'stale-correction',
    ]);
    expect(items[0]).toMatchObject({ subject: 'LAB', patients: [], merges: [], next: { step: 'decide-namespace' } });
    expect(items[1]).toMatchObject({ patients: [{ givens: ['Rick3'] }], next: { step: 'replay' } });
    const first = await list('/attention?kind=stale-correction&limit=2');
    const second = await list(`/attention?kind=stale-correction&limit=2&cursor=${first.next}`);
    expect([...first.items, ...second.items]).toEqual(items.slice(1));
    expect(second.next).toBeNull();
  });

  test('results of one patient that one cause left are one issue, with each result and a count', async () => {
    const { id, mrn } = await patient('Moe^Mia||19910101|F');
    const panel = (status: string, at: string, values: readonly string[]) =>
      send(
        'ORU^R01',
        [
          `PID|1||${mrn}^^^EAST^MR||Moe^Mia||19910101|F`,
          `OBR|1||F-${mrn}|24323-8^Panel^LN|||202607010800+0000|||||||||||||||${at}|||${status}`,
          ...values.map((value, n) => `OBX|${n + 1}|NM|C${n}^Code ${n}^LN||${value}|mmol/L|||||${status}`),
        ].join('\r'),
      );
    const values = Array.from({ length: 7 }, (_, n) => `${n}.5`);
    await panel('F', '202607011000+0000', values);
    const late = values.map((value) => `1${value}`);
    await panel('C', '202607010900+0000', late);
    await panel('C', '202607010900+0000', late);
    const issues = (await list('/attention?kind=stale-correction')).items.filter(({ patients }) =>
      JSON.stringify(patients).includes(id),
    );
    expect(issues).toMatchObject([{ findingCount: 8, messageCount: 2, message: { messageType: 'ORU^R01' } }]);
    const [issue] = issues as unknown as { findings: { resources: object[]; detail: object }[] }[];
    expect(issue?.findings).toHaveLength(5);
    expect(issue?.findings).toContainEqual(
      expect.objectContaining({
        detail: expect.objectContaining({ at: expect.stringMatching(/^OBX\^/) }),
        resources: [expect.objectContaining({ summary: 'Code 0, 0.5 mmol/L, final' })],
      }),
    );
  });

  test('a dismissed issue keeps its reason, actor and time, leaves the list, and the dismissal can be undone', async () => {
    const { id: patientId } = await patient('Poe^Pat||19910101|M');
    const finding = (about: string) => attend({ kind: 'result-missing', patients: [patientId], about });
    await finding('x');
    const [{ id, foundAt } = { id: '', foundAt: '' }] = (await list('/attention?kind=result-missing')).items;
    for (const body of [{}, { reason: ' ' }, { reason: 'x'.repeat(501) }, { reason: 'x', other: 1 }])
      expect((await dismiss(id, body)).status).toBe(422);
    expect((await dismiss(id, { reason: 'Old.', seen: '2020-01-01T00:00:00Z' })).status).toBe(409);
    const dismissed = await dismiss(id, { reason: ' Seen. ', seen: foundAt });
    const answer = await dismissed.json();
    expect([dismissed.status, answer]).toMatchObject([
      200,
      { id, dismissedBy: expect.stringContaining('ada'), dismissedReason: 'Seen.' },
    ]);
    expect(JSON.stringify(answer)).not.toContain('Poe');
    expect(await (await dismiss(id, { reason: 'Again.' }, 'bob')).json()).toEqual(answer);
    await finding('x');
    expect(await list('/attention?kind=result-missing')).toMatchObject({ items: [] });
    expect(await list('/attention?kind=result-missing&state=dismissed')).toMatchObject({
      items: [{ id, state: 'dismissed', ...(answer as object) }],
    });
    const reopen = () => call('POST', `/attention/${id}/reopen`, BOTH, { sub: 'bob' });
    for (let times = 0; times < 2; times += 1) expect((await reopen()).status).toBe(200);
    expect(await list('/attention?kind=result-missing')).toMatchObject({
      items: [
        {
          id,
          state: 'open',
          dismissedAt: null,
          dismissedReason: null,
          decisions: [
            { state: 'reopened', by: expect.stringContaining('bob'), reason: '' },
            { state: 'dismissed', by: expect.stringContaining('ada'), reason: 'Seen.' },
          ],
        },
      ],
    });
    await dismiss(id);
    await finding('y');
    expect(await list('/attention?kind=result-missing')).toMatchObject({
      items: [{ id, findingCount: 2, decisions: [{ state: 'reopened', by: null }, {}, {}, {}] }],
    });
  });

  test('another site sees and decides none of the issues; a reader without the permission decides none', async () => {
    const [{ id } = { id: '' }] = (await list('/attention')).items;
    for (const path of ['/attention', '/attention?state=merged', '/attention?state=dismissed']) {
      expect(await list(path, at.otherSite)).toEqual({ items: [], next: null });
    }
    const body = { reason: 'x' };
    for (const [path, given] of [
      [`/attention/${id}/dismiss`, { body }],
      [`/attention/${id}/reopen`, {}],
    ] as const) {
      expect((await call('POST', path, BOTH, { of: at.otherSite, ...given })).status, path).toBe(404);
      expect((await call('POST', path.replace(id, 'x'), BOTH, given)).status, path).toBe(404);
      expect((await call('POST', path, READ, given)).status, path).toBe(403);
    }
    expect((await call('GET', '/attention', ['site.settings.read', 'site.settings.update'])).status).toBe(403);
    expect((await list('/attention')).items.map((item) => item.id)).toContain(id);
  });

  test.each(['kind=nothing', 'state=gone', 'limit=0', 'cursor=x', 'other=1'])('reject a query of %s', async (query) => {
    expect((await call('GET', `/attention?${query}`, READ)).status).toBe(400);
  });
});
