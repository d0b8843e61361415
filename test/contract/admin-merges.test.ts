/** The undo of a merge, over the JSON API: both records are as if the merge had never come, or the difference is listed. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { RUNTIMES } from '../stack/tools/gateway.ts';
import { useConsole } from '../stack/tools/console-site.ts';
import { randomFrom } from '../stack/tools/random.ts';
import { seed, sized } from '../stack/tools/size.ts';

const UNDO = ['site.patients.unmerge'];

interface Preview {
  readonly state: string;
  readonly refusal: string | null;
  readonly back: readonly string[];
  readonly restored: readonly string[];
  readonly left: readonly { readonly reference: string; readonly why: string }[];
  readonly patients: readonly {
    readonly before: { readonly identifiers: readonly object[] };
    readonly after: { readonly identifiers: readonly { readonly value: string }[] };
  }[];
}

describe.each(RUNTIMES)('merges on %s', (runtime) => {
  const at = useConsole(runtime, { site: { name: 'North' }, key: { protocols: ['hl7'] } });

  const call = async (method: 'GET' | 'POST', path: string, body?: object, permissions: readonly string[] = UNDO) =>
    at.api(method, path, body, {}, await at.oidc.signToken({ sub: 'ada', site: at.site, permissions }));
  const answerOf = async <T>(response: Response, status = 200): Promise<T> => {
    expect(response.status, await response.clone().text()).toBe(status);
    return (await response.json()) as T;
  };

  /** @param hour the minute after 9 in EVN-2 and OBR-22 */
  const send = async (type: string, hour: number, segments: string): Promise<string> => {
    const when = `2026070109${String(hour).padStart(2, '0')}00+0000`;
    const answer = await at.send(
      `MSH|^~\\&|ADT|EAST|GW|GW|${when}||${type}|${randomUUID().slice(0, 20)}|P|2.5.1\rEVN||${when}\r${segments.replaceAll('{when}', when)}\r`,
    );
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    return text;
  };
  const cx = (number: string) => `${number}^^^EAST^MR`;
  const pid = (numbers: string, more = '') =>
    `PID|1||${numbers.split('~').map(cx).join('~')}||Doe^Jane||19800229|F${more}`;
  const admit = (hour: number, numbers: string, street = '') =>
    send('ADT^A08', hour, pid(numbers, street === '' ? '' : `|||${street}^^Springfield`));
  const result = (hour: number, number: string, filler: string, value: string, status = 'F') =>
    send(
      'ORU^R01',
      hour,
      `${pid(number)}\rOBR|1||${filler}|K^K^L|||202607010800+0000|||||||||||||||{when}|||F\rOBX|1|NM|K^K^L||${value}|mmol/L|||||${status}`,
    );
  const allergy = (hour: number, number: string, reaction: string) =>
    send('ADT^A08', hour, `${pid(number)}\rAL1|1|DA|PEN^Penicillin^L|SV|${reaction}`);
  const merge = (hour: number, survivor: string, merged: string, type = 'ADT^A40') =>
    send(type, hour, `${pid(survivor)}\rMRG|${cx(merged)}`);

  const patientOf = async (number: string): Promise<string> => {
    const { rows } = await at.db.client.query<{ id: string }>(
      'select distinct id from patient_identity where site_id = $1 and value = $2 and led',
      [at.site, number],
    );
    expect(rows, number).toHaveLength(1);
    return rows[0]?.id ?? '';
  };
  /** The record of a number, without ids. */
  const recordOf = async (number: string): Promise<object> => {
    const id = await patientOf(number);
    const { rows } = await at.db.client.query<{ type: string; body: string }>(
      `select type, body from resource where site_id = $1 and (id = $2 or patient_id = $2)`,
      [at.site, id],
    );
    const { rows: beside } = await at.db.client.query<{ beside: string }>(
      `select concat_ws(' ', 'number', i.value, i.led) as beside from patient_identity i where i.site_id = $1 and i.id = $2
       union all select concat_ws(' ', 'trait', t.trait) from patient_trait t where t.site_id = $1 and t.id = $2
       union all select concat_ws(' ', 'result', h.type, h.what, h.filler, h.at) from hl7_result h where h.site_id = $1 and h.patient_id = $2
       union all select concat_ws(' ', 'key', i.type, left(i.key, -37)) from hl7_identity i where i.site_id = $1 and i.key like '%@' || $2
       order by 1`,
      [at.site, id],
    );
    const plain = (text: string) => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id').replaceAll(/P\d+/g, 'P');
    return {
      resources: rows
        .map(({ type, body }) => plain(`${type} ${JSON.stringify(sorted(JSON.parse(`{${body}}`)))}`))
        .toSorted(),
      beside: beside.map((row) => plain(row.beside)),
    };
  };
  const merges = async (number: string) => {
    const path = `/merges?patient=${await patientOf(number)}`;
    return (
      await answerOf<{ items: readonly { mergeId: string; reason: string | null; undoneBy: string | null }[] }>(
        await call('GET', path),
      )
    ).items;
  };
  const preview = async (id: string) => answerOf<Preview>(await call('GET', `/merges/${id}`));
  const undo = async (number: string): Promise<Preview> => {
    const [newest] = await merges(number);
    const seen = await preview(newest?.mergeId ?? '');
    expect(seen.refusal).toBeNull();
    await answerOf(await call('POST', `/merges/${newest?.mergeId}/undo`, { reason: 'two persons', state: seen.state }));
    return seen;
  };
  const listed = async (number: string): Promise<number> => {
    const { rows } = await at.db.client.query(
      `select from attention where site_id = $1 and kind = 'undo-unclear' and $2 in (patient_a, patient_b)`,
      [at.site, await patientOf(number)],
    );
    return rows.length;
  };
  let families = 0;
  /** Numbers that differ between two records only in their digits. */
  const family = () => {
    families += 1;
    return { a: `P${families}a`, b: `P${families}b` };
  };

  test('an undone merge leaves both records as if it had never come, and late repetitions merge nothing', async () => {
    const records: object[] = [];
    for (const isMerged of [true, false]) {
      const { a, b } = family();
      await admit(1, a, 'Main St');
      await admit(1, b, 'Side St');
      await result(2, a, 'F1', '1.50');
      await result(3, b, 'F1', '1.70');
      await result(3, b, 'F2', '2.0');
      await allergy(4, b, 'Hives');
      if (isMerged) await merge(5, a, b);
      await result(6, b, 'F3', '3.0');
      await result(6, a, 'F4', '4.0');
      await admit(7, b, 'New St');
      await admit(7, a, 'Old St');
      if (isMerged) {
        const seen = await undo(a);
        expect(seen.left).toEqual([]);
        expect(seen.back.length).toBeGreaterThan(4);
        expect(seen.patients.map(({ after }) => after.identifiers.map(({ value }) => value))).toEqual([[a], [b]]);
        expect(await merge(5, a, b)).toContain('stale');
        expect(await listed(a)).toBe(0);
        const [only] = await merges(b);
        expect(only).toMatchObject({ reason: 'two persons', undoneBy: expect.stringContaining('ada') });
        const { rows } = await at.db.client.query(
          `select from audit where site_id = $1 and action = 'patient-unmerged' and $2::uuid = any (patients)`,
          [at.site, await patientOf(b)],
        );
        expect(rows).toHaveLength(1);
      }
      await result(8, b, 'F2', '2.5', 'C');
      records.push({ a: await recordOf(a), b: await recordOf(b) });
    }
    expect(records[0]).toEqual(records[1]);
  });

  test('an absorbed record of results gets its identifier and results back', async () => {
    const { a, b } = family();
    await result(1, b, 'F1', '1.5');
    const before = await recordOf(b);
    await admit(1, a);
    const own = await recordOf(a);
    expect(await admit(2, `${a}~${b}`)).toContain('record-absorbed');
    await undo(a);
    expect(await recordOf(b)).toEqual(before);
    expect(await recordOf(a)).toEqual(own);
    // Messages that list both do not merge them again.
    expect(await admit(3, `${a}~${b}`)).toContain('identifiers-of-several');
    expect(await patientOf(a)).not.toBe(await patientOf(b));
  });

  test('a merge that created its survivor can be undone', async () => {
    const { a, b } = family();
    await admit(1, b, 'Side St');
    await result(1, b, 'F1', '1.5');
    const before = await recordOf(b);
    await merge(2, a, b);
    await undo(a);
    expect(await recordOf(b)).toEqual(before);
    expect(await patientOf(a)).not.toBe(await patientOf(b));
  });

  test('the reversal of a merge can be undone, then the merge', async () => {
    const { a, b } = family();
    await admit(1, a);
    await admit(1, b);
    const before = [await recordOf(a), await recordOf(b)];
    await merge(2, a, b);
    await merge(3, b, a);
    const all = await merges(a);
    expect((await preview(all[1]?.mergeId ?? '')).refusal).toContain('newer merge');
    const refused = await call('POST', `/merges/${all[1]?.mergeId}/undo`, { reason: 'x', state: 'x' });
    expect(refused.status).toBe(409);
    await undo(a);
    const again = await preview(all[1]?.mergeId ?? '');
    expect(again.refusal).toBeNull();
    await answerOf(
      await call('POST', `/merges/${all[1]?.mergeId}/undo`, { reason: 'two persons', state: again.state }),
    );
    expect([await recordOf(a), await recordOf(b)]).toEqual(before);
  });

  test('a resource that may be of either patient stays and is listed', async () => {
    const { a, b } = family();
    await admit(1, a);
    await admit(1, b);
    await result(1, b, 'F1', '1.5');
    await merge(2, a, b);
    // By the survivor's number, about the result of the merged patient.
    await result(3, a, 'F1', '1.6', 'C');
    await send('ADT^A08', 4, `${pid(`${a}~${b}`)}\rAL1|1|DA|PEN^Penicillin^L`);
    const seen = await undo(a);
    expect(seen.left.map(({ reference }) => reference.split('/')[0])).toEqual(
      expect.arrayContaining(['AllergyIntolerance', 'Observation']),
    );
    expect(await listed(b)).toBe(1);
  });

  test('an undo needs its permission, a reason and the state of the preview', async () => {
    const { a, b } = family();
    await admit(1, a);
    await admit(1, b);
    await merge(2, a, b);
    const [only] = await merges(a);
    const path = `/merges/${only?.mergeId}`;
    expect((await call('GET', path, undefined, ['site.messages.read'])).status).toBe(403);
    const { state } = await preview(only?.mergeId ?? '');
    expect((await call('POST', `${path}/undo`, { reason: ' ', state })).status).toBe(422);
    await result(3, b, 'F1', '1.5');
    expect((await call('POST', `${path}/undo`, { reason: 'two persons', state })).status).toBe(409);
    expect((await call('GET', `/merges/${randomUUID()}`)).status).toBe(404);
    const { rows } = await at.db.client.query(
      `select from audit where site_id = $1 and action in ('merge-viewed', 'patient-unmerged') and cardinality(patients) = 2`,
      [at.site],
    );
    expect(rows.length).toBeGreaterThan(0);
  });

  test('any messages around a merge and its undo end in equal records, or in a listed difference', async () => {
    const next = randomFrom(seed ?? 1);
    const pick = <T>(...all: readonly T[]): T => all[Math.floor(next() * all.length)] as T;
    let equal = 0;
    const rounds = sized(12, 500);
    for (let round = 0; round < rounds; round += 1) {
      const events = Array.from({ length: 9 }, (_, n) => {
        const [who, filler, value] = [pick('a', 'b'), pick('F1', 'F2', 'F3'), `${n}.5`];
        const kind = pick('result', 'result', 'admit', 'allergy', 'correction');
        return async (own: { a: string; b: string }) => {
          const number = own[who as 'a' | 'b'];
          if (kind === 'admit') await admit(n + 3, number, `Street ${n}`);
          else if (kind === 'allergy') await allergy(n + 3, number, pick('Hives'));
          else await result(n + 3, number, filler, value, kind === 'correction' ? 'C' : 'F');
        };
      });
      const mergedAt = 2 + Math.floor(next() * 6);
      const records: object[] = [];
      let isListed = false;
      for (const isMerged of [true, false]) {
        const own = family();
        await admit(1, own.a, 'Main St');
        await admit(1, own.b, 'Side St');
        for (const [n, event] of events.entries()) {
          if (isMerged && n === mergedAt) await merge(2, own.a, own.b);
          await event(own);
        }
        if (isMerged) {
          await undo(own.a);
          isListed = (await listed(own.a)) > 0;
        }
        records.push({ a: await recordOf(own.a), b: await recordOf(own.b) });
      }
      if (isListed) continue;
      equal += 1;
      expect(records[0], `round ${round}`).toEqual(records[1]);
    }
    expect(equal).toBeGreaterThan(0);
  });
});

/** Members in the order of their names: a restored member may be at another place. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  );
}
