/** Ingest against a real PostgreSQL: what is stored, what is found again, what is merged, and in how many round trips. */
import { describe, expect, test } from 'vitest';

import { Fault } from '../../../shared/fault.ts';
import { isJsonObject } from '../../../shared/json.ts';
import { createHl7Site } from '../../stack/tools/hl7-site.ts';
import { msh } from '../../stack/tools/hl7-text.ts';

const site = await createHl7Site({ timeZone: 'Europe/Vienna', assigningAuthorities: { HOSP: 'urn:example:hosp' } });

const pid = (id: string, name = 'Doe^Jane', rest = '') => `PID|1||${id}^^^HOSP^MR||${name}||19800229|F${rest}`;

async function patient(id: string) {
  const all = await site.resources('Patient');
  // Not who has it as an old number, from a merge.
  return all.filter(({ identifier }) =>
    [identifier ?? []].flat().some((item) => isJsonObject(item) && item['value'] === id && item['use'] !== 'old'),
  );
}

describe('a patient', () => {
  test('is created, then updated: empty leaves, "" deletes, a value replaces', async () => {
    const first = await site.send(`${msh('ADT^A01^ADT_A01')}
      ${pid('P1', 'Doe^Jane', '|||1 Street^^Wien^^1010^AT||555-1^PRN^PH|555-2^WPN^PH')}`);
    expect(first.outcome).toBe('AA');
    expect(first.errors).toEqual([]);
    const [created] = await patient('P1');
    expect(created).toMatchObject({
      version: 1,
      active: true,
      identifier: [{ system: 'urn:example:hosp', value: 'P1', type: { coding: [{ code: 'MR' }] } }],
      name: [{ text: 'Jane Doe', family: 'Doe', given: ['Jane'] }],
      birthDate: '1980-02-29',
      gender: 'female',
      telecom: [
        { value: '555-1', use: 'home' },
        { value: '555-2', use: 'work' },
      ],
    });

    await site.send(`${msh('ADT^A08^ADT_A01')}\n${pid('P1', 'Doe^Janet', '|||""||555-3^PRN^PH')}`);
    const [updated] = await patient('P1');
    expect(updated).toMatchObject({
      id: created?.id,
      version: 2,
      name: [{ family: 'Doe', given: ['Janet'] }],
      telecom: [
        { value: '555-3', use: 'home' },
        { value: '555-2', use: 'work' },
      ],
    });
    expect(updated).not.toHaveProperty('address');
  });

  test('with unchanged content makes no new version', async () => {
    const message = (control: string) => `${msh('ADT^A08^ADT_A01', control)}\n${pid('P2')}`;
    await site.send(message('same-1'));
    await site.send(message('same-2'));
    const [found] = await patient('P2');
    expect(found).toMatchObject({ version: 1 });
    expect(JSON.stringify(found?.meta)).toContain('#same-1');
  });

  test('is one, when two messages about it come at once', async () => {
    const sent = await Promise.all(
      ['A04', 'A08', 'A31', 'A28', 'A01', 'A05', 'A07', 'A10'].map((event) =>
        site.send(`${msh(`ADT^${event}`)}\n${pid('P3', `Doe^${event}`)}`),
      ),
    );
    expect(sent.map(({ outcome }) => outcome)).toEqual(Array(8).fill('AA'));
    expect(await patient('P3')).toHaveLength(1);
  });

  test('is deactivated by A29 and not by A23, which deletes a visit; unknown to either, it is done', async () => {
    await site.send(`${msh('ADT^A01')}\n${pid('P4')}`);
    expect((await site.send(`${msh('ADT^A23')}\n${pid('P4')}`)).errors).toEqual(['I 201 MSH^1^9^1^2']);
    expect((await patient('P4'))[0]).toMatchObject({ active: true, name: [{ family: 'Doe' }] });
    await site.send(`${msh('ADT^A29')}\n${pid('P4')}`);
    await site.send(`${msh('ADT^A23')}\n${pid('P4')}`);
    expect((await patient('P4'))[0]).toMatchObject({ active: false, name: [{ family: 'Doe' }] });
    const unknown = await site.send(`${msh('ADT^A23')}\n${pid('P404')}`);
    expect(unknown).toMatchObject({ outcome: 'AA', errors: ['W 204 PID^1^3^1^1', 'I 201 MSH^1^9^1^2'] });
    const deleted = await site.send(`${msh('ADT^A29')}\n${pid('P405')}`);
    expect(deleted).toMatchObject({ outcome: 'AA', errors: ['W 204 PID^1^3^1^1'] });
    expect((await patient('P405'))[0]).toMatchObject({ active: false });
    expect((await patient('P405'))[0]).not.toHaveProperty('name');
  });

  test('a result does not change a known patient, but makes an unknown one', async () => {
    await site.send(`${msh('ADT^A01')}\n${pid('P5', 'Right^Name')}`);
    const oru = (id: string) =>
      `${msh('ORU^R01')}\n${pid(id, 'Other^Name')}\nOBR|1||F-${id}|1^Test^L|||20260101\nOBX|1|NM|1^T^L||5||||||F`;
    await site.send(oru('P5'));
    await site.send(oru('P5b'));
    expect((await patient('P5'))[0]).toMatchObject({ name: [{ family: 'Right' }] });
    expect((await patient('P5b'))[0]).toMatchObject({ name: [{ family: 'Other' }] });
  });
});

