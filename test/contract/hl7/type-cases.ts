/** The accepted types and events of messages, their specimens and notes, and the messages that get no answer. */
import { describe, expect, test } from 'vitest';

import { createApiKey } from '../../stack/services/seed.ts';
import { readObject, type JsonObject } from '../../stack/tools/exact-json.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import type { Subject } from './subject.ts';

const pid = (id: string) => `PID|1||${id}^^^&1.2.40.9&ISO^MR||Doe^Jane||19800229|F`;
const OBR = 'OBR|1|P1|F1|GLU^Glucose^L|||202601010800+0100|||||||||||||||202601010900+0100|||F';
const OBX = 'OBX|1|NM|GLU^Glucose^L||90|mg/dL|||||F';
const SPM =
  'SPM|1|^S1||BLDV^Blood venous^HL70487|||VENIP^Venipuncture^HL70488|368208006^Arm^SCT|L^Left^HL70495|||||||||||||||HEM^Hemolyzed^HL70493';

export function typeCases(subject: () => Subject): void {
  const stored = async (patient: string, type: string): Promise<JsonObject[]> => {
    const { rows } = await subject().db.client.query<{ body: string }>(
      `select r.body from resource r
         join resource_identifier i on i.site_id = r.site_id and i.type = 'Patient' and i.id = coalesce(r.patient_id, r.id)
        where i.value = $1 and r.type = $2 order by r.id`,
      [patient, type],
    );
    return rows.map(({ body }) => readObject(`{${body}}`));
  };
  const accepted = async (message: string): Promise<readonly string[]> => {
    const reply = await subject().post(message);
    expect(reply.status, reply.text).toBe(200);
    return reply.errors;
  };

  test.each([
    'ORU^R30^ORU_R30',
    'ORU^R31',
    'ORU^R32',
    'ORU^R40',
    'ORU^W01',
    'oru^r01',
    'OUL^R22',
    'OUL^R23',
    'OUL^R24',
  ])('%s files results like ORU^R01', async (type) => {
    const id = `TY-${type.replaceAll('^', '-')}`;
    const isOul = type.startsWith('OUL');
    expect(await accepted([msh(type), pid(id), ...(isOul ? [SPM] : []), OBR, OBX].join('\n'))).toEqual([]);
    expect(await stored(id, 'Observation')).toMatchObject([{ status: 'final' }]);
    expect(await stored(id, 'DiagnosticReport')).toHaveLength(1);
  });

  test('ORU without an event means R01, and small letters mean the same', async () => {
    expect(await accepted(`${msh('ORU')}\n${pid('TY-ORU')}\n${OBR}\n${OBX}`)).toEqual(['W 101 MSH^1^9^1^2']);
    expect(await stored('TY-ORU', 'Observation')).toHaveLength(1);
    expect(
      await subject().count(`from hl7_message where message_type = 'ORU^R01' and errors::text like '%no-event%'`),
    ).toBe(1);
    expect(await subject().count(`from hl7_message where message_type = 'oru^r01'`)).toBe(0);
  });

  test('quality control without a patient is accepted and stored only', async () => {
    expect(await accepted(`${msh('OUL^R22', 'TY-QC')}\nSPM|1|||CTRL^Control^L|||||||Q\n${OBR}\n${OBX}`)).toEqual([
      'I 0 MSH^1^9',
    ]);
    expect(await subject().count(`from hl7_message where control_id = 'TY-QC' and outcome = 'AA'`)).toBe(1);
  });

  test('PPR keeps a problem of the list through its changes, in any order of arrival', async () => {
    const steps: readonly (readonly [event: string, prb: string])[] = [
      ['PC1', 'PRB|AD|20260101080000|E11^Diabetes^I10|77'],
      ['PC2', 'PRB|UP|20260102080000|E11^Diabetes^I10|77|||||||||confirmed|remission'],
      ['PC3', 'PRB|DE|20260103080000|E11^Diabetes^I10|77'],
    ];
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ]) {
      const id = `TY-PPR${order.join('')}`;
      for (const at of order) {
        const [event, prb] = steps[at] ?? ['', ''];
        await accepted(`${msh(`PPR^${event}`)}\n${pid(id)}\n${prb}`);
      }
      const [problem, ...more] = await stored(id, 'Condition');
      expect(more).toEqual([]);
      expect(problem).toMatchObject({
        verificationStatus: { coding: [{ code: 'entered-in-error' }] },
        category: [{ coding: [{ code: 'problem-list-item' }] }],
      });
      expect(problem).not.toHaveProperty('clinicalStatus');
    }
  });

  test.each(['ORM^O01', 'OML^O21'])(
    '%s updates the patient like a result, and its diagnoses never weaken an established one',
    async (type) => {
      const id = `TY-${type.replaceAll('^', '-')}`;
      const dg1 = 'DG1|1||E11^Diabetes^I10';
      await accepted(`${msh('ADT^A01')}\n${pid(id)}\n${dg1}`);
      const order = `${msh(type)}\n${pid(id).replace('Jane', 'Joan')}\nAL1|1|DA|PEN^Penicillin^L\nORC|NW|P1\n${OBR}\n${dg1}\n${OBX}`;
      expect(await accepted(order)).toContain('I 201 MSH^1^9^1^2');
      expect(await stored(id, 'Patient')).toMatchObject([{ name: [{ given: ['Jane'] }] }]);
      expect(await stored(id, 'AllergyIntolerance')).toHaveLength(1);
      expect(await stored(id, 'Observation')).toEqual([]);
      const conditions = await stored(id, 'Condition');
      expect(conditions).toHaveLength(2);
      expect(conditions[0]).not.toHaveProperty('verificationStatus');
      expect(conditions[1]).toMatchObject({ verificationStatus: { coding: [{ code: 'provisional' }] } });
      // The visit's diagnosis stays established, with any number of orders.
      await accepted(order.replace(/\|C\d+\|/, `|${id}-2|`));
      expect((await stored(id, 'Condition'))[0]).not.toHaveProperty('verificationStatus');
    },
  );

  test('an acknowledgement is stored and never answered', async () => {
    for (const [control, type] of [
      ['TY-ACK1', 'ACK'],
      ['TY-ACK2', 'ACK^A08^ACK'],
    ] as const) {
      const ack = `${msh(type, control)}|||AL|AL\nMSA|AA|1`;
      for (const again of [0, 1]) {
        const reply = await subject().post(ack);
        expect([again, reply.status, reply.text]).toEqual([again, 204, '']);
      }
      expect(await subject().count(`from hl7_message where control_id = '${control}' and outcome = 'AA'`)).toBe(1);
    }
    const { db, site } = subject();
    await createApiKey(db.client, { site, protocols: ['hl7-mllp'], allowedIps: ['192.0.2.81'] });
    for (const src of ['192.0.2.81', '198.51.100.81']) {
      const reply = await subject().forward(`${msh('ACK', 'TY-ACK3')}\nMSA|AA|1`, { src });
      expect([src, reply.status, reply.text]).toEqual([src, 204, '']);
    }
  });

  test.each(['QRY^A19', 'QBP^Q22'])('%s is rejected, also where the key stores other types', async (type) => {
    const reply = await subject().post(`${msh(type)}\nQPD|x`);
    expect(reply).toMatchObject({ status: 422, errors: ['E 200 MSH^1^9^1^1'] });
    expect(reply.text).toContain('\rMSA|AR|');
  });

  test.each(['11111', '4444', '7777777', '99999', '987654321', '123456789'])(
    'the medical record number %s is accepted, and rejected as a social security number alone',
    async (value) => {
      expect(await accepted(`${msh('ADT^A04')}\nPID|1||${value}^^^TYNUM^MR||Doe^Number${value}||19800229|F`)).toEqual(
        [],
      );
      expect(await stored(value, 'Patient')).toHaveLength(1);
      for (const cx of [`${value}^^^SSA^SS`, value]) {
        const reply = await subject().post(`${msh('ADT^A04')}\nPID|1||${cx}||Doe^Number||19800229|F`);
        expect(reply.errors).toEqual(['E 101 PID^1^3^1^1']);
      }
    },
  );

  test.each(['~ISO IR87', 'ASCII~ISO IR87', 'ISO IR14~ISO IR87~ISO IR159'])(
    'a Japanese name is kept with MSH-18 %s, with the fields after it',
    async (charsets) => {
      const id = `TY-JP${charsets.length}`;
      const message = `${msh('ADT^A04')}||||||${charsets}\rPID|1||${id}^^^&1.2.40.9&ISO^MR||\u001b$BK|ED\u001b(B^\u001b$BB@O:\u001b(B||19800229|M\r`;
      const reply = await subject().post(Uint8Array.from(message, (character) => character.charCodeAt(0)));
      expect([reply.status, reply.errors]).toEqual([200, []]);
      expect(await stored(id, 'Patient')).toMatchObject([
        { name: [{ family: '万田', given: ['太郎'] }], birthDate: '1980-02-29', gender: 'male' },
      ]);
    },
  );

  test('the newest of A24 and A37 counts, in any order of arrival', async () => {
    const both = (event: string, at: string, id: string) =>
      `${msh(`ADT^${event}`)}\nEVN||${at}\n${pid(`${id}a`)}\n${pid(`${id}b`).replace('Jane', 'Joan')}`;
    const linked = async (id: string) => [
      (await stored(`${id}a`, 'Patient'))[0]?.['link'] !== undefined,
      (await stored(`${id}b`, 'Patient'))[0]?.['link'] !== undefined,
    ];
    const [earlier, later] = ['20260101080000+0100', '20260102080000+0100'];
    await accepted(both('A37', later, 'TY-L1'));
    expect(await accepted(both('A24', earlier, 'TY-L1'))).toContain('W 205 PID^1');
    expect(await linked('TY-L1')).toEqual([false, false]);
    await accepted(both('A24', later, 'TY-L2'));
    expect(await accepted(both('A37', earlier, 'TY-L2'))).toContain('W 205 PID^1');
    expect(await linked('TY-L2')).toEqual([true, true]);
    await accepted(both('A37', '20260103080000+0100', 'TY-L2'));
    expect(await linked('TY-L2')).toEqual([false, false]);
  });

  test('two numbers of one patient are merged: the retired one is old', async () => {
    const cx = (id: string) => `${id}^^^&1.2.40.9&ISO^MR`;
    const person = '||Doe^Jane||19800229|F';
    await accepted(`${msh('ADT^A04')}\nPID|1||${cx('TY-OLD1')}~${cx('TY-OLD2')}${person}`);
    await accepted(`${msh('ADT^A40')}\nPID|1||${cx('TY-OLD1')}~${cx('TY-OLD2')}${person}\nMRG|${cx('TY-OLD2')}`);
    const [patient, ...more] = await stored('TY-OLD1', 'Patient');
    expect(more).toEqual([]);
    expect(patient?.['identifier']).toMatchObject([{ value: 'TY-OLD1' }, { value: 'TY-OLD2', use: 'old' }]);
  });

  describe('a document number without an authority', () => {
    const mdm = (event: string, sender: string, id: string, number: string, more = '') =>
      `${msh(`MDM^${event}`).replace('|LAB|HOSP|', `|${sender}|HOSP|`)}\n${pid(id)}\nTXA|1|R|TX|||||||||${number}${more}\nOBX|1|TX|a||${sender} ${number}||||||F`;
    const notes = async (id: string): Promise<string[]> =>
      (await stored(id, 'DocumentReference')).map(({ masterIdentifier, status }) =>
        JSON.stringify([masterIdentifier, status])
          .replaceAll(/[^\w-]+/g, ' ')
          .trim(),
      );

    test('T11 of another MSH-3 cancels the patient’s only document with the number', async () => {
      await accepted(mdm('T02', 'DICT', 'TY-D1', 'D1^DICT'));
      await accepted(mdm('T02', 'DICT', 'TY-D1', 'D2'));
      for (const number of ['D1', 'D2']) expect(await accepted(mdm('T11', 'OTHER', 'TY-D1', number))).toEqual([]);
      expect((await stored('TY-D1', 'DocumentReference')).map(({ status }) => status)).toEqual([
        'entered-in-error',
        'entered-in-error',
      ]);
    });

    test('T11 of another MSH-3 before the T02 cancels the document that arrives later', async () => {
      for (const [at, number] of ['D1', 'D1^DICT'].entries()) {
        const id = `TY-D6${at}`;
        const on = (day: string, message: string) => message.replace('\nPID', `\nEVN||202601${day}0800+0100\nPID`);
        const cancel = (sender: string) => on('02', mdm('T11', sender, id, 'D1').replace(/\nOBX.*/, ''));
        expect(await accepted(cancel('OTHER'))).toEqual(['W 204 TXA^1^12']);
        expect(await accepted(cancel('THIRD'))).toEqual([]);
        expect(await accepted(on('01', mdm('T02', 'DICT', id, number)))).toEqual(['W 205 TXA^1']);
        const [document, ...more] = await stored(id, 'DocumentReference');
        expect(more).toEqual([]);
        expect(document?.['status']).toBe('entered-in-error');
        expect(JSON.stringify(document?.['content'])).toContain(btoa('DICT D'));
        // Another sender's document with the number is another one.
        await accepted(on('01', mdm('T02', 'OTHER', id, 'D1')));
        expect((await stored(id, 'DocumentReference')).map(({ status }) => status)).toEqual([
          'entered-in-error',
          'current',
        ]);
      }
    });

    test('several documents with the number are an error, and the sender’s own counts first', async () => {
      await accepted(mdm('T02', 'DICT', 'TY-D2', 'D1'));
      await accepted(mdm('T02', 'OTHER', 'TY-D2', 'D1'));
      expect(await stored('TY-D2', 'DocumentReference')).toHaveLength(2);
      for (const event of ['T11', 'T08', 'T03']) {
        const reply = await subject().post(mdm(event, 'THIRD', 'TY-D2', 'D1'));
        expect([reply.status, reply.errors]).toEqual([422, ['E 204 TXA^1^12']]);
      }
      const parent = await subject().post(mdm('T10', 'THIRD', 'TY-D2', 'D9', '|D1'));
      expect([parent.status, parent.errors]).toEqual([422, ['E 204 TXA^1^13']]);
      expect(await accepted(mdm('T11', 'OTHER', 'TY-D2', 'D1'))).toEqual([]);
      expect((await notes('TY-D2')).map((note) => note.split(' ').at(-1))).toEqual(['current', 'entered-in-error']);
    });

    test('a replacement names its parent by the number alone; another patient’s document is never meant', async () => {
      await accepted(mdm('T02', 'DICT', 'TY-D3', 'D1'));
      await accepted(mdm('T02', 'DICT', 'TY-D4', 'D1'));
      expect(await accepted(mdm('T10', 'OTHER', 'TY-D3', 'D2', '|D1'))).toEqual([]);
      expect((await stored('TY-D3', 'DocumentReference')).map(({ status }) => status)).toEqual([
        'superseded',
        'current',
      ]);
      expect((await stored('TY-D4', 'DocumentReference')).map(({ status }) => status)).toEqual(['current']);
      expect(await accepted(mdm('T11', 'OTHER', 'TY-D5', 'D1'))).toEqual(['W 204 TXA^1^12']);
    });
  });

  test('results contain their specimen, and the note of the patient', async () => {
    const note = 'NTE|1||SAMPLE REJECTED: shipped frozen.';
    expect(await accepted([msh('ORU^R01'), pid('TY-SPM'), note, OBR, OBX, SPM].join('\n'))).toEqual([]);
    expect(await stored('TY-SPM', 'Observation')).toMatchObject([
      {
        note: [{ text: 'SAMPLE REJECTED: shipped frozen.' }],
        bodySite: { coding: [{ code: '368208006' }], text: 'Arm, Left' },
        specimen: { reference: '#specimen', display: 'Blood venous' },
        contained: [
          {
            resourceType: 'Specimen',
            collection: { method: { coding: [{ code: 'VENIP' }] } },
            condition: [{ coding: [{ code: 'HEM' }] }],
          },
        ],
      },
    ]);
    const [report] = await stored('TY-SPM', 'DiagnosticReport');
    expect(JSON.stringify(report?.['extension'])).toContain('SAMPLE REJECTED');
    // A correction with another specimen replaces both elements.
    await accepted(
      [
        msh('ORU^R01'),
        pid('TY-SPM'),
        OBR.replace(/F$/, 'C'),
        OBX.replace('|90|', '|91|').replace(/F$/, 'C'),
        'SPM|1|^S2||UR^Urine^HL70487',
      ].join('\n'),
    );
    expect(await stored('TY-SPM', 'Observation')).toMatchObject([
      { status: 'corrected', specimen: { display: 'Urine' }, contained: [{ identifier: [{ value: 'S2' }] }] },
    ]);
  });
}
