/** The gateway answers every input with an ACK that says what is wrong and where, and stores the input. */
import { randomBytes } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { cutMessage } from '../../../edge/hl7/ingest/cut-documents.ts';
import { ingest } from '../../../edge/hl7/ingest/ingest.ts';
import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { callerOf } from '../../stack/tools/caller.ts';

const site = await createHl7Site();

const PID = 'PID|1||B1^^^HOSP^MR||Doe^Jane||19800229|F';
const OBR = 'OBR|1||F1|1^Test^L|||20260101||||||||||||||||||F';
const header = (type: string, processing: string, version: string) =>
  `MSH|^~\\&|LAB|HOSP|GATEWAY|SITE|20260102030405+0100||${type}|C-bad|${processing}|${version}`;

/** Text that does not compress: PostgreSQL would pack repetitions into an index entry. */
const randomText = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);

type Case = readonly [what: string, message: string | Uint8Array, outcome: 'AA' | 'AE' | 'AR', errors: string];

const latin1 = (text: string) =>
  Uint8Array.from(bytesOf(text.replaceAll('Ä', '\u0001'))).map((byte) => (byte === 1 ? 0xc4 : byte));

const CASES: readonly Case[] = [
  ['not HL7 at all', 'hello', 'AR', 'E 100 MSH^1, E 101 MSH^1^10'],
  ['nothing', '', 'AR', 'E 100 MSH^1, E 101 MSH^1^10'],
  [
    'MSH cut short',
    'MSH|^~\\&|LAB',
    'AR',
    'E 101 MSH^1^9^1^1, E 101 MSH^1^9^1^2, E 101 MSH^1^10, E 101 MSH^1^12, W 101 MSH^1^11',
  ],
  ['MSH of three characters', 'MSH', 'AR', 'E 101 MSH^1^1, E 101 MSH^1^10'],
  ['MSH-2 of four characters, unescaped twice', `${msh('ADT^A01').replace('^~\\&', '^~\\&#')}\n${PID}`, 'AA', ''],
  [
    'MSH-2 of four equal characters',
    `${msh('ADT^A01').replace('^~\\&', '^^^^')}\n${PID}`,
    'AR',
    'E 102 MSH^1^2, E 101 MSH^1^10',
  ],
  [
    'specimens of the last night of the calendar, and of the first morning',
    [
      msh('ORU^R01'),
      PID,
      'OBR|1||F1|1^Test^L|||99991231235959-1400||||||||||||||||||F',
      'OBX|1|NM|a^b^L||1||||||F|||99991231235959-1400',
      'OBR|2||F2|2^Test^L|||00010101000000+1400||||||||||||||||||F',
      'OBX|1|NM|a^b^L||1||||||F|||00010101',
    ].join('\n'),
    'AA',
    '',
  ],
  ['unknown type', `${msh('SIU^S12')}\n${PID}`, 'AR', 'E 200 MSH^1^9^1^1'],
  ['unknown event', `${msh('ORU^R99')}\n${PID}`, 'AR', 'E 201 MSH^1^9^1^2'],
  ['unknown version', `${header('ADT^A01', 'P', '3.0')}\n${PID}`, 'AR', 'E 203 MSH^1^12'],
  ['processing id that is not accepted', `${header('ADT^A01', 'T', '2.5.1')}\n${PID}`, 'AR', 'E 202 MSH^1^11'],
  ['PID-3 missing', `${msh('ADT^A01')}\nPID|1||||Doe^Jane`, 'AE', 'E 101 PID^1^3^1^1'],
  ['PID missing', `${msh('ADT^A01')}\nEVN|A01`, 'AE', 'E 101 PID^1'],
  ['OBX-3 missing', `${msh('ORU^R01')}\n${PID}\n${OBR}\nOBX|1|ST|||x||||||F`, 'AE', 'E 101 OBX^1^3'],
  ['TXA-12 missing', `${msh('MDM^T02')}\n${PID}\nTXA|1|OP|AP`, 'AE', 'E 101 TXA^1^12^1^1'],
  ['31 February', `${msh('ADT^A01')}\nPID|1||B2^^^HOSP^MR||Doe^Jane||19800231|F`, 'AA', 'W 102 PID^1^7^1^1'],
  [
    'several faults at once',
    `${msh('ORU^R01')}\nPID|1||||Doe^Jane||19800231|F\n${OBR}\nOBX|1|ST|||x||||||F`,
    'AE',
    'E 101 PID^1^3^1^1, E 101 OBX^1^3',
  ],
  [
    'an NM that is not a number',
    `${msh('ORU^R01')}\n${PID}\n${OBR}\nOBX|1|NM|n^N^L||high||||||F`,
    'AA',
    'W 102 OBX^1^5^1',
  ],
  ['bytes that are not UTF-8', latin1(`${msh('ADT^A01')}\nPID|1||B3^^^HOSP^MR||DÄe^Jane`), 'AE', 'E 102 PID^1^5'],
  ['an unknown character set', `${msh('ADT^A01')}||||||KLINGON\n${PID}`, 'AE', 'E 103 MSH^1^18'],
  ['two messages in one body', `${msh('ADT^A01')}\n${PID}\n${msh('ADT^A01')}\n${PID}`, 'AE', 'E 100 MSH^2'],
  ['a batch', `BHS|^~\\&|LAB|HOSP\n${msh('ADT^A01')}\n${PID}\nBTS|1`, 'AR', 'E 200 BHS^1'],
  ['OBX before OBR', `${msh('ORU^R01')}\n${PID}\nOBX|1|ST|a^A^L||x||||||F\n${OBR}`, 'AE', 'E 100 OBX^1'],
  ['OBR-25 Y', `${msh('ORU^R01')}\n${PID}\n${OBR.replace(/F$/, 'Y')}`, 'AE', 'E 103 OBR^1^25'],
  [
    'a document that is not base64',
    `${msh('MDM^T02')}\n${PID}\nTXA|1|OP|AP|||||||||D1\nOBX|1|ED|a^A^L||^AP^PDF^Base64^?!||||||F`,
    'AE',
    'E 102 OBX^1^5^1^5',
  ],
  [
    'Z segments and others that are not mapped',
    `${msh('ADT^A01')}\n${PID}\nNK1|1|Doe^John\nZPI|1|x\nZPI|2|y`,
    'AA',
    'I 0 ZPI^1',
  ],
  ['a segment named __proto__', `${msh('ADT^A01')}\n${PID}\n__proto__|1`, 'AA', 'W 100 ???^1'],
  ['a merge without MRG', `${msh('ADT^A40')}\n${PID}`, 'AE', 'E 101 MRG^1'],
];