describe('a message that the gateway fails to process', () => {
  const FAILED = { outcome: 'AE', errors: ['E 207 MSH^1'] };
  const storedOf = async (controlId: string) =>
    (await site.messages()).filter(({ control_id }) => control_id === controlId).map(({ outcome }) => outcome);

  test('is stored and rejected, changes nothing, and is processed when it is sent again', async () => {
    await site.send(`${msh('ADT^A01')}\n${pid('P20', 'Before^Name')}`);
    const [before] = await patient('P20');
    const setBody = (body: string) =>
      site.db.client.query('update resource set body = $3 where site_id = $1 and id = $2 returning version', [
        site.site,
        before?.id,
        body,
      ]);
    const { rows } = await site.db.client.query<{ body: string }>('select body from resource where id = $1', [
      before?.id,
    ]);

    await setBody('"identifier":[broken');
    const message = `${msh('ADT^A08', 'fails')}\n${pid('P20', 'After^Name')}`;
    expect(await site.send(message)).toMatchObject({ status: 'stored', ...FAILED });
    expect(await site.send(message)).toMatchObject(FAILED);
    expect(await storedOf('fails')).toEqual(['AE']);
    // The messages behind it are not delayed.
    expect(await site.send(`${msh('ADT^A01')}\n${pid('P21')}`)).toMatchObject({ outcome: 'AA' });

    await setBody(rows[0]?.body ?? '');
    const again = await site.send(message);
    expect(again).toMatchObject({ status: 'stored', outcome: 'AA', errors: [] });
    expect(await storedOf('fails')).toEqual(['AA']);
    expect(await patient('P20')).toMatchObject([{ version: 2, name: [{ family: 'After' }] }]);
    expect(await site.send(message)).toMatchObject({ status: 'seen', text: again.text });
  });

  test('is also stored and rejected if the database does not accept its effects', async () => {
    await site.db.client.query(`alter table resource add constraint no_trouble check (body not like '%Trouble%')`);
    const message = `${msh('ADT^A01', 'rejected')}\n${pid('P22', 'Trouble^Jane')}`;
    expect(await site.send(message)).toMatchObject(FAILED);
    expect(await storedOf('rejected')).toEqual(['AE']);
    expect(await patient('P22')).toEqual([]);

    await site.db.client.query('alter table resource drop constraint no_trouble');
    expect(await site.send(message)).toMatchObject({ status: 'stored', outcome: 'AA' });
    expect(await patient('P22')).toHaveLength(1);
  });

  test.each([
    ['is cached', 1, {}],
    ['was loaded', 2, { snapshots: undefined }],
  ])(
    'but a message that finds no database, by a snapshot that %s, is neither stored nor answered',
    async (_, at, by) => {
      const { database } = site.deps;
      let calls = 0;
      const called = async (): Promise<void> => {
        calls += 1;
        if (calls === at) throw new Fault('unavailable', 'the database cannot be reached');
      };
      const away: typeof database = {
        run: (query) => called().then(() => database.run(query)),
        batch: (queries) => called().then(() => database.batch(queries)),
      };
      const message = `${msh('ADT^A01', `away-${at}`)}\n${pid('P23')}`;
      await expect(site.send(message, { database: away, ...by })).rejects.toMatchObject({ kind: 'unavailable' });
      expect(await storedOf(`away-${at}`)).toEqual([]);
      expect(await site.send(message)).toMatchObject({ status: 'stored', outcome: 'AA' });
    },
  );
});

