/** Results of one key that meet when two charts become one: the newer stays, whichever chart it was in. */
import { expect, test } from 'vitest';

import { msh } from '../../stack/tools/hl7-text.ts';
import type { Reply, Subject } from './subject.ts';

interface Sent {
  readonly patient: string;
  /** OBR-3. */
  readonly filler?: string;
  /** OBR-7. */
  readonly collected?: string;
  /** OBR-22, the day of March. */
  readonly day?: string;
  /** MSH-3 and MSH-4. */
  readonly sender?: string;
  /** OBX-3, OBX-5, OBX-6 and OBX-11 of each OBX: `K|1.50|mmol/L|F`. */
  readonly obx: readonly string[];
}

interface Stored {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

interface Result {
  readonly status: string;
  readonly valueQuantity?: unknown;
  readonly result?: readonly { readonly reference: string }[];
}

export function mergeCases(subject: () => Subject): void {
  const obxOf = (text: string, at: number): string => {
    const [code, value, unit = 'mg/dL', status = 'F'] = text.split('|');
    return `OBX|${at + 1}|NM|${code}^${code}^L||${value}|${unit}|||||${status}`;
  };
  const accepted = (reply: Reply): readonly string[] => {
    expect(reply.status, reply.text).toBe(200);
    return reply.errors;
  };
  const send = async ({ patient, filler = 'A1', collected = '202601010800+0100', ...more }: Sent) => {
    const { day = '01', sender = 'LAB|HOSP', obx } = more;
    const report = obx.some((each) => each.endsWith('|C')) ? 'C' : 'F';
    accepted(
      await subject().post(`${msh('ORU^R01^ORU_R01').replace('|LAB|HOSP|', `|${sender}|`)}
        PID|1||${patient}^^^&1.2.40.9&ISO^MR||Doe^Jane||19800229|F
        OBR|1||${filler}|P^Panel^L|||${collected}|||||||||||||||202603${day}1200+0100|||${report}
        ${obx.map(obxOf).join('\n')}`),
    );
  };
  const merge = async (survivor: string, loser: string) =>
    accepted(
      await subject().post(`${msh('ADT^A40^ADT_A39')}
        PID|1||${survivor}^^^&1.2.40.9&ISO^MR||Doe^Jane||19800229|F
        MRG|${loser}^^^&1.2.40.9&ISO^MR`),
    );
  /** Of the patient that the number leads to, merged or not. */
  const stored = async (patient: string, type: string): Promise<Stored[]> => {
    const { rows } = await subject().db.client.query<Stored>(
      `select distinct r.id, r.type, r.body from resource r
         join patient_identity i on i.site_id = r.site_id and i.id = r.patient_id
        where r.site_id = $1 and i.value = $2 and r.type = $3 order by r.id`,
      [subject().site, patient, type],
    );
    return rows;
  };
  const parsed = ({ body }: Stored): Result => JSON.parse(`{${body}}`) as Result;
  const values = async (patient: string): Promise<string[]> =>
    (await stored(patient, 'Observation'))
      .map(({ body }) => `${/"value":([\d.]+)/.exec(body)?.[1]} ${/"status":"([a-z-]+)"/.exec(body)?.[1]}`)
      .toSorted();

  test('the newer result stays, whichever chart has it, digits and all; the other is entered-in-error', async () => {
    await send({ patient: 'MEET1-old', day: '01', obx: ['K|1.50'] });
    await send({ patient: 'MEET1', day: '02', obx: ['K|1.70||C'] });
    await merge('MEET1', 'MEET1-old');
    expect(await values('MEET1')).toEqual(['1.50 entered-in-error', '1.70 corrected']);

    await send({ patient: 'MEET2', day: '01', obx: ['K|1.50'] });
    await send({ patient: 'MEET2-old', day: '02', obx: ['K|1.70||C'] });
    await merge('MEET2', 'MEET2-old');
    expect(await values('MEET2')).toEqual(['1.50 entered-in-error', '1.70 corrected']);
  });

  test('a report is one, has the results of both that stay, and is found as completed once', async () => {
    await send({ patient: 'MEET3-old', day: '02', obx: ['K|4.0', 'NA|140'] });
    await send({ patient: 'MEET3', day: '01', obx: ['K|3.9', 'CL|100'] });
    await merge('MEET3', 'MEET3-old');
    expect(await values('MEET3')).toEqual(['100 final', '140 final', '3.9 entered-in-error', '4.0 final']);
    const reports = await stored('MEET3', 'DiagnosticReport');
    expect(reports.map((each) => parsed(each).status).toSorted()).toEqual(['entered-in-error', 'final']);
    const current = (await stored('MEET3', 'Observation')).filter((each) => parsed(each).status === 'final');
    const kept = reports.map(parsed).find(({ status }) => status === 'final');
    expect(kept?.result?.map(({ reference }) => reference).toSorted()).toEqual(
      current.map(({ id }) => `Observation/${id}`).toSorted(),
    );
    expect(
      await subject().count(
        `from report where state = 'completed' and report_id in ('${reports.map(({ id }) => id).join("','")}')`,
      ),
    ).toBe(1);
  });

  test('a late correction under the old number corrects the one that stays', async () => {
    await send({ patient: 'MEET4-old', day: '01', obx: ['K|1'] });
    await send({ patient: 'MEET4', day: '02', obx: ['K|2'] });
    await merge('MEET4', 'MEET4-old');
    await send({ patient: 'MEET4-old', day: '03', obx: ['K|3||C'] });
    expect(await values('MEET4')).toEqual(['1 entered-in-error', '3 corrected']);
    // What is older than both changes nothing.
    await send({ patient: 'MEET4', day: '01', obx: ['K|9'] });
    expect(await values('MEET4')).toEqual(['1 entered-in-error', '3 corrected']);
  });

  test('results of other orders, laboratories, codes or times of collection do not meet', async () => {
    const old = { patient: 'MEET5-old', day: '01' };
    await send({ ...old, filler: 'B1', obx: ['K|1'] });
    await send({ ...old, filler: 'B2', sender: 'LAB_A|HOSP', obx: ['K|2'] });
    await send({ ...old, filler: 'B3', obx: ['NA|3'] });
    await send({ ...old, filler: 'B4', collected: '202601010800+0100', obx: ['K|4'] });
    const other = { patient: 'MEET5', day: '02' };
    await send({ ...other, filler: 'B9', obx: ['K|5'] });
    await send({ ...other, filler: 'B2', sender: 'LAB_B|HOSP', obx: ['K|6'] });
    await send({ ...other, filler: 'B3', obx: ['K|7'] });
    await send({ ...other, filler: 'B4', collected: '202501010800+0100', obx: ['K|8'] });
    await merge('MEET5', 'MEET5-old');
    expect(await values('MEET5')).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((value) => `${value} final`));
  });

