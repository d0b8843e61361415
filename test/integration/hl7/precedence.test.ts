/**
 * The newer value wins, on a real database: messages and FHIR clients in any order, and a message that is processed
 * again.
 */
import { beforeAll, describe, expect, test } from 'vitest';

import type { MatchRow } from '../../../edge/store/hl7-snapshot.ts';
import { read } from '../../../edge/store/sql.ts';
import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { reprocess } from '../../../edge/hl7/ingest/replay/replay.ts';
import { orderCases } from '../../contract/hl7/order-cases.ts';
import { liveIn, reportedIn, resultMessage, type SentOrder } from '../../inputs/hl7-results.ts';
import { ADA, createHl7Site, type Hl7Site, type Sent } from '../../stack/tools/hl7-site.ts';
import { someOrdersOf } from '../../stack/tools/orders.ts';

const site = await createHl7Site({ timeZone: 'Europe/Vienna' });

let control = 0;
/** @param time MSH-7 */
const msh = (type: string, time: string): string =>
  `MSH|^~\\&|LAB|HOSP|GATEWAY|SITE|${time}||${type}|O${(control += 1)}|P|2.5.1`;
const pid = (id: string, rest = '||Doe^Jane'): string => `PID|1||${id}^^^HOSP^MR${rest}`;
/** An instant as MSH-7. */
const soon = (seconds: number): string =>
  `${new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}+0000`;

type Stored = JsonObject & { id: string; version: number };
const one = async (type: ResourceType, having: string): Promise<Stored> => {
  const [found, ...more] = (await site.resources(type)).filter((each) => JSON.stringify(each).includes(`"${having}"`));
  if (found === undefined || more.length > 0) throw new Error(`${having}: ${more.length + 1} found, or none`);
  return found;
};
/** Writes as a FHIR client: the current content, with the given members replaced. */
const write = async (type: ResourceType, { id, version: _version, ...content }: Stored, members: JsonObject) => {
  const { meta: _meta, ...rest } = content;
  await site.database.run(
    writeResources(site.site, [toWrite({ resourceType: type, ...rest, ...members }, id, 'update')]),
  );
};

interface Result {
  readonly time: string;
  readonly status: string;
  readonly value: string;
  readonly report?: string;
  readonly more?: string;
}

const oru = (number: string, { time, status, value, report = status, more = '' }: Result): string =>
  `${msh('ORU^R01', time)}
  ${pid(`R-${number}`)}
  OBR|1||${number}|1^Panel^L|||202601010700+0100|||||||||||||||${time}|||${report}
  OBX|1|NM|${number}^Glucose^L||${value}|mg/dL|${more}||||${status}`;

const STALE = ['W 205 OBX^1', 'W 205 OBR^1'];
const valueOf = (found: JsonObject) => [found['status'], JSON.stringify(found['valueQuantity'])];