describe('retransmission', () => {
  test('gets the same ACK byte for byte and changes nothing', async () => {
    const message = `${msh('ADT^A01', 'again')}\n${pid('P6')}`;
    const first = await site.send(message);
    const again = await site.send(message);
    expect(again.status).toBe('seen');
    expect(again.text).toBe(first.text);
    expect((await patient('P6'))[0]).toMatchObject({ version: 1 });
  });

  test('a rejected message is processed again', async () => {
    const message = `${msh('ADT^A01', 'again-refused')}\nPID|1||||Doe^Jane`;
    const refused = { status: 'stored', outcome: 'AE', errors: ['E 101 PID^1^3^1^1'] };
    expect(await site.send(message)).toMatchObject(refused);
    expect(await site.send(message)).toMatchObject(refused);
  });

  test('many at once are stored once', async () => {
    const message = `${msh('ADT^A01', 'at-once')}\n${pid('P7')}`;
    const sent = await Promise.all(Array.from({ length: 6 }, () => site.send(message)));
    expect(new Set(sent.map(({ text }) => text)).size).toBe(1);
    const stored = (await site.messages()).filter(({ control_id }) => control_id === 'at-once');
    expect(stored).toHaveLength(1);
  });

  test('the same control id with other bytes is processed, with a warning', async () => {
    await site.send(`${msh('ADT^A01', 'reused')}\n${pid('P8', 'Doe^One')}`);
    const second = await site.send(`${msh('ADT^A08', 'reused')}\n${pid('P8', 'Doe^One Two')}`);
    expect(second).toMatchObject({ outcome: 'AA', errors: ['W 205 MSH^1^10'] });
    expect((await patient('P8'))[0]).toMatchObject({ name: [{ given: ['One Two'] }] });
  });
});