  test('a result whose time of collection only one chart knows is one, and knows it from then on', async () => {
    await send({ patient: 'MEET6-old', filler: 'D1', day: '01', obx: ['K|1'] });
    await send({ patient: 'MEET6', filler: 'D1', day: '02', collected: '', obx: ['K|2'] });
    await merge('MEET6', 'MEET6-old');
    expect(await values('MEET6')).toEqual(['1 entered-in-error', '2 final']);
    await send({ patient: 'MEET6', filler: 'D1', day: '03', collected: '202601020800+0100', obx: ['K|3'] });
    expect(await values('MEET6')).toEqual(['1 entered-in-error', '2 final', '3 final']);
  });

  test('of several that nothing tells apart only equal ones meet, unless there are as many in both', async () => {
    await send({ patient: 'MEET7-old', day: '01', obx: ['K|1', 'K|2'] });
    await send({ patient: 'MEET7', day: '02', obx: ['K|2'] });
    await merge('MEET7', 'MEET7-old');
    expect(await values('MEET7')).toEqual(['1 final', '2 entered-in-error', '2 final']);

    await send({ patient: 'MEET8-old', day: '01', obx: ['K|1', 'K|2'] });
    await send({ patient: 'MEET8', day: '02', obx: ['K|3', 'K|4'] });
    await merge('MEET8', 'MEET8-old');
    expect(await values('MEET8')).toEqual(['1 entered-in-error', '2 entered-in-error', '3 final', '4 final']);
    await send({ patient: 'MEET8', day: '03', obx: ['K|5||C', 'K|6||C'] });
    expect(await values('MEET8')).toEqual(['1 entered-in-error', '2 entered-in-error', '5 corrected', '6 corrected']);
  });

  test('a merge that comes again changes nothing', async () => {
    await send({ patient: 'MEET9-old', day: '01', obx: ['K|1'] });
    await send({ patient: 'MEET9', day: '02', obx: ['K|2'] });
    await merge('MEET9', 'MEET9-old');
    const before = await stored('MEET9', 'Observation');
    await merge('MEET9', 'MEET9-old');
    expect(await stored('MEET9', 'Observation')).toEqual(before);
  });
}
