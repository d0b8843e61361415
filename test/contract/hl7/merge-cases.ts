/** A merge combines results with one key from two patient records: the later statement stays, in either record. */
import { expect, test } from 'vitest';

import { type JsonObject, readObject } from '../../stack/tools/exact-json.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import type { Reply, Subject } from './subject.ts';

interface Sent {
  readonly patient: string;
  /** OBR-3. */
  readonly filler?: string;
  /** OBR-2. */
  readonly placer?: string;
  /** OBR-4. */
  readonly ordered?: string;
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
    const { day = '01', sender = 'LAB|HOSP', placer = '', ordered = 'P', obx } = more;
    const report = obx.some((each) => each.endsWith('|C')) ? 'C' : 'F';
    accepted(
      await subject().post(`${msh('ORU^R01^ORU_R01').replace('|LAB|HOSP|', `|${sender}|`)}
        PID|1||${patient}^^^&1.2.40.9&ISO^MR||Doe^Jane||19800229|F
        OBR|1|${placer}|${filler}|${ordered}^Panel^L|||${collected}|||||||||||||||202603${day}1200+0100|||${report}
        ${obx.map(obxOf).join('\n')}`),
    );
  };
  const merge = async (survivor: string, loser: string) =>
    accepted(
      await subject().post(`${msh('ADT^A40^ADT_A39')}
        PID|1||${survivor}^^^&1.2.40.9&ISO^MR||Doe^Jane||19800229|F
        MRG|${loser}^^^&1.2.40.9&ISO^MR`),
    );
  /** @param day the day in March for EVN-2 */
  const say = async (type: string, patient: string, day: string, lines: string) =>
    accepted(
      await subject().post(`${msh(type)}
        EVN||202603${day}1200+0100
        PID|1||${patient}^^^&1.2.40.9&ISO^MR||Doe^Jane||19800229|F
        ${lines}`),
    );
  /** The resources of the patient with this number, merged or not. */
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

  test('the later statement of either record stays, with all digits; the other is entered-in-error', async () => {
    await send({ patient: 'MEET1-old', day: '01', obx: ['K|1.50'] });
    await send({ patient: 'MEET1', day: '02', obx: ['K|1.70||C'] });
    await merge('MEET1', 'MEET1-old');
    expect(await values('MEET1')).toEqual(['1.50 entered-in-error', '1.70 corrected']);

    await send({ patient: 'MEET2', day: '01', obx: ['K|1.50'] });
    await send({ patient: 'MEET2-old', day: '02', obx: ['K|1.70||C'] });
    await merge('MEET2', 'MEET2-old');
    expect(await values('MEET2')).toEqual(['1.70 corrected', '1.70 entered-in-error']);
  });

  test('statements of two patients before the merge count as statements of one patient', async () => {
    const end = async (patient: string) => (await values(patient)).filter((each) => !each.endsWith('error'));
    for (const [at, [mine, theirs]] of [
      ['01|1|F 02|2|W', '03|3|P'],
      ['03|3|P 01|1|F', '02|2|W'],
      ['02|2|W', '03|3|P 01|1|F'],
      ['03|3|P', '01|1|F 02||W'],
    ].entries()) {
      for (const [number, said = ''] of [
        [`MEETW${at}`, mine],
        [`MEETW${at}-old`, theirs],
      ] as const) {
        for (const each of said.split(' ')) {
          const [day = '', value = '', status = ''] = each.split('|');
          await send({ patient: number, day, obx: [`K|${value}||${status}`] });
        }
      }
      await merge(`MEETW${at}`, `MEETW${at}-old`);
      expect(await end(`MEETW${at}`), String(at)).toEqual(['3 preliminary']);
    }
    // The merge keeps the hidden statement for a later withdrawal.
    await send({ patient: 'MEETX', day: '01', obx: ['K|1||F'] });
    await send({ patient: 'MEETX-old', day: '03', obx: ['K|3||P'] });
    await merge('MEETX', 'MEETX-old');
    expect(await end('MEETX')).toEqual(['1 final']);
    await send({ patient: 'MEETX-old', day: '02', obx: ['K|1||W'] });
    expect(await end('MEETX')).toEqual(['3 preliminary']);
  });

  test('each result of one patient merges with at most one result of the other', async () => {
    const old = { patient: 'MEETY-old', day: '01' };
    await send({ ...old, collected: '202601010800+0100', obx: ['K|1'] });
    await send({ ...old, collected: '202601010900+0100', obx: ['K|2'] });
    // The result may equal either of the two, so it remains a third one.
    await send({ ...old, collected: '', obx: ['K|3'] });
    await send({ patient: 'MEETY', day: '02', collected: '202601010800+0100', obx: ['K|4'] });
    await merge('MEETY', 'MEETY-old');
    expect(await values('MEETY')).toEqual(['1 entered-in-error', '2 final', '3 final', '4 final']);
  });

  test('a result under the filler number, its withdrawal under the placer number, and one with both are one', async () => {
    for (const [survivor, merged] of [
      ['MEET-NO1', 'MEET-NO2'],
      ['MEET-NO4', 'MEET-NO3'],
    ] as const) {
      const [one, both] = survivor < merged ? [survivor, merged] : [merged, survivor];
      await send({ patient: one, filler: 'FI1', day: '01', obx: ['NA|138||P'] });
      await send({ patient: both, filler: 'FI1', placer: 'PL1', day: '02', obx: ['NA|140'] });
      await send({ patient: one, filler: '', placer: 'PL1', day: '03', obx: ['NA|||W'] });
      await merge(survivor, merged);
      expect((await values(survivor)).map((each) => each.split(' ')[1])).toEqual(
        Array.from({ length: 3 }, () => 'entered-in-error'),
      );
    }
  });

  test.each([
    ['of the survivor', 'MEET-LA', 'MEET-LB', 'MEET-LA'],
    ['of the merged patient', 'MEET-LC', 'MEET-LD', 'MEET-LD'],
  ])(
    'a result under the filler’s and one under the placer’s number are one, if another result %s has both',
    async (_name, survivor, merged, both) => {
      const other = both === survivor ? merged : survivor;
      await send({ patient: both, filler: `FL-${both}`, placer: `PL-${both}`, day: '01', obx: ['NA|140'] });
      await send({ patient: both, filler: '', placer: `PL-${both}`, day: '02', obx: ['K|5||P'] });
      await send({ patient: other, filler: `FL-${both}`, day: '03', obx: ['K|4||P'] });
      await merge(survivor, merged);
      const live = (await values(survivor)).filter((each) => !each.endsWith('entered-in-error'));
      expect(live).toEqual(['140 final', '4 preliminary']);
    },
  );

  test('a placer’s number of two filler’s numbers joins none of their results', async () => {
    for (const filler of ['FM1', 'FM2'])
      await send({ patient: 'MEETM', filler, placer: 'PM', day: '01', obx: ['NA|140'] });
    await send({ patient: 'MEETM', filler: '', placer: 'PM', day: '02', obx: ['K|5||P'] });
    for (const filler of ['FM1', 'FM2']) await send({ patient: 'MEETM-old', filler, day: '03', obx: ['K|4||P'] });
    await merge('MEETM', 'MEETM-old');
    expect(await values('MEETM')).toEqual([
      '140 final',
      '140 final',
      '4 preliminary',
      '4 preliminary',
      '5 preliminary',
    ]);
  });

  test('a merge that states a result itself has it once', async () => {
    for (const [patient, day] of [
      ['MEETZ-old', '01'],
      ['MEETZ', '02'],
    ] as const)
      await say('ADT^A08', patient, day, 'OBX|1|NM|K^K^L||1|mg/dL|||||F|||202601010800+0100');
    accepted(
      await subject().post(`${msh('ADT^A40^ADT_A39')}
        EVN||202603031200+0100
        PID|1||MEETZ^^^&1.2.40.9&ISO^MR||Doe^Jane||19800229|F
        MRG|MEETZ-old^^^&1.2.40.9&ISO^MR
        OBX|1|NM|K^K^L||2|mg/dL|||||C|||202601010800+0100`),
    );
    expect(await values('MEETZ')).toEqual(['1 entered-in-error', '2 corrected']);
  });

  test('a withdrawal and a result with the same time are listed', async () => {
    await send({ patient: 'MEETT', day: '01', obx: ['K|1||F'] });
    await send({ patient: 'MEETT-old', day: '01', obx: ['K|1||W'] });
    await merge('MEETT', 'MEETT-old');
    expect(await values('MEETT')).toEqual(['1 entered-in-error', '1 entered-in-error']);
    const listed = `from attention a join patient_identity i on i.site_id = a.site_id and i.id = a.patient_a
      where a.kind = 'tied-result' and i.value = 'MEETT'`;
    expect(await subject().count(listed)).toBe(1);
  });

  test('references to the replaced result change to the kept result', async () => {
    // Two reports of one order that have the same result.
    await send({ patient: 'MEETR-old', ordered: 'Q', day: '01', obx: ['K|1'] });
    await send({ patient: 'MEETR', day: '02', obx: ['K|2'] });
    const [kept] = await stored('MEETR', 'Observation');
    await merge('MEETR', 'MEETR-old');
    const reports = (await stored('MEETR', 'DiagnosticReport')).map(parsed).filter(({ status }) => status === 'final');
    expect(reports.map(({ result }) => result)).toEqual([1, 2].map(() => [{ reference: `Observation/${kept?.id}` }]));
  });

  test('a report is one, has the results of both that stay, and is found as completed once', async () => {
    await send({ patient: 'MEET3-old', day: '02', obx: ['K|4.0', 'NA|140'] });
    await send({ patient: 'MEET3', day: '01', obx: ['K|3.9', 'CL|100'] });
    await merge('MEET3', 'MEET3-old');
    expect(await values('MEET3')).toEqual(['100 final', '140 final', '4.0 entered-in-error', '4.0 final']);
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

  test('a late correction under the old number corrects the kept result', async () => {
    await send({ patient: 'MEET4-old', day: '01', obx: ['K|1'] });
    await send({ patient: 'MEET4', day: '02', obx: ['K|2'] });
    await merge('MEET4', 'MEET4-old');
    await send({ patient: 'MEET4-old', day: '03', obx: ['K|3||C'] });
    expect(await values('MEET4')).toEqual(['1 entered-in-error', '3 corrected']);
    // A statement older than both changes nothing.
    await send({ patient: 'MEET4', day: '01', obx: ['K|9'] });
    expect(await values('MEET4')).toEqual(['1 entered-in-error', '3 corrected']);
  });

  test('results of other orders, laboratories, codes or collection times do not merge', async () => {
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

  test('similar results merge if each is the only one for the other', async () => {
    await send({ patient: 'MEETS1-old', filler: 'E1', day: '01', collected: '20260101080047+0100', obx: ['K|1'] });
    await send({ patient: 'MEETS1', filler: 'E1', day: '02', collected: '202601010801+0100', obx: ['K|2'] });
    await merge('MEETS1', 'MEETS1-old');
    expect(await values('MEETS1')).toEqual(['1 entered-in-error', '2 final']);
    await send({ patient: 'MEETS2-old', filler: 'E2^LAB', day: '01', obx: ['K|1'] });
    await send({ patient: 'MEETS2', filler: 'E2', day: '02', obx: ['K|2'] });
    await merge('MEETS2', 'MEETS2-old');
    expect(await values('MEETS2')).toEqual(['1 entered-in-error', '2 final']);
    expect(await stored('MEETS2', 'DiagnosticReport')).toHaveLength(2);
    // Either of two may be the other.
    await send({ patient: 'MEETS3-old', filler: 'E3^LAB', day: '01', obx: ['K|1', 'K|3'] });
    await send({ patient: 'MEETS3', filler: 'E3', day: '02', obx: ['K|2'] });
    await merge('MEETS3', 'MEETS3-old');
    expect(await values('MEETS3')).toEqual(['1 final', '2 final', '3 final']);
  });

  test('a result with a collection time in only one record is one result, and keeps that time', async () => {
    await send({ patient: 'MEET6-old', filler: 'D1', day: '01', obx: ['K|1'] });
    await send({ patient: 'MEET6', filler: 'D1', day: '02', collected: '', obx: ['K|2'] });
    await merge('MEET6', 'MEET6-old');
    expect(await values('MEET6')).toEqual(['1 entered-in-error', '2 final']);
    await send({ patient: 'MEET6', filler: 'D1', day: '03', collected: '202601020800+0100', obx: ['K|3'] });
    expect(await values('MEET6')).toEqual(['1 entered-in-error', '2 final', '3 final']);
  });

  test('only equal results merge among several with equal keys, unless both records have the same number', async () => {
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

  test('a repeated merge changes nothing', async () => {
    await send({ patient: 'MEET9-old', day: '01', obx: ['K|1'] });
    await send({ patient: 'MEET9', day: '02', obx: ['K|2'] });
    await merge('MEET9', 'MEET9-old');
    const before = await stored('MEET9', 'Observation');
    await merge('MEET9', 'MEET9-old');
    expect(await stored('MEET9', 'Observation')).toEqual(before);
  });

  const PENICILLIN = 'AL1|1|DA|PEN^Penicillin^L';
  const members = async (patient: string, type: string): Promise<JsonObject[]> =>
    (await stored(patient, type)).map(({ body }) => readObject(`{${body}}`));
  /** Resources that no merge replaced. */
  const current = async (patient: string, type: string): Promise<JsonObject[]> =>
    (await members(patient, type)).filter((each) => !JSON.stringify(each).includes('"entered-in-error"'));

  test('an allergy in both records is one allergy, with the details of both', async () => {
    await say('ADT^A08', 'FILE1-old', '01', `${PENICILLIN}|SV|Anaphylaxis`);
    await say('ADT^A08', 'FILE1', '02', `${PENICILLIN}|MI`);
    await merge('FILE1', 'FILE1-old');
    const [only, ...more] = await current('FILE1', 'AllergyIntolerance');
    expect([only?.['criticality'], only?.['reaction'], more.length]).toEqual([
      'low',
      [{ manifestation: [{ text: 'Anaphylaxis' }] }],
      0,
    ]);
    const gone = (await members('FILE1', 'AllergyIntolerance')).filter((each) => each['clinicalStatus'] === undefined);
    expect(gone).toHaveLength(1);
    // The other record has the newer statement.
    await say('ADT^A08', 'FILE2-old', '02', `${PENICILLIN}|SV`);
    await say('ADT^A08', 'FILE2', '01', `${PENICILLIN}|MO`);
    await merge('FILE2', 'FILE2-old');
    expect((await current('FILE2', 'AllergyIntolerance')).map((each) => each['criticality'])).toEqual(['high']);
  });

  test('an allergy, diagnosis or procedure is inactive if it is withdrawn after the merge', async () => {
    const lines = (end: string) => `DG1|1||I10^Hypertension^I10||20260101${end === '' ? '' : `${'|'.repeat(16)}${end}`}
        PR1|1||1^Appendectomy^L||20260101${end === '' ? '' : `${'|'.repeat(15)}${end}`}
        IAM|1|DA|PEN^Penicillin^L|||${end}`;
    await say('ADT^A08', 'FILE3-old', '01', lines(''));
    await say('ADT^A08', 'FILE3', '02', lines(''));
    await merge('FILE3', 'FILE3-old');
    for (const type of ['AllergyIntolerance', 'Condition', 'Procedure'])
      expect([type, await current('FILE3', type)]).toEqual([type, [expect.anything()]]);
    await say('ADT^A08', 'FILE3-old', '03', lines('D'));
    for (const type of ['AllergyIntolerance', 'Condition', 'Procedure'])
      expect([type, await current('FILE3', type)]).toEqual([type, []]);
  });

  test('a later withdrawal in one record also applies to the other record’s statement', async () => {
    await say('ADT^A08', 'FILE4-old', '02', 'IAM|1|DA|PEN^Penicillin^L|||D');
    await say('ADT^A08', 'FILE4', '01', `${PENICILLIN}|SV`);
    await merge('FILE4', 'FILE4-old');
    expect(await current('FILE4', 'AllergyIntolerance')).toEqual([]);
  });

  test('a document in both records is one, and its replacement in one record refers to the kept document', async () => {
    const txa = (number: string, parent = '') => `TXA|1|OP||||||||||${number}|${parent}||||AU||AV\nOBX|1|TX|t||x`;
    await say('MDM^T02', 'FILE5-old', '01', txa('D1'));
    await say('MDM^T10', 'FILE5-old', '02', txa('D2', 'D1'));
    await say('MDM^T02', 'FILE5', '03', txa('D1'));
    await merge('FILE5', 'FILE5-old');
    const documents = await stored('FILE5', 'DocumentReference');
    const kept = documents.find(({ body }) => body.includes('"superseded"'));
    const replacement = documents.find(({ body }) => body.includes('"relatesTo"'));
    expect(documents).toHaveLength(3);
    expect(documents.filter(({ body }) => body.includes('"status":"current"'))).toEqual([replacement]);
    expect(replacement?.body).toContain(`"DocumentReference/${kept?.id}"`);
  });

  test('a document is superseded by its replacement in the other record', async () => {
    const txa = (number: string, parent = '') => `TXA|1|OP||||||||||${number}|${parent}||||AU||AV\nOBX|1|TX|t||x`;
    await say('MDM^T10', 'FILE6-old', '02', txa('D2', 'D1'));
    await say('MDM^T02', 'FILE6', '03', txa('D1'));
    await merge('FILE6', 'FILE6-old');
    const documents = await stored('FILE6', 'DocumentReference');
    const replaced = documents.find(({ body }) => body.includes('"superseded"'));
    expect(documents).toHaveLength(2);
    expect(documents.find(({ body }) => body.includes('"current"'))?.body).toContain(
      `"DocumentReference/${replaced?.id}"`,
    );
  });

  test('a document that was cancelled in the other record by its number alone is cancelled', async () => {
    const txa = (number: string) => `TXA|1|OP||||||||||${number}|||||AU||AV\nOBX|1|TX|t||x`;
    for (const [at, [filed, cancelling]] of [
      ['', '-old'],
      ['-old', ''],
    ].entries()) {
      const patient = `FILE8${at}`;
      await say('MDM^T02', `${patient}${filed}`, '01', txa('D1'));
      await say('MDM^T02', `${patient}${filed}`, '01', txa('D2'));
      await say('MDM^T11', `${patient}${cancelling}`, '02', 'TXA|1|OP||||||||||D1|||||AU||CA');
      await merge(patient, `${patient}-old`);
      const current = async () =>
        (await stored(patient, 'DocumentReference')).filter(({ body }) => body.includes('"status":"current"'));
      expect(await current()).toHaveLength(1);
      // The number is no longer open: another sender's document with it is another document.
      await say('MDM^T02', patient, '03', txa('D1^OTHER'));
      expect(await current()).toHaveLength(2);
    }
  });

  test('allergies to something else, and those of a third patient, are left alone', async () => {
    await say('ADT^A08', 'FILE7-old', '01', 'AL1|1|DA|ASA^Aspirin^L|SV');
    await say('ADT^A08', 'FILE7', '02', `${PENICILLIN}|SV`);
    await say('ADT^A08', 'FILE7-other', '01', `${PENICILLIN}|SV`);
    await merge('FILE7', 'FILE7-old');
    expect(await current('FILE7', 'AllergyIntolerance')).toHaveLength(2);
    expect(await current('FILE7-other', 'AllergyIntolerance')).toHaveLength(1);
  });
}