describe('results', () => {
  const oru = (status: string, value: string) => `${msh('ORU^R01^ORU_R01')}
    ${pid('R1')}
    ORC|RE|PL1|FI1
    OBR|1|PL1|FI1|24323-8^Panel^LN|||202601020200||||||||||||||||||F
    OBX|1|NM|2345-7^Glucose^LN||${value}|mg/dL^^UCUM|||||${status}`;

  test('a correction changes the same Observation, digits kept', async () => {
    await site.send(oru('P', '5.50'));
    await site.send(oru('C', '5.60'));
    const [found, ...more] = (await site.resources('Observation')).filter(({ code }) =>
      JSON.stringify(code).includes('2345-7'),
    );
    expect(more).toEqual([]);
    expect(found).toMatchObject({ status: 'corrected', version: 2 });
    const { rows } = await site.db.client.query('select body from resource where id = $1', [found?.id]);
    expect(rows[0].body).toContain('"value":5.60');
    const [report] = (await site.resources('DiagnosticReport')).filter(({ identifier }) =>
      JSON.stringify(identifier).includes('FI1'),
    );
    expect(report).toMatchObject({ status: 'final', result: [{ reference: `Observation/${found?.id}` }] });
    const studies = await site.db.client.query(
      `select s.patient_id, r.state from report r join study s using (site_id, study_id) where r.report_id = $1`,
      [report?.id],
    );
    expect(studies.rows).toMatchObject([{ state: 'completed' }]);
  });

  test('two patients in one message: each has its own', async () => {
    const sent = await site.send(`${msh('ORU^R01')}
      ${pid('R2a')}
      OBR|1||FI2a|1^T^L|||20260101||||||||||||||||||F
      OBX|1|ST|1^T^L||a||||||F
      ${pid('R2b')}
      OBR|1||FI2b|1^T^L|||20260101||||||||||||||||||F
      OBX|1|ST|1^T^L||b||||||F`);
    expect(sent.outcome).toBe('AA');
    const observations = await site.resources('Observation');
    const subjects = await Promise.all(['R2a', 'R2b'].map(async (id) => (await patient(id))[0]?.id));
    expect(observations.find(({ valueString }) => valueString === 'a')).toMatchObject({
      subject: { reference: `Patient/${subjects[0]}` },
    });
    expect(observations.find(({ valueString }) => valueString === 'b')).toMatchObject({
      subject: { reference: `Patient/${subjects[1]}` },
    });
  });

  test('200 OBX in one round trip', async () => {
    const lines = Array.from({ length: 200 }, (_, at) => `OBX|${at + 1}|NM|code-${at}^Test^L||${at}.0|mg/dL|1-5|N|||F`);
    const before = site.db.endpoint.requests();
    const sent = await site.send(
      [msh('ORU^R01'), pid('R3'), 'OBR|1||FI3|p^Panel^L|||20260101||||||||||||||||||F', ...lines].join('\n'),
    );
    expect(sent).toMatchObject({ outcome: 'AA', errors: [] });
    expect(site.db.endpoint.requests() - before).toBe(1);
    const { rows } = await site.db.client.query(
      `select count(*)::int from resource_token t, generate_series(0, 199) n
        where t.site_id = $1 and t.code_key = token_key('Observation', 'code', 'code-' || n)`,
      [site.site],
    );
    expect(rows[0].count).toBe(200);
  });
});

describe('documents', () => {
  const base64 = Buffer.alloc(500 * 1024, 'document ').toString('base64');
  const mdm = (event: string, number: string, rest = '', obx = '') => `${msh(`MDM^${event}^MDM_T02`)}
    ${pid('D1')}
    TXA|1|OP^Operative report|AP|||||||||${number}${rest}
    ${obx}`;

  test('500 KB are stored in two round trips', async () => {
    const before = site.db.endpoint.requests();
    const sent = await site.send(
      mdm('T02', 'DOC1', '|||||AU||AV', `OBX|1|ED|OP^Report^L||^AP^PDF^Base64^${base64}||||||F`),
    );
    expect(sent).toMatchObject({ outcome: 'AA', errors: [] });
    expect(site.db.endpoint.requests() - before).toBe(2);
    const [document] = await site.resources('DocumentReference');
    expect(document).toMatchObject({
      status: 'current',
      docStatus: 'final',
      masterIdentifier: { value: 'DOC1' },
      content: [{ attachment: { contentType: 'application/pdf', data: [expect.any(String), 500 * 1024] } }],
    });
  });

  test('replaced, added to and cancelled', async () => {
    await site.send(mdm('T02', 'DOC2', '|||||DO||AV', 'OBX|1|TX|OP^R^L||first\nOBX|2|TX|OP^R^L||second'));
    await site.send(mdm('T10', 'DOC3', '|DOC2||||AU||AV', 'OBX|1|TX|OP^R^L||new'));
    await site.send(mdm('T11', 'DOC3'));
    const all = await site.resources('DocumentReference');
    const numbered = (number: string) =>
      all.find(({ masterIdentifier }) => JSON.stringify(masterIdentifier).includes(number));
    const old = numbered('DOC2');
    expect(old).toMatchObject({ status: 'superseded', docStatus: 'preliminary' });
    expect(JSON.stringify(old?.content)).toContain(Buffer.from('first\nsecond').toString('base64'));
    expect(numbered('DOC3')).toMatchObject({
      status: 'entered-in-error',
      relatesTo: [{ code: 'replaces', target: { reference: `DocumentReference/${old?.id}` } }],
    });
    const unknown = await site.send(mdm('T11', 'DOC404'));
    expect(unknown).toMatchObject({ outcome: 'AA', errors: ['W 204 TXA^1^12'] });
  });
});

