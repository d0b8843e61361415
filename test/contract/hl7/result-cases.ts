/** Result keys: no message overwrites another result, and a correction finds the result that it corrects. */
import { expect, test } from 'vitest';

import { RESULT_ROWS } from '../../inputs/hl7-result-rows.ts';
import { isLive, objectOf, resultMessage, shown } from '../../inputs/hl7-results.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import type { Reply, Subject } from './subject.ts';

interface Sent {
  readonly patient: string;
  /** OBR-3; '' for none. */
  readonly filler?: string;
  /** OBR-2. */
  readonly placer?: string;
  /** OBR-4. */
  readonly ordered?: string;
  /** OBR-7. */
  readonly collected?: string;
  /** MSH-3 and MSH-4. */
  readonly sender?: string;
  /** False removes the offsets from MSH-7 and OBR-22. */
  readonly hasOffsets?: false;
  /** OBX-3, OBX-4, OBX-5, OBX-11 and OBX-14 of each OBX: `K^Potassium^L|1|4.0|F|202601010800`. */
  readonly obx: readonly string[];
}

export function resultCases(subject: () => Subject): void {
  const obxOf = (text: string, at: number): string => {
    const [code, sub, value, status = 'F', time = ''] = text.split('|');
    return `OBX|${at + 1}|ST|${code}|${sub}|${value}||||||${status}|||${time}`;
  };
  const mshOf = ({ sender = 'LAB|HOSP', hasOffsets }: Pick<Sent, 'sender' | 'hasOffsets'>): string =>
    msh('ORU^R01^ORU_R01')
      .replace('|LAB|HOSP|', `|${sender}|`)
      .replace('+0100', hasOffsets === false ? '' : '+0100');
  const send = ({ patient, filler = '', placer = '', ordered = 'P^Panel^L', collected = '', ...more }: Sent) =>
    subject().post(`${mshOf(more)}
      PID|1||${patient}^^^&1.2.40.7&ISO^MR||Doe^Jane||19800229|F
      OBR|1|${placer}|${filler}|${ordered}|||${collected}|||||||||||||||20260301120000${more.hasOffsets === false ? '' : '+0100'}|||F
      ${more.obx.map(obxOf).join('\n')}`);
  const accepted = (reply: Reply): readonly string[] => {
    expect(reply.status, reply.text).toBe(200);
    return reply.errors;
  };

  interface Row {
    readonly type: string;
    readonly version: number;
    readonly body: string;
  }
  const stored = async (patient: string, type: string): Promise<Row[]> => {
    const { rows } = await subject().db.client.query<Row>(
      `select r.type, r.version, r.body from resource r
         join resource_identifier i on i.site_id = r.site_id and i.type = 'Patient' and i.id = r.patient_id
        where i.value = $1 and r.type = $2 order by r.id`,
      [patient, type],
    );
    return rows;
  };
  /** `value status` of the patient's results, sorted. */
  const values = async (patient: string): Promise<string[]> =>
    (await stored(patient, 'Observation'))
      .map(({ body }) => JSON.parse(`{${body}}`) as { valueString?: string; status: string })
      .map(({ valueString, status }) => `${valueString} ${status}`)
      .toSorted();
  const reports = async (patient: string) => (await stored(patient, 'DiagnosticReport')).length;
  const listed = (patient: string, kind = 'correction-unmatched') =>
    subject().count(`from attention a join resource_identifier i on i.site_id = a.site_id and i.id = a.patient_a
      where a.kind = '${kind}' and i.value = '${patient}'`);

  test('one filler number of two laboratories is two orders', async () => {
    const one = { patient: 'W1', filler: '1001', obx: ['GLU^Glucose^L||90'] };
    accepted(await send({ ...one, sender: 'LAB_A|HOSP', collected: '202601010800+0100' }));
    accepted(await send({ ...one, sender: 'LAB_B|HOSP', obx: ['GLU^Glucose^L||300'] }));
    accepted(await send({ ...one, sender: 'LAB_B|HOSP', collected: '202602010800+0100', obx: ['GLU^Glucose^L||301'] }));
    expect(await values('W1')).toEqual(['301 final', '90 final']);
  });

  test('a yearly repeated accession number is another order', async () => {
    const one = { patient: 'W2', filler: '260001', obx: ['GLU^Glucose^L||90'] };
    accepted(await send({ ...one, collected: '202501020800+0100' }));
    accepted(await send({ ...one, collected: '202601020800+0100', obx: ['GLU^Glucose^L||95'] }));
    expect(await values('W2')).toEqual(['90 final', '95 final']);
    expect(await reports('W2')).toBe(2);
  });

  test('a correction of the second of two collections leaves the first', async () => {
    const one = { patient: 'W3', filler: 'A3', ordered: 'GLU^Glucose^L' };
    accepted(await send({ ...one, collected: '202601010800+0100', obx: ['GLU^Glucose^L||90'] }));
    accepted(await send({ ...one, collected: '202601010900+0100', obx: ['GLU^Glucose^L||150'] }));
    // The same minute, with seconds and in another zone.
    accepted(await send({ ...one, collected: '20260101080012+0000', obx: ['GLU^Glucose^L||155|C'] }));
    expect(await values('W3')).toEqual(['155 corrected', '90 final']);
  });

  test('both numbers find: a result that was filed under one is corrected under the other', async () => {
    const one = { patient: 'W4', collected: '202601010800+0100' };
    accepted(await send({ ...one, placer: 'PL4', obx: ['GLU^Glucose^L||90|P'] }));
    accepted(await send({ ...one, placer: 'PL4', filler: 'FI4', obx: ['GLU^Glucose^L||91|F'] }));
    accepted(await send({ ...one, filler: 'FI4', obx: ['GLU^Glucose^L||92|C'] }));
    expect(await values('W4')).toEqual(['92 corrected']);
    expect(await reports('W4')).toBe(1);
    // Another specimen of the same placer order.
    accepted(await send({ ...one, placer: 'PL4', filler: 'FI4b', obx: ['GLU^Glucose^L||120'] }));
    expect(await values('W4')).toEqual(['120 final', '92 corrected']);
  });

  test('a message with both numbers shows the placer number of results that it does not repeat', async () => {
    const collected = '202601010800';
    const order = { patient: 'both-1', filler: 'F-77', collected };
    accepted(await send({ ...order, obx: ['K^Potassium^L||4.0', 'GLU^Glucose^L||90', 'NA^Sodium^L||140'] }));
    accepted(await send({ ...order, placer: 'P-77', obx: ['K^Potassium^L||4.0'] }));
    // The next year's order has the same placer's number.
    accepted(await send({ patient: 'both-1', placer: 'P-77', collected: '202701010800', obx: ['GLU^Glucose^L||95'] }));
    accepted(
      await send({ patient: 'both-1', placer: 'P-77', collected, obx: ['GLU^Glucose^L||90|D', 'NA^Sodium^L||141|C'] }),
    );
    expect(await values('both-1')).toEqual(
      ['4.0 final', '90 entered-in-error', '95 final', '141 corrected'].toSorted(),
    );
  });

  test('a result under the filler number gets the placer number of an earlier message with both', async () => {
    const order = { patient: 'both-5', collected: '202601010800' };
    accepted(await send({ ...order, filler: 'F-81', placer: 'P-81', obx: ['K^Potassium^L||4.0'] }));
    accepted(await send({ ...order, filler: 'F-81', obx: ['K^Potassium^L||3.9|P', 'NA^Sodium^L||140|P'] }));
    accepted(await send({ ...order, placer: 'P-81', obx: ['NA^Sodium^L||141'] }));
    expect(await values('both-5')).toEqual(['141 final', '4.0 final']);
  });

  test('a result under the filler number finds one under the placer number, which an earlier message named with it', async () => {
    const order = { patient: 'both-7', collected: '202601010800' };
    accepted(await send({ ...order, filler: 'F-83', placer: 'P-83', obx: ['GLU^Glucose^L||90'] }));
    accepted(await send({ ...order, placer: 'P-83', obx: ['K^Potassium^L||4.0'] }));
    accepted(await send({ ...order, filler: 'F-83', obx: ['K^Potassium^L||3.9|P', 'NA^Sodium^L||140'] }));
    expect(await values('both-7')).toEqual(['140 final', '4.0 final', '90 final']);
  });

  test('a filler number with two placer numbers gives none of them to a later result', async () => {
    const order = { patient: 'both-6', filler: 'F-82', collected: '202601010800' };
    accepted(await send({ ...order, placer: 'P-82a', obx: ['K^Potassium^L||4.0'] }));
    accepted(await send({ ...order, placer: 'P-82b', obx: ['HGB^Hemoglobin^L||13'] }));
    accepted(await send({ ...order, obx: ['NA^Sodium^L||140'] }));
    accepted(await send({ ...order, filler: '', placer: 'P-82a', obx: ['NA^Sodium^L||141'] }));
    expect(await values('both-6')).toEqual(['13 final', '140 final', '141 final', '4.0 final']);
  });

  test('a withdrawal under the placer number counts when a message with both numbers arrives', async () => {
    const order = { patient: 'both-2', collected: '202601010800' };
    accepted(await send({ ...order, filler: 'F-78', obx: ['K^Potassium^L||4.0', 'GLU^Glucose^L||90'] }));
    accepted(await send({ ...order, placer: 'P-78', obx: ['GLU^Glucose^L||90|D'] }));
    accepted(await send({ ...order, filler: 'F-78', placer: 'P-78', obx: ['K^Potassium^L||4.1'] }));
    expect(await values('both-2')).toEqual(['4.1 final', '90 entered-in-error', '90 entered-in-error']);
  });

  test('several equal results under one number are not joined with one under the other', async () => {
    const order = { patient: 'both-4', collected: '202601010800' };
    accepted(
      await send({ ...order, filler: 'F-80', obx: ['K^Potassium^L||4', 'GLU^Glucose^L||90', 'GLU^Glucose^L||91'] }),
    );
    accepted(await send({ ...order, placer: 'P-80', obx: ['GLU^Glucose^L||92'] }));
    accepted(await send({ ...order, filler: 'F-80', placer: 'P-80', obx: ['K^Potassium^L||4.1'] }));
    expect(await values('both-4')).toEqual(['4.1 final', '90 final', '91 final', '92 final']);
  });

  test('a placer number of two filler numbers joins none of their results', async () => {
    const order = { patient: 'both-3', placer: 'P-79', collected: '202601010800' };
    accepted(await send({ ...order, obx: ['K^Potassium^L||4.0'] }));
    accepted(await send({ ...order, filler: 'F-79b', obx: ['HGB^Hemoglobin^L||13'] }));
    accepted(await send({ ...order, filler: 'F-79a', obx: ['K^Potassium^L||4.1'] }));
    expect(await values('both-3')).toEqual(['13 final', '4.1 final']);
  });

  test('a result without a collection time gets the time of a later message', async () => {
    const one = { patient: 'W5', filler: 'A5' };
    accepted(await send({ ...one, obx: ['GLU^Glucose^L||90|P'] }));
    accepted(await send({ ...one, collected: '202601010800+0100', obx: ['GLU^Glucose^L||91'] }));
    expect(await values('W5')).toEqual(['91 final']);
    accepted(await send({ ...one, collected: '202601010900+0100', obx: ['GLU^Glucose^L||150'] }));
    expect(await values('W5')).toEqual(['150 final', '91 final']);
  });

  test('a bedside meter without numbers: each measurement stays, and a repeated one is not added', async () => {
    const one = { patient: 'W6', ordered: 'POCT^POCT^L' };
    const at = (time: string, value: string) => send({ ...one, collected: time, obx: [`GLU^Glucose^L||${value}`] });
    for (const [time, value] of [
      ['20260101080000+0100', '90'],
      ['20260101080030+0100', '190'],
      ['20260102080000+0100', '95'],
      ['20260101080000+0100', '90'],
    ] as const) {
      accepted(await at(time, value));
    }
    expect(await values('W6')).toEqual(['190 final', '90 final', '95 final']);
  });

  test('a test added to an old order is stored beside its results', async () => {
    const one = { patient: 'W7', filler: 'A7', collected: '202601010800+0100' };
    accepted(await send({ ...one, obx: ['GLU^Glucose^L||90'] }));
    accepted(await send({ ...one, obx: ['HBA^HbA1c^L||5.5'] }));
    accepted(await send({ ...one, ordered: 'LIP^Lipids^L', obx: ['CHO^Cholesterol^L||180'] }));
    expect(await values('W7')).toEqual(['180 final', '5.5 final', '90 final']);
    expect(await reports('W7')).toBe(2);
    const [panel] = await stored('W7', 'DiagnosticReport');
    expect(panel?.body.match(/"Observation\//g)).toHaveLength(2);
  });

  test('a microbiology final with one more organism keeps the first and reports the ambiguity', async () => {
    const one = { patient: 'W8', filler: 'A8', collected: '202601010800+0100' };
    accepted(await send({ ...one, obx: ['ORG^Organism^L||E. coli|P'] }));
    const errors = accepted(await send({ ...one, obx: ['ORG^Organism^L||Klebsiella', 'ORG^Organism^L||E. coli'] }));
    expect(errors).toEqual(['W 205 OBX^1']);
    expect(await values('W8')).toEqual(['E. coli final', 'Klebsiella final']);
    const rows = await stored('W8', 'Observation');
    expect(rows.find(({ body }) => body.includes('E. coli'))?.version).toBe(2);
    // As many as are known: in order.
    accepted(await send({ ...one, obx: ['ORG^Organism^L||E. coli|C', 'ORG^Organism^L||Proteus|C'] }));
    expect(await values('W8')).toEqual(['E. coli corrected', 'Proteus corrected']);
    // With sub-ids it is clear at once.
    const two = { ...one, patient: 'W8b' };
    accepted(await send({ ...two, obx: ['ORG^Organism^L|1|E. coli|P'] }));
    expect(accepted(await send({ ...two, obx: ['ORG^Organism^L|1|E. coli', 'ORG^Organism^L|2|Proteus'] }))).toEqual([]);
    expect(await values('W8b')).toEqual(['E. coli final', 'Proteus final']);
  });

  test('the second of two results with one key, sent alone, is the second', async () => {
    const one = { patient: 'W9', filler: 'A9', collected: '202601010800+0100' };
    accepted(await send({ ...one, obx: ['ORG^Organism^L||E. coli', 'ORG^Organism^L||Proteus'] }));
    expect(accepted(await send({ ...one, obx: ['ORG^Organism^L||Proteus'] }))).toEqual(['W 205 OBX^1']);
    expect(await values('W9')).toEqual(['E. coli final', 'Proteus final']);
    expect(await listed('W9', 'result-missing')).toBe(1);
    // The key does not show which of the two it corrects.
    expect(accepted(await send({ ...one, obx: ['ORG^Organism^L||Serratia|C'] }))).toEqual(['W 205 OBX^1']);
    expect(await values('W9')).toEqual(['E. coli final', 'Proteus final', 'Serratia corrected']);
    expect(await listed('W9')).toBe(1);
  });

  test('a corrected collection time: stored beside the first, reported and listed', async () => {
    const one = { patient: 'W10', filler: 'A10' };
    accepted(await send({ ...one, collected: '202601010800+0100', obx: ['GLU^Glucose^L||90'] }));
    const errors = accepted(await send({ ...one, collected: '202601010730+0100', obx: ['GLU^Glucose^L||90|C'] }));
    expect(errors).toEqual(['W 205 OBX^1']);
    expect(await values('W10')).toEqual(['90 corrected', '90 final']);
    expect(await listed('W10')).toBe(1);
  });

  test('two simultaneous messages about one new result make one', async () => {
    const one = { patient: 'W11', filler: 'A11', collected: '202601010800+0100' };
    const sent = await Promise.all(['90', '91', '92', '93'].map((value) => send({ ...one, obx: [`G^G^L||${value}`] })));
    sent.forEach(accepted);
    expect(await values('W11')).toHaveLength(1);
    expect(await reports('W11')).toBe(1);
  });

  let rows = 0;
  /** Serial results: OBR of one order and code, without an offset anywhere. @param times of OBR-7, each with its value */
  const serial = async (patient: string, status: string, times: Readonly<Record<string, string>>) =>
    accepted(
      await subject().post(`${mshOf({ hasOffsets: false })}
      PID|1||${patient}^^^&1.2.40.7&ISO^MR||Doe^Jane||19800229|F
      ${Object.entries(times)
        .map(
          ([time, value], at) =>
            `OBR|${at + 1}||S-${patient}|GTT^Tolerance^L|||${time}|||||||||||||||202603011200|||${status}
      OBX|1|ST|GLU^Glucose^L||${value}||||||${status}`,
        )
        .join('\n')}`),
    );

  test('serial results without offsets: a correction, and a final after a preliminary one, replace each its own', async () => {
    for (const [patient, before, after, status] of [
      ['S1', 'F', 'C', 'corrected'],
      ['S2', 'P', 'F', 'final'],
    ] as const) {
      await serial(patient, before, { '202601010800': '90', '202601010900': '150', '202601011000': '120' });
      expect(await serial(patient, after, { '202601010800': '91', '202601010900': '151' })).toEqual([]);
      expect(await values(patient)).toEqual([
        `120 ${before === 'F' ? 'final' : 'preliminary'}`,
        `151 ${status}`,
        `91 ${status}`,
      ]);
      expect(await reports(patient)).toBe(3);
      // The same results in another order, and again.
      expect(
        await serial(patient, after, { '202601010900': '151', '202601011000': '121', '202601010800': '91' }),
      ).toEqual([]);
      expect(await values(patient)).toEqual([`121 ${status}`, `151 ${status}`, `91 ${status}`]);
    }
  });

  test('several times of collection in one order, without offsets, are each updated', async () => {
    const one = { patient: 'S3', filler: 'S3', hasOffsets: false } as const;
    const at = (value: string, status: string, time: string) => `GLU^Glucose^L||${value}|${status}|2026010108${time}`;
    for (const [status, more] of [
      ['P', 0],
      ['F', 1],
      ['C', 2],
    ] as const) {
      const obx = ['00', '20', '40'].map((minute, n) => at(String(90 + 10 * n + more), status, minute));
      expect(accepted(await send({ ...one, obx }))).toEqual([]);
    }
    expect(await values('S3')).toEqual(['102 corrected', '112 corrected', '92 corrected']);
  });

  test('one result of unknown time takes one of two times, and the other is not lost', async () => {
    await serial('S4', 'P', { '': '90' });
    await serial('S4', 'F', { '202601010800': '91', '202601010900': '151' });
    expect(await values('S4')).toEqual(['151 final', '91 final']);
    expect(await reports('S4')).toBe(2);
    // A result with a collection time leaves the unknown time to the other result.
    await serial('S5', 'P', { '': '90', '202601010900': '150' });
    await serial('S5', 'F', { '202601010900': '151', '202601010800': '91' });
    expect(await values('S5')).toEqual(['151 final', '91 final']);
  });

  test.each(RESULT_ROWS)('%s', async (_, messages, live, kinds) => {
    for (const order of [messages, messages.toReversed()]) {
      const patient = `R${(rows += 1)}`;
      for (const each of order)
        accepted(await subject().post(resultMessage(each, `${patient}^^^&1.2.40.7&ISO^MR||Doe^Jane||19800229|F`)));
      const contents = (await stored(patient, 'Observation')).map(({ body }) => objectOf(body));
      expect(contents.filter(isLive).map(shown).toSorted()).toEqual([...live].toSorted());
      for (const kind of kinds) if (order === messages) expect(await listed(patient, kind), kind).toBeGreaterThan(0);
    }
  });

  test('a deleted value has a reason', async () => {
    accepted(await send({ patient: 'N1', filler: 'N1', obx: ['GLU^Glucose^L||""'] }));
    const [row] = await stored('N1', 'Observation');
    expect(row?.body).toContain(
      '"dataAbsentReason":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/data-absent-reason","code":"unknown"',
    );
  });

  test('weights of admissions are dated by EVN-2', async () => {
    for (const [time, weight] of [
      ['202601010800', '70'],
      ['202601010900', '7.0'],
      ['202601010900', '7.0'],
    ] as const) {
      accepted(
        await subject().post(`${msh('ADT^A08^ADT_A01')}
        EVN||${time}+0100
        PID|1||N2^^^&1.2.40.7&ISO^MR||Doe^Jane||19800229|F
        OBX|1|NM|WT^Weight^L||${weight}|kg|||||F`),
      );
    }
    const issued = (await stored('N2', 'Observation')).map(({ body }) => /"issued":"([^"]*)"/.exec(body)?.[1] ?? '');
    expect(issued.toSorted((a, b) => a.localeCompare(b))).toEqual([
      '2026-01-01T07:00:00.000Z',
      '2026-01-01T08:00:00.000Z',
    ]);
  });

  test('results of a merged patient are found with the survivor', async () => {
    const one = { filler: 'A12', collected: '202601010800+0100' };
    accepted(await send({ ...one, patient: 'W12', obx: ['GLU^Glucose^L||90'] }));
    accepted(await send({ ...one, patient: 'W12-old', filler: 'B12', obx: ['GLU^Glucose^L||150'] }));
    const merge = `${msh('ADT^A40^ADT_A39')}
      PID|1||W12^^^&1.2.40.7&ISO^MR||Doe^Jane||19800229|F
      MRG|W12-old^^^&1.2.40.7&ISO^MR`;
    accepted(await subject().post(merge));
    accepted(await send({ ...one, patient: 'W12-old', filler: 'B12', obx: ['GLU^Glucose^L||155|C'] }));
    expect(await values('W12')).toEqual(['155 corrected', '90 final']);
  });
}