describe('results', () => {
  test('the clock changes between a preliminary and a final result, whose times have no offset', async () => {
    const result = (sent: string, status: string, value: string) =>
      `${msh('ORU^R01', sent)}
      ${pid('R-DST')}
      OBR|1||DST|1^Panel^L|||202510251930|||||||||||||||${sent.slice(0, 12)}|||${status}
      OBX|1|NM|DST^Potassium^L||${value}|mmol/L|||||${status}`;
    await site.send(result('20251025200000+0200', 'P', '4.1'));
    await site.send(result('20251026081000+0100', 'F', '5.9'));
    expect(await one('Observation', 'DST')).toMatchObject({
      status: 'final',
      valueQuantity: { value: 5.9 },
      effectiveDateTime: '2025-10-25T19:30:00+02:00',
    });
    expect(await one('DiagnosticReport', 'DST')).toMatchObject({ issued: '2025-10-26T08:10:00+01:00' });
  });

  const C: Result = { time: '202601020800', status: 'C', value: '5.4' };
  const F: Result = { time: '202601010800', status: 'F', value: '5.2' };
  const P: Result = { time: '202601010730', status: 'P', value: '4.9' };

  test('an older final and an older preliminary one do not undo a correction', async () => {
    // It corrects what is not known yet.
    expect((await site.send(oru('A1', C))).errors).toEqual(['W 205 OBX^1']);
    for (const older of [F, P]) {
      expect(await site.send(oru('A1', older))).toMatchObject({ outcome: 'AA', errors: STALE });
    }
    const found = await one('Observation', 'A1');
    expect(found).toMatchObject({ version: 1, status: 'corrected', valueQuantity: { value: expect.anything() } });
    expect(valueOf(found)[1]).toContain('5.4');
    expect(await one('DiagnosticReport', 'A1')).toMatchObject({ version: 1, status: 'corrected' });
  });

  test('a preliminary result after the final one, also by a later clock', async () => {
    await site.send(oru('A2', { ...F, time: '202601010800' }));
    await site.send(oru('A2', { ...P, time: '202601010900' }));
    expect(await one('Observation', 'A2')).toMatchObject({ status: 'final' });
  });

  test('an empty status keeps the known status', async () => {
    await site.send(oru('A3', F));
    expect((await site.send(oru('A3', { ...F, status: '' }))).errors).toEqual(['W 101 OBX^1^11', 'W 101 OBR^1^25']);
    expect(await one('Observation', 'A3')).toMatchObject({ status: 'final' });
    expect(await one('DiagnosticReport', 'A3')).toMatchObject({ status: 'final' });
  });

  test('a value brings its range and flags', async () => {
    await site.send(oru('A4', { ...F, more: '1-5' }));
    expect(await one('Observation', 'A4')).toHaveProperty('referenceRange');
    await site.send(oru('A4', C));
    expect(await one('Observation', 'A4')).not.toHaveProperty('referenceRange');
  });

  test('a stale correction is listed, once', async () => {
    await site.send(oru('A5', { ...C, time: '202601030800' }));
    await site.send(oru('A5', { ...C, value: '6.0' }));
    await site.send(oru('A5', { ...C, value: '6.0' }));
    const { id } = await one('Observation', 'A5');
    const { rows } = await site.db.client.query(
      `select kind, detail from attention where site_id = $1 and detail ->> 'id' = $2`,
      [site.site, id],
    );
    expect(rows).toEqual([{ kind: 'stale-correction', detail: { type: 'Observation', id, at: 'OBX^1' } }]);
  });

  test('a message that is processed again does not undo newer values', async () => {
    await site.send(oru('A6', F));
    await site.send(oru('A6', C));
    const { rows } = await site.db.client.query<{ message_id: string }>(
      'select message_id from hl7_message where site_id = $1 order by message_id desc offset 1 limit 1',
      [site.site],
    );
    const replay = (why: 'replayed' | 'forced') =>
      reprocess(
        site.deps,
        site.site,
        rows[0]?.message_id ?? '',
        { why, actor: 'Ada (1)', jobId: null, by: ADA },
        'request-2',
      );
    await replay('replayed');
    expect(await one('Observation', 'A6')).toMatchObject({ status: 'corrected', version: 2 });
    // Unless the request says that the message is valid now.
    await replay('forced');
    expect(await one('Observation', 'A6')).toMatchObject({ status: 'final', version: 3 });
  });

  test('a lab whose clock is an hour ahead is dated by receipt, and learns it', async () => {
    for (const result of [F, C]) {
      expect((await site.send(oru('A9', { ...result, time: soon(3600) }))).errors).toEqual(['W 207 MSH^1^7']);
    }
    expect(await one('Observation', 'A9')).toMatchObject({ status: 'corrected' });
  });

  test('a FHIR client’s change stays until a newer value arrives, and applies to no other member of the resource', async () => {
    await site.send(oru('A7', F));
    await write('Observation', await one('Observation', 'A7'), { valueQuantity: { value: 9 } });
    await site.send(oru('A7', { ...C, time: soon(-60) }));
    expect(await one('Observation', 'A7')).toMatchObject({ status: 'corrected', valueQuantity: { value: 9 } });
    expect((await site.send(oru('A7', { ...C, time: soon(60) }))).errors).toEqual([]);
    expect(valueOf(await one('Observation', 'A7'))[1]).toContain('5.4');
  });

  test('writes by messages do not count as writes by a FHIR client', async () => {
    await site.send(oru('A8', F));
    await site.send(oru('A8', C));
    const { rows } = await site.db.client.query(
      'select distinct stamps from hl7_precedence where site_id = $1 and id = $2',
      [site.site, (await one('Observation', 'A8')).id],
    );
    expect(rows).toEqual([{ stamps: '{}' }]);
  });
});

