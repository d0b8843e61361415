/**
 * Messages are found by the patients they name and by their errors, with any outcome, for as long as their bytes are
 * kept.
 */
import { beforeAll, describe, expect, test } from 'vitest';

import { reprocess } from '../../../edge/hl7/ingest/replay/replay.ts';
import { messagesAround } from '../../../edge/store/message-around.ts';
import { readPatientText } from '../../../edge/store/message-key.ts';
import { ANY_MESSAGE, type MessageFilter } from '../../../edge/store/message-candidates.ts';
import { listMessages, type ListedRow } from '../../../edge/store/message-search.ts';
import { messagesElsewhere } from '../../../edge/store/messages-elsewhere.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { zoneAtNoon } from '../../stack/tools/midday.ts';
import { ADA, createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';

let site: Hl7Site;
let neighbour: Hl7Site;
const db = await useTestDatabase();
beforeAll(async () => {
  // As the owner, so that a statement's own condition is what keeps sites apart.
  site = await createHl7Site({ database: db, asOwner: true, timeZone: zoneAtNoon() });
  neighbour = await createHl7Site({ database: db, asOwner: true });
});

const list = (filter: Partial<MessageFilter>, at = site, limit = 20): Promise<ListedRow[]> =>
  at.database.run(listMessages(at.site, { ...ANY_MESSAGE, ...filter }, null, limit));
const controls = async (filter: Partial<MessageFilter>, at = site): Promise<string[]> =>
  (await list(filter, at)).map(({ control_id: id }) => id);
const of = (patient: string, at = site): Promise<string[]> =>
  controls({ patient: readPatientText(patient) ?? null }, at);

const pid = (numbers: string, name = 'Doe^Jane') => `PID|1||${numbers}||${name}||19800101|F`;
const adt = (control: string, numbers: string, name?: string) => `${msh('ADT^A08', control)}\n${pid(numbers, name)}`;

describe('a number', () => {
  test('is found with any text around it, and never as a part of another', async () => {
    await site.send(adt('N1', '0004711^^^EAST^MR'));
    await site.send(adt('N2', 'ab-12 34^^^EAST^MR'));
    await site.send(adt('N3', '8811^7^M10^EAST^MR'));
    await site.send(adt('N4', '47110^^^EAST^MR'));
    for (const typed of ['4711', '0004711', ' 4711 ', '4711^^^EAST', '4711^^^east&1.2.3'])
      expect(await of(typed), typed).toEqual(['N1']);
    for (const typed of ['AB-1234', 'ab1234', 'AB 12 34']) expect(await of(typed), typed).toEqual(['N2']);
    // With the check digit, as it is printed, and without.
    for (const typed of ['8811', '88117', '8811-7']) expect(await of(typed), typed).toEqual(['N3']);
    for (const typed of ['471', '47_1', '47%']) expect(await of(typed), typed).toEqual([]);
    expect(readPatientText('%')).toBeUndefined();
  });

  test('the authority distinguishes two people; without one in the query or the message, both are found', async () => {
    await site.send(adt('T1', '555^^^EAST&1.2.3&ISO^MR'));
    await site.send(adt('T2', '555^^^WEST^MR', 'Roe^Rita'));
    await site.send(adt('T3', '555', 'Poe^Pia'));
    expect(await of('555')).toEqual(['T3', 'T2', 'T1']);
    expect(await of('555^^^EAST')).toEqual(['T3', 'T1']);
    expect(await of('555^^^urn:oid:1.2.3')).toEqual(['T3', 'T1']);
    const named = (await list({ patient: readPatientText('555') ?? null })).map((row) => JSON.parse(row.named ?? '[]'));
    expect(named).toEqual([
      [{ field: 'PID-3', value: '555', authority: '' }],
      [{ field: 'PID-3', value: '555', authority: 'WEST' }],
      [{ field: 'PID-3', value: '555', authority: 'EAST&1.2.3' }],
    ]);
  });

  test('is found by any name of its authority that the settings, or else the messages of a key, give', async () => {
    const setAuthorities = (names: object) =>
      db.client.query('update site set assigning_authorities = $2 where site_id = $1', [site.site, names]);
    await setAuthorities({ Main: 'urn:oid:1.9.1', OLD: 'urn:oid:1.9.1', WEB: 'https://hospital.example/numbers' });
    await site.send(adt('A1', '900^^^MAIN^MR'));
    await site.send(adt('A2', '900^^^&1.9.1&ISO^MR'));
    await site.send(adt('A3', '900^^^old^MR'));
    await site.send(adt('A4', '900^^^&1.9.2&ISO^MR', 'Roe^Rita'));
    await site.send(adt('A5', '900^^^WEB^MR', 'Poe^Pia'));
    for (const authority of ['main', 'OLD', '1.9.1', 'urn:oid:1.9.1', '&1.9.1&ISO', 'elsewhere&1.9.1'])
      expect(await of(`900^^^${authority}`), authority).toEqual(['A3', 'A2', 'A1']);
    expect(await of('900^^^1.9.2')).toEqual(['A4']);
    expect(await of('900^^^https://hospital.example/numbers')).toEqual(['A5']);
    const [, second] = await list({ patient: readPatientText('900^^^main') ?? null });
    const around = await site.database.run(messagesAround(site.site, second?.message_id ?? ''));
    expect(around.filter((row) => row.of === 'patient').map((row) => row.control_id)).toEqual(['A1', 'A3']);

    await site.send(adt('K1', '901^^^KIN&1.9.5&ISO^MR'));
    await site.send(adt('K2', '901^^^KIN^MR'));
    await site.send(adt('K3', '901^^^&1.9.5&ISO^MR'));
    expect(await of('901^^^1.9.5')).toEqual(['K3', 'K2', 'K1']);
    const state = (to: string) =>
      db.client.query(`update authority_alias set state = $2 where site_id = $1 and namespace = 'KIN'`, [
        site.site,
        to,
      ]);
    await state('rejected');
    expect(await of('901^^^1.9.5')).toEqual(['K3', 'K1']);
    await state('taught');
    // The settings take precedence over what messages taught.
    await setAuthorities({ KIN: 'urn:oid:1.9.6' });
    expect(await of('901^^^1.9.5')).toEqual(['K3', 'K1']);
    expect(await of('901^^^1.9.6')).toEqual(['K2', 'K1']);
    await setAuthorities({});
  });

  test('is found in every field with an identifier, for each patient of a message', async () => {
    await site.send(`${msh('ADT^A08', 'F1')}\nPID|1|P2-1^^^OLD|P3-1^^^EAST^MR|P4-1^^^ALT|Doe^Jane||19800101|F`);
    for (const typed of ['P2-1', 'P3-1', 'P4-1']) expect(await of(typed), typed).toEqual(['F1']);
    await site.send(`${msh('ADT^A40', 'F2')}\n${pid('P3-1^^^EAST^MR')}\nMRG|M1-1^^^EAST^MR|||M4-1`);
    for (const typed of ['M1-1', 'M4-1']) expect(await of(typed), typed).toEqual(['F2']);
    await site.send(
      `${msh('ADT^A17', 'F3')}\n${pid('SWAP1^^^EAST^MR', 'Ball^Berta')}\nPV1|1|I\n${pid('SWAP2^^^EAST^MR', 'Kern^Karl')}\nPV1|1|I`,
    );
    for (const typed of ['SWAP1', 'SWAP2', 'berta ball', 'karl kern']) expect(await of(typed), typed).toEqual(['F3']);
    expect(await of('berta kern')).toEqual([]);
  });

  test('is found in a message that was rejected before its patient was matched', async () => {
    const refused = [
      [adt('R1', 'REF^^^EAST^MR').replace('|P|2.5.1', '|P|9.9'), 'AR'],
      [adt('R2', 'REF^^^EAST^MR').replace('ADT^A08', 'XXX^X01'), 'AR'],
      [adt('R3', 'REF^^^EAST^MR').replace('|P|2.5.1', '|P|2.5.1||||||NOSUCH'), 'AE'],
      [Buffer.from(adt('R4', 'REF^^^EAST^MR', 'Müller^Uwe').replaceAll('\n', '\r'), 'latin1'), 'AE'],
      [adt('R5', `REF^^^EAST^MR${'~X^^^EAST^MR'.repeat(101)}`), 'AE'],
      [`${adt('R6', 'REF^^^EAST^MR')}\nZZZ|a\0b`, 'AE'],
    ] as const;
    for (const [message, outcome] of refused) expect((await site.send(message)).outcome).toBe(outcome);
    expect(await of('REF')).toEqual(['R6', 'R5', 'R4', 'R3', 'R2', 'R1']);
    // A value that was read by a provisional rule is read again with the message.
    expect(await of('müller uwe')).toEqual(['R4']);
  });
});

describe('a name', () => {
  test('is found by the beginnings of its words, in any order, folded as FHIR searches fold', async () => {
    await site.send(adt('W1', 'W-1^^^EAST^MR', 'García Márquez^Ana-María^Luz'));
    await site.send(adt('W2', 'W-2^^^EAST^MR', "O'Brien^Seán"));
    await site.send(adt('W3', 'W-3^^^EAST^MR', 'von der Straße^Łukasz'));
    await site.send(adt('W4', 'W-4^^^EAST^MR', '王^小明'));
    await site.send(adt('W5', 'W-5^^^EAST^MR', 'Garcia^Berta'));
    for (const typed of ['garcia marquez', 'MÁRQUEZ, Ana', 'maria garcia', 'luz marq', 'GARCÍA MÁRQUEZ^ANA']) {
      expect(await of(typed), typed).toEqual(['W1']);
    }
    expect(await of('garc')).toEqual(['W5', 'W1']);
    for (const typed of ["o'brien", 'OBRIEN sean', 'O’Brien']) expect(await of(typed), typed).toEqual(['W2']);
    for (const typed of ['strasse', 'lukasz von']) expect(await of(typed), typed).toEqual(['W3']);
    for (const typed of ['王小明', '王', '小明']) expect(await of(typed), typed).toEqual(['W4']);
    for (const typed of ['garcia zoe', 'arquez', '%arquez', 'garc_z']) expect(await of(typed), typed).toEqual([]);
  });
});

test('filters narrow each other, and pages lead on and back', async () => {
  for (let n = 0; n < 5; n += 1) await site.send(adt(`PAGE-${n}`, 'PAGED^^^EAST^MR'));
  const patient = readPatientText('PAGED') ?? null;
  expect(await controls({ patient, text: 'page-3' })).toEqual(['PAGE-3']);
  expect(await controls({ patient, outcome: 'errors' })).toEqual([]);
  expect(await controls({ patient, type: 'adt', clientId: site.clientId, range: 'today' })).toHaveLength(5);
  expect(await controls({ patient, clientId: neighbour.clientId })).toEqual([]);
  expect(await controls({ patient, to: '2020-01-01T00:00:00Z' })).toEqual([]);
  const rows = await list({ patient }, site, 2);
  expect(rows.map(({ control_id: id, total }) => [id, total])).toEqual([
    ['PAGE-4', 5],
    ['PAGE-3', 5],
    ['PAGE-2', 5],
  ]);
  const than = [rows[1]?.received_at ?? '', rows[1]?.message_id ?? ''];
  const next = async (side: 'older' | 'newer', from: readonly string[]) =>
    (await site.database.run(listMessages(site.site, { ...ANY_MESSAGE, patient }, { side, than: from }, 2))).map(
      (row) => row.control_id,
    );
  expect(await next('older', than)).toEqual(['PAGE-2', 'PAGE-1', 'PAGE-0']);
  const oldest = (await list({ patient })).at(-1);
  expect(await next('newer', [oldest?.received_at ?? '', oldest?.message_id ?? ''])).toEqual([
    'PAGE-3',
    'PAGE-2',
    'PAGE-1',
  ]);
});

test('a control id is found by any part of it, a sender by its name, and neither by a wildcard', async () => {
  await site.send(adt('Demo_ORU-77%', 'C-1^^^EAST^MR'));
  for (const text of ['demo_oru', 'ORU-77', '77%', 'Demo_ORU-77%'])
    expect(await controls({ text }), text).toEqual(['Demo_ORU-77%']);
  expect(await controls({ text: 'demo-oru' })).toEqual([]);
  expect(await controls({ text: 'd%77' })).toEqual([]);
  const [any] = await list({});
  expect((await list({ text: any?.sending_application.toLowerCase() ?? '' })).length).toBeGreaterThan(5);
  expect(await controls({ text: 'no such text' })).toEqual([]);
});

test('errors are found by reason, code and place; a message accepted with a warning is not a plain AA', async () => {
  await site.send(adt('E1', 'ERR-1^^^EAST^MR').replace('19800101', '00000000'));
  await site.send(`${msh('ADT^A08', 'E2')}\nPID|1||||Doe^Jane`);
  for (const reason of ['PID-7', 'pid-7']) expect(await controls({ reason })).toEqual(['E1']);
  expect(await controls({ reason: 'required-field-missing', outcome: 'errors' })).toEqual(['E2']);
  expect(await controls({ reason: '101', text: 'E2' })).toEqual(['E2']);
  expect((await controls({ reason: 'PID' })).slice(0, 2)).toEqual(['E2', 'E1']);
  expect(await controls({ outcome: 'warnings', text: 'E1' })).toEqual(['E1']);
  expect(await controls({ outcome: 'warnings' })).not.toContain('E2');
  expect(await controls({ reason: 'PID-77' })).toEqual([]);
  const [warned] = await list({ text: 'E1' });
  expect(warned).toMatchObject({ outcome: 'AA', warnings: 1 });
  expect(JSON.parse(warned?.finding ?? 'null')).toMatchObject({ severity: 'W', at: 'PID^1^7^1^1' });
  expect(warned?.took_ms).toBeGreaterThanOrEqual(0);
});

test('a replayed message is found by its current faults', async () => {
  await site.send(adt('AGAIN', 'AGAIN^^^EAST^MR').replace('|P|', '|X|'));
  expect(await controls({ reason: 'unsupported-processing-id', text: 'AGAIN' })).toEqual(['AGAIN']);
  await db.client.query(`update site set processing_ids = '{P,X}' where site_id = $1`, [site.site]);
  const [row] = await list({ text: 'AGAIN' });
  const by = { why: 'replayed', actor: 'Ada (1)', by: ADA, jobId: null } as const;
  await reprocess(site.deps, site.site, row?.message_id ?? '', by, 'again');
  expect(await controls({ reason: 'unsupported-processing-id', text: 'AGAIN' })).toEqual([]);
  expect(await of('AGAIN')).toEqual(['AGAIN']);
  expect((await list({ text: 'AGAIN' }))[0]?.received_at).toBe(row?.received_at);
  await db.client.query(`update site set processing_ids = '{P}' where site_id = $1`, [site.site]);
});

test('no filter finds messages of another site', async () => {
  await neighbour.send(adt('THEIRS', 'NEIGHBOUR^^^EAST^MR', 'Nachbar^Nora').replace('|P|', '|X|'));
  expect(await of('NEIGHBOUR', neighbour)).toEqual(['THEIRS']);
  for (const typed of ['NEIGHBOUR', 'nachbar nora']) expect(await of(typed)).toEqual([]);
  await site.send(adt('OURS', 'NEIGHBOUR^^^EAST^MR'));
  expect(await list({ patient: readPatientText('NEIGHBOUR') ?? null })).toMatchObject([
    { control_id: 'OURS', total: 1 },
  ]);
  expect(await controls({ text: 'THEIRS' })).toEqual([]);
  expect(await controls({ text: 'THEIRS', reason: 'unsupported-processing-id' })).toEqual([]);
  const elsewhere = messagesElsewhere(site.site, readPatientText('NEIGHBOUR') ?? null, 'THEIRS');
  expect(await site.database.run(elsewhere)).toEqual([{ numbers: 1, names: 0, control_ids: 0 }]);
  expect(
    await neighbour.database.run(messagesElsewhere(neighbour.site, readPatientText('NEIGHBOUR') ?? null, 'HEIR')),
  ).toEqual([{ numbers: 1, names: 0, control_ids: 1 }]);
});
