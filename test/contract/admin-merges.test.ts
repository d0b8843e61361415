/** The undo of a merge, over the JSON API: both records are as if the merge had never come, or the difference is listed. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { getToken } from '../stack/services/client.ts';
import { signIn } from '../stack/tools/console.ts';
import { useConsole } from '../stack/tools/console-site.ts';
import { randomFrom } from '../stack/tools/random.ts';
import { seed, sized } from '../stack/tools/size.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

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

describe.each(ONE_RUNTIME)('merges on %s', (runtime) => {
  const at = useConsole(runtime, { site: { name: 'North' }, key: { protocols: ['hl7', 'fhir'] } });

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
  /** The parts of the record of a number, by type and order: `Observation F1`. Without ids. */
  const partsOf = async (number: string): Promise<ReadonlyMap<string, readonly string[]>> => {
    const id = await patientOf(number);
    const { rows } = await at.db.client.query<{ part: string; said: string }>(
      `select r.type || coalesce(' ' || substring(r.body from '"value": ?"(F[0-9]+)"'), '') as part, r.type || ' ' || r.body as said
         from resource r where r.site_id = $1 and (r.id = $2 or r.patient_id = $2)
       union all select 'Patient', concat_ws(' ', 'number', i.value, i.led) from patient_identity i where i.site_id = $1 and i.id = $2
       union all select 'Patient', concat_ws(' ', 'trait', t.trait) from patient_trait t where t.site_id = $1 and t.id = $2
       union all select concat_ws(' ', h.type, h.filler), concat_ws(' ', 'result', h.what, h.at)
         from hl7_result h where h.site_id = $1 and h.patient_id = $2
       union all select i.type, concat_ws(' ', 'key', left(i.key, -37)) from hl7_identity i where i.site_id = $1 and i.key like '%@' || $2`,
      [at.site, id],
    );
    const plain = (text: string) => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id').replaceAll(/P\d+/g, 'P');
    const inOrder = (said: string) =>
      said.replace(/^(\w+) ("[^]*)$/, (_, type, body) => `${type} ${JSON.stringify(sorted(JSON.parse(`{${body}}`)))}`);
    const parts = Map.groupBy(rows, ({ part }) => part);
    return new Map([...parts].map(([part, all]) => [part, all.map(({ said }) => plain(inOrder(said))).toSorted()]));
  };
  /** The record of a number, without ids. */
  const recordOf = async (number: string): Promise<object> =>
    Object.fromEntries([...(await partsOf(number))].toSorted(([a], [b]) => (a < b ? -1 : 1)));
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
  const admitted = async () => {
    const { a, b } = family();
    await admit(1, a);
    await admit(1, b);
    return { a, b };
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
        // The Provenance of each version that the undo wrote names the person.
        const { rows: authors } = await at.db.client.query(
          `select distinct provenance_facts(r.site_id, r.type, r.id, r.version, r.last_updated, r.patient_id) ->> 'person' as person
             from patient_merge m cross join json_array_elements(m.undone) w
             join resource r on r.site_id = m.site_id and r.type = w ->> 0 and r.id = (w ->> 1)::uuid and r.version = (w ->> 2)::integer
            where m.site_id = $1`,
          [at.site],
        );
        expect(authors).toEqual([{ person: expect.stringContaining('ada') }]);
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
    const { a, b } = await admitted();
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

  /** Undoes the merge, whose preview may list something. */
  const undoMerge = async (mergeId: string, status = 200): Promise<Preview> => {
    const seen = await preview(mergeId);
    await answerOf(await call('POST', `/merges/${mergeId}/undo`, { reason: 'two persons', state: seen.state }), status);
    return seen;
  };
  const fhir = async (method: 'GET' | 'PUT', reference: string, body?: object): Promise<Record<string, unknown>> => {
    const token = await getToken(at.gateway.oauthBaseUrl, at.key, { audience: 'svc-fhir' });
    const answer = await fetch(`${at.gateway.fhirBaseUrl}/fhir/${reference}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/fhir+json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return answerOf(answer);
  };
  const resultsOf = async (number: string): Promise<readonly string[]> => {
    const { rows } = await at.db.client.query<{ reference: string }>(
      `select type || '/' || id as reference from resource
        where site_id = $1 and patient_id = $2 and type = 'Observation' order by body`,
      [at.site, await patientOf(number)],
    );
    return rows.map(({ reference }) => reference);
  };

  test('elements of the survivor that a FHIR client wrote after the merge stay, and resources stay and are listed', async () => {
    const { a, b } = family();
    await admit(1, a, 'Main St');
    await admit(1, b, 'Side St');
    await result(2, b, 'F1', '1.5');
    await result(2, b, 'F2', '2.5');
    await merge(3, a, b);
    const [first = '', second = ''] = await resultsOf(a);
    const survivor = await fhir('GET', `Patient/${await patientOf(a)}`);
    await fhir('PUT', `Patient/${await patientOf(a)}`, { ...survivor, telecom: [{ system: 'phone', value: '555' }] });
    await fhir('PUT', first, { ...(await fhir('GET', first)), valueQuantity: { value: 9 } });
    const seen = await undo(a);
    expect(seen.left).toEqual([{ reference: first, why: expect.stringContaining('FHIR client') }]);
    expect(await resultsOf(a)).toEqual([first]);
    expect(await resultsOf(b)).toEqual([second]);
    const after = await fhir('GET', `Patient/${await patientOf(a)}`);
    expect(after).toMatchObject({ telecom: [{ value: '555' }], identifier: [{ value: a }] });
    expect(after).not.toHaveProperty('link');
    expect(await fhir('GET', `Patient/${await patientOf(b)}`)).toMatchObject({
      active: true,
      identifier: [{ value: b }],
    });
  });

  test.each(['survivor', 'merged patient'])(
    'a merge whose link a FHIR client removed from the %s can be undone',
    async (of) => {
      const { a, b } = family();
      await admit(1, a, 'Main St');
      await admit(1, b, 'Side St');
      await result(2, b, 'F1', '1.5');
      const before = [await recordOf(a), await recordOf(b)];
      await merge(3, a, b);
      const reference = `Patient/${await patientOf(of === 'survivor' ? a : b)}`;
      const { link: _link, ...content } = await fhir('GET', reference);
      await fhir('PUT', reference, { ...content, active: true });
      await undo(a);
      expect([await recordOf(a), await recordOf(b)]).toEqual(before);
    },
  );

  test.each(['ADT^A46', 'ADT^A47'])('an %s that merged two records is undone like a merge', async (type) => {
    const { a, b } = family();
    await admit(1, a);
    await send('ADT^A08', 1, `${pid(b, '|||Side St^^Springfield')}\rAL1|1|DA|PEN^Penicillin^L`);
    await result(2, b, 'F1', '1.5');
    const before = [await recordOf(a), await recordOf(b)];
    await merge(3, a, b, type);
    expect(await recordOf(a)).not.toEqual(before[0]);
    const seen = await undo(a);
    expect(seen.left).toEqual([]);
    expect([await recordOf(a), await recordOf(b)]).toEqual(before);
  });

  test('an A47 to an identifier that no patient has merges nothing, so that nothing is to be undone', async () => {
    const { a, b } = family();
    await admit(1, b);
    await merge(2, a, b, 'ADT^A47');
    expect(await merges(a)).toEqual([]);
    // The sender reverses it by another A47.
    await merge(3, b, a, 'ADT^A47');
    expect(await patientOf(a)).toBe(await patientOf(b));
  });

  test.each(['survivor', 'merged patient'])(
    'a renumbering of the %s after the merge stays with its patient',
    async (of) => {
      const worlds: object[] = [];
      for (const isMerged of [true, false]) {
        const { a, b } = family();
        const c = b.replace('b', 'c');
        await admit(1, a, 'Main St');
        await admit(1, b, 'Side St');
        await result(2, b, 'F1', '1.5');
        if (isMerged) await merge(3, a, b);
        const own = of === 'survivor' ? a : b;
        await merge(4, c, own, 'ADT^A47');
        await result(5, c, 'F2', '2.5');
        await admit(6, c, 'New St');
        if (isMerged) expect((await undo(a)).left).toEqual([]);
        await result(7, c, 'F2', '2.6', 'C');
        await result(7, own, 'F3', '3.5');
        worlds.push([await recordOf(a), await recordOf(b), await recordOf(c)]);
      }
      expect(worlds[0]).toEqual(worlds[1]);
    },
  );

  test('identifiers and names that a FHIR client gave to the survivor stay, and messages since find their own patient', async () => {
    const worlds: object[] = [];
    for (const isMerged of [true, false]) {
      const { a, b } = family();
      await admit(1, a, 'Main St');
      await admit(1, b, 'Side St');
      await result(2, b, 'F1', '1.5');
      if (isMerged) await merge(3, a, b);
      const reference = `Patient/${await patientOf(a)}`;
      const survivor = await fhir('GET', reference);
      const identifier = [...z.array(z.unknown()).parse(survivor['identifier']), { system: 'urn:x', value: `${a}x` }];
      await fhir('PUT', reference, { ...survivor, identifier, name: [{ family: 'Roe', given: ['Jane'] }] });
      await result(4, b, 'F2', '2.5');
      if (isMerged) expect((await undo(a)).left).toEqual([]);
      await admit(5, b, 'New St');
      worlds.push([await recordOf(a), await recordOf(b)]);
    }
    expect(worlds[0]).toEqual(worlds[1]);
  });

  test('results that another result’s order numbers joined in the merge are two again', async () => {
    const { a, b } = family();
    const order = (hour: number, number: string, numbers: string, code: string, value: string) =>
      send(
        'ORU^R01',
        hour,
        `${pid(number)}\rOBR|1|${numbers}|K^K^L|||202607010800+0000|||||||||||||||{when}|||F\rOBX|1|NM|${code}^K^L||${value}|mmol/L|||||F`,
      );
    for (const number of [a, b]) await admit(1, number);
    for (const [both, filler] of [
      [a, b],
      [b, a],
    ] as const) {
      await order(1, both, `PL-${both}|F1`, 'NA', '140');
      await order(2, both, `PL-${both}|`, 'K', '1.5');
      await order(3, filler, '|F1', 'K', '1.7');
    }
    const before = [await recordOf(a), await recordOf(b)];
    await merge(4, a, b);
    const seen = await undo(a);
    expect(seen.left).toEqual([]);
    expect(seen.restored).not.toEqual([]);
    expect([await recordOf(a), await recordOf(b)]).toEqual(before);
  });

  test('results and documents that a merge withdrew or superseded are valid again', async () => {
    const { a, b } = family();
    for (const number of [a, b]) await admit(1, number);
    const order = (
      hour: number,
      number: string,
      [filler, status, parent = '', of = '']: readonly string[],
      obx: string,
    ) =>
      send(
        'ORU^R01',
        hour,
        `${pid(number)}\rOBR|1||${filler}|K^K^L|||202607010800+0000|||||||||||||||{when}|||${status}|${parent}|||${of}\rOBX|1|ST|${obx}||||||${status}`,
      );
    const organism = (hour: number, number: string, name: string, status: string) =>
      order(hour, number, ['PA', status], `ORG^Organism^L|1|${name}`);
    const document = (hour: number, number: string, type: string, txa: string) =>
      send(`MDM^${type}`, hour, `${pid(number)}\rTXA|1|OP|TX|||||{when}||||${txa}||||AU\rOBX|1|TX|t||text`);
    for (const [parent, child] of [
      [a, b],
      [b, a],
    ] as const) {
      await organism(2, parent, 'E. coli', 'P');
      for (const [status, filler] of [
        ['P', `CH-${parent}`],
        ['F', `CF-${parent}`],
      ] as const)
        await order(3, child, [filler, status, 'ORG&Organism&L^1^E. coli', '^PA'], 'AMP^Ampicillin^L||S');
      await organism(4, parent, 'S. aureus', 'F');
      await document(2, child, 'T02', `D-${parent}`);
      await document(3, parent, 'T10', `R-${parent}|D-${parent}`);
    }
    const before = [await recordOf(a), await recordOf(b)];
    await merge(5, a, b);
    const count = async (body: string) =>
      at.db.client.query(`select from resource where site_id = $1 and patient_id = $2 and body ~ $3`, [
        at.site,
        await patientOf(a),
        body,
      ]);
    expect((await count('"superseded"')).rowCount).toBe(2);
    expect((await count('"entered-in-error"')).rowCount).toBeGreaterThan(1);
    const seen = await undo(a);
    expect(seen.left).toEqual([]);
    expect([await recordOf(a), await recordOf(b)]).toEqual(before);
  });

  test('an undone merge cannot be undone again', async () => {
    const { a, b } = await admitted();
    await merge(2, a, b);
    const [only] = await merges(a);
    await undo(a);
    const after = await recordOf(b);
    const again = await preview(only?.mergeId ?? '');
    expect(again.refusal).toContain('undone already');
    expect(again.left).toEqual([]);
    await undoMerge(only?.mergeId ?? '', 409);
    expect(await recordOf(b)).toEqual(after);
  });

  test('the page of an undo that was not done keeps its reason', async () => {
    const { a, b } = await admitted();
    await merge(2, a, b);
    const [only] = await merges(a);
    const browser = await signIn(at);
    const post = async (state: string) => {
      const body = new URLSearchParams({ reason: 'two "persons"', state });
      const page = await browser.ask(`${at.baseUrl}/admin/merges/${only?.mergeId}/undo`, {
        method: 'POST',
        headers: { origin: new URL(at.baseUrl).origin },
        body,
      });
      return { status: page.status, text: await page.text() };
    };
    const late = await post('of an earlier preview');
    expect(late).toMatchObject({ status: 409, text: expect.stringContaining('value="two &quot;persons&quot;"') });
    expect(late.text).toContain('Nothing was changed: The records have changed since the preview.');
    await undo(a);
    const undone = await post('of an earlier preview');
    expect(undone).toMatchObject({ status: 409, text: expect.stringContaining('<q>two &quot;persons&quot;</q>') });
    expect(undone.text).toContain('Nothing was changed: The merge is undone already.');
  });

  test('a chain of merges is undone from its end, and messages since belong to their own patient', async () => {
    const worlds: object[] = [];
    for (const isMerged of [true, false]) {
      const { a, b } = family();
      const c = b.replace('b', 'c');
      for (const number of [a, b, c]) {
        await admit(1, number, `${number.at(-1)} St`);
        await result(2, number, `F${'abc'.indexOf(number.at(-1) ?? '') + 1}`, '1.5');
      }
      if (isMerged) await merge(3, b, a);
      await result(4, a, 'F4', '4.5');
      if (isMerged) await merge(5, c, b);
      await result(6, a, 'F5', '5.5');
      await result(6, b, 'F6', '6.5');
      await admit(7, c, 'New St');
      await result(7, a, 'F1', '1.6', 'C');
      if (isMerged) {
        const [second, first] = await merges(b);
        expect((await preview(first?.mergeId ?? '')).refusal).toContain('merged into another patient');
        await undoMerge(first?.mergeId ?? '', 409);
        expect((await undoMerge(second?.mergeId ?? '')).left).toEqual([]);
        await result(8, a, 'F7', '7.5');
        expect((await undoMerge(first?.mergeId ?? '')).left).toEqual([]);
      } else await result(8, a, 'F7', '7.5');
      worlds.push([await recordOf(a), await recordOf(b), await recordOf(c)]);
    }
    expect(worlds[0]).toEqual(worlds[1]);
  });

  test('an undo leaves alone what another merge brought to the survivor', async () => {
    const { a, b } = family();
    const d = b.replace('b', 'd');
    for (const number of [a, b, d]) await admit(1, number, `${number.at(-1)} St`);
    await merge(2, a, d);
    await merge(3, a, b);
    await result(4, d, 'F1', '1.5');
    await result(4, b, 'F2', '2.5');
    const seen = await undo(a);
    expect(seen.left).toEqual([]);
    expect(await resultsOf(a)).toHaveLength(1);
    expect(await resultsOf(b)).toHaveLength(1);
    const [, other] = await merges(a);
    expect((await undoMerge(other?.mergeId ?? '')).left).toEqual([]);
    expect(await resultsOf(d)).toHaveLength(1);
  });

  test('an identifier that another patient got since the merge stays there, and the undo lists it', async () => {
    const { a, b } = await admitted();
    await result(2, b, 'F1', '1.5');
    await merge(3, a, b);
    const old = (await merges(a))[0]?.mergeId ?? '';
    const stranger = `PID|1||${cx(b)}||Roe^Rex||19551231|M`;
    expect(await send('ADT^A01', 4, stranger)).toContain('number-reassigned');
    const seen = await undoMerge(old);
    expect(seen.left).toEqual([
      { reference: expect.stringMatching(/^Patient\//), why: expect.stringContaining('identifiers since') },
    ]);
    // The next message with the identifier still finds the other patient, and only that one.
    expect(await send('ADT^A08', 5, stranger)).toContain('AA');
    const { rows } = await at.db.client.query<{ body: string }>(
      `select r.body from resource r where r.site_id = $1 and r.type = 'Patient' and r.id = $2`,
      [at.site, await patientOf(b)],
    );
    expect(rows[0]?.body).toContain('Roe');
    const { rows: results } = await at.db.client.query(
      `select from resource where site_id = $1 and type = 'Observation' and 'Patient/' || patient_id = $2`,
      [at.site, seen.left[0]?.reference],
    );
    expect(results).toHaveLength(1);
  });

  test('a merge of an unknown patient is undone: its later results return to it', async () => {
    const { a, b } = family();
    await admit(1, a);
    const before = await recordOf(a);
    expect(await merge(2, a, b)).toContain('unknown-patient');
    await result(3, b, 'F1', '1.5');
    await admit(4, b, 'Side St');
    expect(await resultsOf(a)).toHaveLength(1);
    expect((await undo(a)).left).toEqual([]);
    expect(await recordOf(a)).toEqual(before);
    expect(await resultsOf(b)).toHaveLength(1);
    expect(await fhir('GET', `Patient/${await patientOf(b)}`)).toMatchObject({ active: true });
    // It is a patient like any other now.
    await result(5, b, 'F2', '2.5');
    expect(await resultsOf(b)).toHaveLength(2);
  });

  test('an undone pair is dismissed as possible duplicates, and the dismissal can be undone', async () => {
    const { a, b } = family();
    await admit(1, a, 'Main St');
    await admit(1, b, 'Main St');
    await merge(2, a, b);
    await undo(a);
    const issues = async (state: string) => {
      const path = `/attention?state=${state}&kind=possible-duplicate&limit=100`;
      const { items } = await at.json<{
        items: readonly { id: string; why: string; dismissedReason: string; patients: { reference: string }[] }[];
      }>(path);
      const reference = `Patient/${await patientOf(b)}`;
      return items.filter(({ patients }) => patients.some((each) => each.reference === reference));
    };
    const [only, ...more] = await issues('dismissed');
    expect(more).toEqual([]);
    expect(only).toMatchObject({ why: expect.stringContaining('undid the merge'), dismissedReason: 'two persons' });
    expect(await issues('open')).toEqual([]);
    await at.json(`/attention/${only?.id}/reopen`, {});
    expect(await issues('open')).toHaveLength(1);
  });

  test('a resource that may be of either patient stays and is listed', async () => {
    const { a, b } = await admitted();
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

  test('an undo of more than 5,000 resources or 8 MiB is rejected with the limit and the next step', async () => {
    const { a, b } = await admitted();
    await merge(2, a, b);
    const [only] = await merges(a);
    const add = async (count: number, noteBytes = 0) =>
      at.db.client.query(
        `insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
         select $1, 'Observation', gen_random_uuid(), 1, write_time(), '', '"status":"final"' || repeat(' ', $4), $2
           from generate_series(1, $3::int)`,
        [at.site, await patientOf(a), count, noteBytes],
      );
    const isTooLarge = async () => {
      const { status, body } = await at.ask('GET', `/merges/${only?.mergeId}`);
      expect([status, JSON.stringify(body)]).toEqual([
        409,
        expect.stringMatching(/5,000 resources or 8 MiB.*Ask the sender/),
      ]);
    };
    await add(4_999);
    expect((await preview(only?.mergeId ?? '')).refusal).toBeNull();
    await add(1, 8 * 1024 ** 2);
    await isTooLarge();
    await at.db.client.query('delete from resource where site_id = $1 and octet_length(body) > 1024 ^ 2', [at.site]);
    expect((await preview(only?.mergeId ?? '')).refusal).toBeNull();
    await add(2);
    await isTooLarge();
    expect((await call('POST', `/merges/${only?.mergeId}/undo`, { reason: 'x', state: 'x' })).status).toBe(409);
  });

  test('an undo needs its permission, a reason and the state of the preview', async () => {
    const { a, b } = await admitted();
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

  /** Each listed resource as its patient's number and its part. */
  const listedParts = async ({ left }: Preview): Promise<ReadonlySet<string>> => {
    const { rows } = await at.db.client.query<{ name: string }>(
      `select i.value || ' ' || r.type || coalesce(' ' || substring(r.body from '"value": ?"(F[0-9]+)"'), '') as name
         from resource r join patient_identity i on i.site_id = r.site_id and i.id = r.patient_id and i.led
        where r.site_id = $1 and r.type || '/' || r.id = any ($2)`,
      [at.site, left.map(({ reference }) => reference)],
    );
    expect(rows).toHaveLength(left.length);
    return new Set(rows.map(({ name }) => name));
  };

  test('after an undo each difference to records that were never merged is listed, and nothing else is', async () => {
    const next = randomFrom(seed ?? 1);
    const pick = <T>(...all: readonly T[]): T => all[Math.floor(next() * all.length)] as T;
    let unlisted = 0;
    const compared = { equal: 0, listed: 0 };
    const rounds = sized(4, 500);
    for (let round = 0; round < rounds; round += 1) {
      const events = Array.from({ length: 9 }, (_, n) => {
        const [who, filler, value] = [pick('a' as const, 'b' as const), pick('F1', 'F2', 'F3'), `${n}.5`];
        const kind = pick('result', 'result', 'admit', 'allergy', 'correction');
        const part = kind === 'admit' ? 'Patient' : kind === 'allergy' ? 'AllergyIntolerance' : filler;
        const run = async (own: { a: string; b: string }) => {
          const number = own[who];
          if (kind === 'admit') await admit(n + 3, number, `Street ${n}`);
          else if (kind === 'allergy') await allergy(n + 3, number, 'Hives');
          else await result(n + 3, number, filler, value, kind === 'correction' ? 'C' : 'F');
        };
        return { who, part, run };
      });
      const mergedAt = 2 + Math.floor(next() * 6);
      const worlds: { a: ReadonlyMap<string, readonly string[]>; b: ReadonlyMap<string, readonly string[]> }[] = [];
      let names: ReadonlySet<string> = new Set();
      for (const isMerged of [true, false]) {
        const own = family();
        await admit(1, own.a, 'Main St');
        await admit(1, own.b, 'Side St');
        for (const [n, { run }] of events.entries()) {
          if (isMerged && n === mergedAt) await merge(2, own.a, own.b);
          await run(own);
        }
        if (isMerged) {
          const seen = await undo(own.a);
          expect(await listed(own.a)).toBe(seen.left.length > 0 ? 1 : 0);
          names = new Set([...(await listedParts(seen))].map((name) => name.replace(/^P\d+/, '')));
        }
        worlds.push({ a: await partsOf(own.a), b: await partsOf(own.b) });
      }
      const [merged, separate] = worlds;
      for (const who of ['a', 'b'] as const) {
        for (const part of new Set([...(merged?.[who].keys() ?? []), ...(separate?.[who].keys() ?? [])])) {
          // A resource that the merged patient lacks stayed with the survivor.
          const isListed = names.has(`${who} ${part}`) || (!merged?.[who].has(part) && names.has(`a ${part}`));
          compared[isListed ? 'listed' : 'equal'] += 1;
          if (!isListed)
            expect(merged?.[who].get(part), `round ${round}: ${who} ${part}`).toEqual(separate?.[who].get(part));
        }
      }
      // Only messages since the merge about what both patients have make it unclear.
      for (const name of names) {
        const of = events.map((event, n) => ({ ...event, n })).filter(({ part }) => name.endsWith(part));
        expect(new Set(of.map(({ who }) => who)).size, `round ${round}: ${name}`).toBe(2);
        expect(
          of.some(({ n }) => n >= mergedAt),
          `round ${round}: ${name}`,
        ).toBe(true);
      }
      if (names.size === 0) unlisted += 1;
    }
    expect(unlisted).toBeGreaterThan(0);
    expect(compared.equal).toBeGreaterThan(compared.listed);
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