describe('patients', () => {
  const adt = (id: string, time: string, rest: string): string =>
    `${msh('ADT^A08', soon(0))}\nEVN||${time}\n${pid(id, rest)}`;

  test('the name of an older admission does not come back', async () => {
    await site.send(adt('B1', '202601010800', '||New^Name'));
    const older = await site.send(adt('B1', '202501010800', '||Old^Name||19800229'));
    expect(older).toMatchObject({ outcome: 'AA', errors: ['W 205 PID^1'] });
    expect(await one('Patient', 'B1')).toMatchObject({ name: [{ family: 'New' }], birthDate: '1980-02-29' });
  });

  test('a telephone number that a FHIR client corrected between two admissions', async () => {
    const phone = (number: string): string => `||Doe^Jane||||||||${number}^PRN^PH`;
    const value = async () => JSON.stringify((await one('Patient', 'B2'))['telecom']);
    await site.send(adt('B2', '202601010800', phone('1')));
    const before = await one('Patient', 'B2');
    await write('Patient', before, { telecom: [{ system: 'phone', use: 'home', value: '2' }] });
    expect((await site.send(adt('B2', '202601020800', phone('3')))).errors).toEqual(['W 205 PID^1']);
    expect(await value()).toContain('"2"');
    // The name was not changed by the FHIR client, so that the message was free to.
    await site.send(adt('B2', '202601030800', '||Roe^Jane'));
    expect(await one('Patient', 'B2')).toMatchObject({ name: [{ family: 'Roe' }] });
    await site.send(adt('B2', soon(60), phone('4')));
    expect(await value()).not.toContain('"2"');
    expect(await value()).toContain('"4"');
  });

  test('a result fills only the empty members of its patient, and warns of nothing', async () => {
    await site.send(adt('R-B3', '202601010800', '||Doe^Jane'));
    const sent: Sent = await site.send(
      oru('B3', { time: '202601020800', status: 'F', value: '1' }).replace('Doe^Jane', 'Other^Jane||19800229'),
    );
    expect(sent.errors).toEqual([]);
    expect(await one('Patient', 'R-B3')).toMatchObject({ name: [{ family: 'Doe' }], birthDate: '1980-02-29' });
    await site.send(adt('R-B3', '202501010800', '||Doe^Jane||19810101'));
    expect(await one('Patient', 'R-B3')).toMatchObject({ birthDate: '1981-01-01' });
  });

  test('an order that has moved without a new version is another state', async () => {
    const found = async () => {
      const rows = await site.database.run(
        read<MatchRow>`select * from hl7_matches(${site.site}::uuid, ${['B4']}::text[], '{}', '{}')`,
      );
      const patient = rows.find(({ role }) => role === 'patient');
      return { state: patient?.state, version: patient?.version };
    };
    await site.send(adt('B4', '202601010800', '||Doe^Jane'));
    const before = await found();
    await site.send(adt('B4', '202601020800', '||Doe^Jane'));
    const after = await found();
    expect(after.version).toBe(before.version);
    expect([before.state, after.state]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
    expect(after.state).not.toBe(before.state);
  });
});

describe('documents', () => {
  const mdm = (event: string, number: string, time: string, parent = ''): string =>
    `${msh(`MDM^${event}`, time)}\n${pid('D1')}\nTXA|1|OP||||||${time}||||${number}|${parent}||||AU||AV\nOBX|1|TX|a||${number}`;

  test('a replaced result stays superseded, with any message that arrives again', async () => {
    await site.send(mdm('T02', 'C1', '202601010800'));
    await site.send(mdm('T10', 'C2', '202601020800', 'C1'));
    await site.send(mdm('T02', 'C1', '202601010700'));
    await site.send(mdm('T02', 'C1', '202601030700'));
    const { id } = (await site.resources('DocumentReference')).find(({ status }) => status === 'superseded') ?? {};
    expect(await one('DocumentReference', 'current')).toMatchObject({
      masterIdentifier: { value: 'C2' },
      relatesTo: [{ code: 'replaces', target: { reference: `DocumentReference/${id}` } }],
    });
  });

  test('also a result that arrives after its replacement', async () => {
    expect((await site.send(mdm('T10', 'C4', '202601020800', 'C3'))).errors).toEqual(['W 204 TXA^1^13']);
    await site.send(mdm('T10', 'C5', '202601020800', 'C3'));
    await site.send(mdm('T02', 'C3', '202601010800'));
    const all = await site.resources('DocumentReference');
    const old = all.find(({ masterIdentifier }) => JSON.stringify(masterIdentifier).includes('C3'));
    expect(old).toMatchObject({ status: 'superseded' });
    expect(all.find(({ masterIdentifier }) => JSON.stringify(masterIdentifier).includes('C4'))).toMatchObject({
      status: 'current',
      relatesTo: [{ code: 'replaces', target: { reference: `DocumentReference/${old?.id}` } }],
    });
  });
});

describe('the outcome is independent of the order of arrival', () => {
  let own: Hl7Site;
  beforeAll(async () => {
    own = await createHl7Site({ database: site.db, timeZone: 'Europe/Vienna' });
  });

  const order = (
    filler: string,
    obx: string,
    [parent = '', parentOrder = '', status = 'P']: readonly string[] = [],
  ) => ({
    status,
    filler,
    parent,
    parentOrder,
    obx: [obx],
  });
  const organism = (name: string, status = ''): SentOrder => order('PA', `ST|ORG^Organism^L|1|${name}|${status}`);
  const tested = (status: string): SentOrder =>
    order('CH', 'ST|AMP^Ampicillin^L||S', ['ORG&Organism&L^1^E. coli', '^PA', status]);
  const ofResult = order('GC', 'ST|ESBL^ESBL^L||none', ['AMP&Ampicillin&L^^S', '^CH']);
  const cancelled: SentOrder = { status: 'X', filler: 'PA', obx: [] };

  // `merge` is an A40 of the second number into the first.
  test.each<readonly [string, readonly (readonly [number: 1 | 2, SentOrder] | 'merge')[], readonly string[]]>([
    [
      'results of results are withdrawn with their organism, each order in another message',
      [
        [1, organism('E. coli')],
        [1, tested('P')],
        [1, ofResult],
        [1, organism('S. aureus')],
      ],
      ['S. aureus preliminary'],
    ],
    [
      'a final susceptibility is withdrawn with its organism, which is in the other record',
      [[1, organism('E. coli', 'F')], [2, tested('F')], [1, organism('E. coli', 'W')], 'merge'],
      [],
    ],
    [
      'results of results are withdrawn with the former organism of the other record',
      [[2, organism('E. coli')], [1, tested('P')], [1, ofResult], [2, organism('S. aureus')], 'merge'],
      ['S. aureus preliminary'],
    ],
    [
      'a susceptibility is withdrawn with the organism of a report that is cancelled in the other record',
      [[1, organism('E. coli')], [1, tested('P')], [2, cancelled], 'merge'],
      [],
    ],
    [
      'a susceptibility stays with its organism, which is in the other record',
      [[1, organism('E. coli', 'F')], [2, tested('F')], [2, organism('E. coli', 'F')], 'merge'],
      ['E. coli final', 'S final'],
    ],
  ])('%s', async (name, history, live) => {
    for (const [at, sent] of someOrdersOf(history.map((each, minute) => [minute, each] as const)).entries()) {
      const id = `${name.slice(0, 40)}-${at}`;
      const pid = (number: number): string => `${id}-${number}^^^HOSP^MR||Doe^Jane||19800229`;
      for (const [minute, each] of sent) {
        const message =
          each === 'merge'
            ? `${msh('ADT^A40', `20260101123${minute}`)}\nPID|1||${pid(1)}\nMRG|${id}-2^^^HOSP^MR`
            : resultMessage({ at: minute, orders: [each[1]] }, pid(each[0]));
        expect((await own.send(message)).outcome).toBe('AA');
      }
      const { rows } = await own.db.client.query<{ type: string; id: string; body: string }>(
        `select r.type, r.id, r.body from resource r join patient_identity i on i.site_id = r.site_id and i.id = r.patient_id
          where r.site_id = $1 and i.value = $2`,
        [own.site, `${id}-1`],
      );
      const world = { resources: () => rows };
      const order = sent.map(([minute]) => minute).join();
      expect(liveIn(world), order).toEqual(live);
      // A sender's own withdrawal stays in its report.
      const reported = reportedIn(world);
      expect(
        reported.filter((text) => !/^(?:E. coli|none) entered-in-error$/.test(text)),
        order,
      ).toEqual(live);
    }
  });

  orderCases(() => ({
    db: own.db,
    send: (message) => own.send(message),
    update: async (resource) => {
      await own.database.run(writeResources(own.site, [toWrite(resource, resource.id, 'update')]));
    },
  }));
});