describe('merge', () => {
  const a40 = (survivor: string, merged: string) =>
    `${msh('ADT^A40^ADT_A39')}\nEVN|A40|20260101\n${pid(survivor)}\nMRG|${merged}^^^HOSP^MR`;

  test('moves everything to the survivor; repeated and inverted it changes nothing', async () => {
    await site.send(`${msh('ADT^A01')}\n${pid('M1')}\nAL1|1|DA|PEN^Penicillin^L|SV|Rash`);
    await site.send(
      `${msh('ORU^R01')}\n${pid('M2')}\nOBR|1||FI-M|1^T^L|||20260101||||||||||||||||||P\nOBX|1|NM|m^T^L||5||||||P`,
    );
    expect(await site.send(a40('M1', 'M2'))).toMatchObject({ outcome: 'AA', errors: [] });
    const [survivor] = await patient('M1');
    const [merged] = await patient('M2');
    expect(survivor).toMatchObject({
      active: true,
      link: [{ other: { reference: `Patient/${merged?.id}` }, type: 'replaces' }],
    });
    expect(merged).toMatchObject({
      active: false,
      link: [{ other: { reference: `Patient/${survivor?.id}` }, type: 'replaced-by' }],
    });
    const left = await site.db.client.query('select from resource where site_id = $1 and patient_id = $2', [
      site.site,
      merged?.id,
    ]);
    expect(left.rows).toHaveLength(0);
    const study = await site.db.client.query('select from study where site_id = $1 and patient_id = $2', [
      site.site,
      survivor?.id,
    ]);
    expect(study.rows).toHaveLength(1);
    // By patient and date it is found at the survivor.
    const dates = await site.db.client.query(
      'select distinct patient_id from resource_date where site_id = $1 and patient_id = any ($2)',
      [site.site, [survivor?.id, merged?.id]],
    );
    expect(dates.rows).toEqual([{ patient_id: survivor?.id }]);

    expect(await site.send(a40('M1', 'M2'))).toMatchObject({ outcome: 'AA', errors: ['W 205 MRG^1^1^1^1'] });
    expect(await site.send(a40('M2', 'M1'))).toMatchObject({
      outcome: 'AA',
      errors: ['W 205 MRG^1^1^1^1', 'W 205 PID^1^3^1^1'],
    });
    expect((await patient('M1'))[0]?.version).toBe(survivor?.version);
    expect((await patient('M2'))[0]?.version).toBe(merged?.version);

    // A late correction with the old number finds the result at the survivor.
    await site.send(
      `${msh('ORU^R01')}\n${pid('M2')}\nOBR|1||FI-M|1^T^L|||20260101||||||||||||||||||C\nOBX|1|NM|m^T^L||6||||||C`,
    );
    const results = (await site.resources('Observation')).filter(({ code }) => JSON.stringify(code).includes('"m"'));
    expect(results).toMatchObject([{ status: 'corrected', subject: { reference: `Patient/${survivor?.id}` } }]);
  });

  test('an event of an unknown patient is remembered', async () => {
    expect(await site.send(a40('M3', 'M4'))).toMatchObject({ outcome: 'AA', errors: ['W 204 MRG^1^1^1^1'] });
    await site.send(
      `${msh('ORU^R01')}\n${pid('M4')}\nOBR|1||FI-M4|1^T^L|||20260101||||||||||||||||||F\nOBX|1|ST|m4^T^L||x||||||F`,
    );
    const [survivor] = await patient('M3');
    expect((await site.resources('Observation')).find(({ valueString }) => valueString === 'x')).toMatchObject({
      subject: { reference: `Patient/${survivor?.id}` },
    });
  });
});