describe('bad input', () => {
  test.each(CASES)('%s', async (_what, message, outcome, errors) => {
    const before = (await site.messages()).length;
    const sent = await site.send(message);
    expect({ outcome: sent.outcome, errors: sent.errors.join(', ') }).toEqual({ outcome, errors });
    expect(sent.text).toContain(`\rMSA|${outcome}|`);
    expect(sent.text).not.toMatch(/Doe|Jane|1980/);
    const stored = await site.messages();
    expect(stored).toHaveLength(before + 1);
    expect(stored.at(-1)).toMatchObject({ outcome });
    expect(Buffer.compare(stored.at(-1)!.raw, Buffer.from(bytesOf(message)))).toBe(0);
  });

  test('an identifier that matches two patients is named by its type; nothing is stored but the message', async () => {
    const twice = [1, 2].map(() =>
      toWrite(
        { resourceType: 'Patient', identifier: [{ system: 'urn:oid:1.2.2', value: 'TWO' }] },
        uuidv7(Date.now()),
        'create',
      ),
    );
    await site.database.run(writeResources(site.site, twice));
    const sent = await site.send(
      `${msh('ORU^R01')}\nPID|1||TWO^^^&1.2.2&ISO^MR||Doe^Jane\n${OBR}\nOBX|1|ST|two^T^L||x||||||F`,
    );
    expect(sent).toMatchObject({ outcome: 'AE', errors: ['E 205 PID^1^3^1^1'] });
    expect(sent.text).toContain('The identifier of type MR');
    expect((await site.resources('Observation')).filter(({ code }) => JSON.stringify(code).includes('"two"'))).toEqual(
      [],
    );
  });

  test.each([
    ['PID-3', `PID|1||${'9'.repeat(201)}^^^HOSP^MR`, 'AE', 'E 102 PID^1^3^1^1'],
    ['PID-19', `${PID}|||||||||||${randomText(5000)}`, 'AA', 'W 102 PID^1^19^1^1'],
    ['DG1-3', `${PID}\nDG1|1||${randomText(5000)}^x^I10`, 'AA', 'W 102 DG1^1'],
    ['DG1-3.4', `${PID}\nDG1|1||I10^x^I10^${randomText(5000)}^y^L`, 'AA', 'W 102 DG1^1^3^1^4'],
    ['DG1-3.6', `${PID}\nDG1|1||I10^x^I10^A^y^urn:x:${randomText(2500)}`, 'AA', 'W 102 DG1^1^3^1^6'],
  ])('%s too long for an index', async (_, segments, outcome, error) => {
    const sent = await site.send(`${msh('ADT^A01')}\n${segments}`);
    expect(sent).toMatchObject({ outcome, errors: [error] });
  });

  test('a message that is rejected for what the mapping found changes nothing', async () => {
    const strict = await createHl7Site({ database: site.db });
    await site.db.client.query('update api_key set hl7_strict = true where client_id = $1', [strict.clientId]);
    const sent = await strict.send(`${msh('ADT^A01')}\n${PID}|||||||||||${randomText(5000)}`);
    expect(sent).toMatchObject({ outcome: 'AE', errors: ['E 102 PID^1^19^1^1'] });
    expect(await strict.resources('Patient')).toEqual([]);
  });

  test('an ACK with more than 100 findings has the number of the others', async () => {
    const lines = Array.from({ length: 300 }, (_, at) => `OBX|${at}|NM|c${at}^C^L||x||||||F`);
    const sent = await site.send([msh('ORU^R01'), PID, OBR, ...lines].join('\n'));
    expect(sent.outcome).toBe('AA');
    expect(sent.errors).toHaveLength(100);
    expect(sent.errors.at(-1)).toBe('I 207 ');
  });

  test('more resources than any real message has', async () => {
    const lines = Array.from({ length: 6000 }, (_, at) => `OBX|${at}|NM|c${at}^C^L||1||||||F`);
    const sent = await site.send([msh('ORU^R01'), PID, OBR, ...lines].join('\n'));
    expect(sent).toMatchObject({ outcome: 'AE', errors: ['E 207 MSH^1'] });
  });

  test.each([
    ['a cached snapshot', 1, {}],
    ['a loaded snapshot', 2, { snapshots: undefined }],
  ])('a FHIR client that changes the patient between %s and its commit: both changes are kept', async (_, at, by) => {
    const other = await createHl7Site({ database: site.db });
    await other.send(`${msh('ADT^A01')}\nPID|1||I1^^^HOSP^MR||Doe^Jane`);
    const [patient] = await other.resources('Patient');
    let calls = 0;
    const called = async (): Promise<void> => {
      calls += 1;
      if (calls !== at) return;
      const { id: _id, version: _version, ...content } = patient ?? {};
      const changed = { resourceType: 'Patient', ...content, birthDate: '1970-01-01' };
      await other.database.run(writeResources(other.site, [toWrite(changed, patient?.id ?? '', 'update')]));
    };
    const { database } = other.deps;
    const interleaved: Hl7Site['deps']['database'] = {
      run: (query) => called().then(() => database.run(query)),
      batch: (queries) => called().then(() => database.batch(queries)),
    };
    const sent = await ingest(
      { ...other.deps, database: interleaved, ...by },
      {
        sender: { kind: 'caller', caller: callerOf(other.site, other.clientId) },
        ...(await cutMessage(bytesOf(`${msh('ADT^A08')}\nPID|1||I1^^^HOSP^MR||Doe^Janet`), Infinity)),
        source: { kind: 'http', address: '192.0.2.7' },
        requestId: 'request-9',
      },
    );
    expect(sent).toMatchObject({ outcome: 'AA' });
    // The rejection returned the stored state.
    expect(calls).toBe(at + 1);
    expect(await other.resources('Patient')).toMatchObject([{ birthDate: '1970-01-01', name: [{ given: ['Janet'] }] }]);
  });

  test('an unscoped allergy is skipped with a warning, the rest is stored', async () => {
    const narrow = await createHl7Site({
      database: site.db,
      key: { scopes: ['system/Patient.write', 'system/Observation.write', 'system/DocumentReference.write'] },
    });
    const sent = await narrow.send(
      `${msh('ADT^A01')}\n${PID}\nAL1|1|DA|P^Pen^L\nAL1|2|DA|Q^Que^L\nDG1|1||I10^Hypertension^I10`,
    );
    expect(sent.outcome).toBe('AA');
    expect([...sent.errors].sort()).toEqual(['W 207 AL1^1', 'W 207 DG1^1']);
    expect(await narrow.resources('Patient')).toHaveLength(1);
    expect(await narrow.resources('AllergyIntolerance')).toEqual([]);
  });

  test('enhanced mode: an error is answered, success is not', async () => {
    const silent = (control: string, pid: string) =>
      `${header('ADT^A01', 'P', '2.5.1').replace('C-bad', control)}|||NE|ER\n${pid}`;
    const stored = await site.send(silent('quiet-1', PID));
    expect(stored).toMatchObject({ outcome: 'AA', ack: null });
    expect(await site.send(silent('quiet-1', PID))).toMatchObject({ status: 'seen', outcome: 'AA', ack: null });
    expect((await site.send(silent('quiet-2', 'PID|1'))).text).toContain('MSA|AE|quiet-2');
  });
});
