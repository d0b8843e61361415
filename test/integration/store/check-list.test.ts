/** The go-live check list of a key is filled in from the rows of this key alone. */
import { expect, test } from 'vitest';

import { viewCheckList } from '../../../edge/check-list.ts';
import { checkListOf } from '../../../edge/store/check-list.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { noteUsage } from '../../../edge/store/usage.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { msh } from '../../stack/tools/hl7-text.ts';

const db = await useTestDatabase();

const newKey = (protocols: string[] = ['hl7']): Promise<Hl7Site> => createHl7Site({ database: db, key: { protocols } });
const pid = (id: string, name = 'Doe^Jane', rest = '19800229|F') => `PID|1||${id}^^^HOSP^MR||${name}||${rest}`;
const adt = (control: string, id = 'P1') => `${msh('ADT^A08^ADT_A01', control)}\n${pid(id)}`;

/** Sends a message, and counts it as the surface does. */
async function send(at: Hl7Site, message: string) {
  const sent = await at.send(message);
  const { text, params } = noteUsage({
    counts: [],
    answers: [],
    keys: [
      {
        site: at.site,
        clientId: at.clientId,
        surface: 'hl7',
        application: 'LAB',
        facility: 'HOSP',
        at: Date.now(),
        accepted: sent.outcome === 'AA' ? 1 : 0,
        refused: sent.outcome === 'AE' ? 1 : 0,
        rejected: sent.outcome === 'AR' ? 1 : 0,
      },
    ],
    kids: [],
  });
  await db.client.query(text, [...params]);
  return sent.outcome;
}

async function listOf({ site, clientId, deps }: Pick<Hl7Site, 'site' | 'clientId' | 'deps'>) {
  const [row] = await inSite(deps.database, site).run(checkListOf(site, clientId));
  return viewCheckList(row);
}
const doneOf = async (at: Hl7Site): Promise<string[]> =>
  (await listOf(at)).steps.filter(({ done }) => done).map(({ step }) => step);

test('a new key has no step, and its neighbour does not count', async () => {
  const [at, neighbour] = [await newKey(), await newKey()];
  await send(neighbour, adt('N-1'));
  await send(neighbour, adt('N-1'));
  const { steps, types } = await listOf(at);
  expect(steps.map(({ step, done, at: seen }) => [step, done, seen])).toEqual(
    ['token', 'message', 'types', 'ack', 'resend', 'wrong-patient'].map((step) => [step, false, null]),
  );
  expect(steps.every(({ todo }) => todo !== null)).toBe(true);
  expect(types).toEqual([]);
  expect(JSON.stringify(await listOf({ ...at, site: neighbour.site }))).toBe(JSON.stringify({ steps: [], types: [] }));
});

test('a message, the next message and the same bytes again are seen', async () => {
  const at = await newKey();
  expect(await send(at, adt('C-1'))).toBe('AA');
  expect(await doneOf(at)).toEqual(['message', 'types']);
  expect(await send(at, adt('C-2'))).toBe('AA');
  expect(await doneOf(at)).toEqual(['message', 'types', 'ack']);
  expect(await send(at, adt('C-2'))).toBe('AA');
  expect(await doneOf(at)).toEqual(['message', 'types', 'ack', 'resend']);
  const { types } = await listOf(at);
  expect(types).toEqual([{ type: 'ADT^A08', accepted: 2, rejected: 0, lastAt: expect.stringMatching(/Z$/) }]);
});

test('a sender that repeats what was accepted has not read the ACK', async () => {
  const at = await newKey();
  await send(at, adt('R-1'));
  for (let n = 0; n < 4; n += 1) await send(at, adt('R-1'));
  await send(at, adt('R-2'));
  expect(await doneOf(at)).toEqual(['message', 'types', 'resend']);
});

test('a rejected type is not done until one is accepted; rejected bytes sent again are a resend', async () => {
  const at = await newKey();
  const orphan = `${msh('ORU^R01^ORU_R01', 'O-1')}\n${pid('Q1')}\nOBX|1|ST|1^a^L||x||||||F`;
  expect(await send(at, orphan)).toBe('AE');
  expect(await doneOf(at)).toEqual(['message']);
  await send(at, orphan);
  expect(await doneOf(at)).toEqual(['message', 'resend']);
  const accepted = `${msh('ORU^R01^ORU_R01', 'O-2')}\n${pid('Q1')}\nOBR|1||F1|1^P^L|||20260101|||||||||||||||||F\nOBX|1|ST|1^a^L||x||||||F`;
  expect(await send(at, accepted)).toBe('AA');
  expect(await doneOf(at)).toEqual(['message', 'types', 'resend']);
});

test('a result of a wrong patient is seen when it is rejected, and not as a warning', async () => {
  const at = await newKey();
  await send(at, adt('W-1', 'W1'));
  const result = (control: string, who: string) =>
    `${msh('ORU^R01^ORU_R01', control)}\n${who}\nOBR|1||${control}|1^P^L|||20260101|||||||||||||||||F\nOBX|1|ST|1^a^L||x||||||F`;
  expect(await send(at, result('W-2', pid('W1')))).toBe('AA');
  expect(await doneOf(at)).not.toContain('wrong-patient');
  expect(await send(at, result('W-3', pid('W1', 'Roe^Richard', '19501231|M')))).toBe('AE');
  expect(await doneOf(at)).toContain('wrong-patient');
  const step = (await listOf(at)).steps.find((each) => each.step === 'wrong-patient');
  expect(step).toMatchObject({ at: expect.stringMatching(/Z$/), todo: null });
});

test('more than a thousand messages are not counted as messages sent again', async () => {
  const at = await newKey();
  await db.client.query(
    `with m as (
       insert into hl7_message (site_id, message_id, client_id, received_at, source, source_address, sending_application,
         sending_facility, control_id, sha256, message_type, outcome)
       select $1, gen_random_uuid(), $2, now() - n * interval '10 seconds', 'http', '', 'LAB', 'HOSP', n::text, n::text, 'ADT^A08', 'AA'
         from generate_series(1, 1200) n returning *)
     insert into hl7_attempt (site_id, message_id, number, at, why, request_id, outcome)
     select site_id, message_id, 1, received_at, 'received', '', 'AA' from m`,
    [at.site, at.clientId],
  );
  await db.client.query(
    `insert into key_usage (site_id, client_id, bucket, surface, accepted, refused, rejected)
     select $1, $2, date_bin('15 minutes', received_at, '2000-01-01'), 'hl7', count(*), 0, 0 from hl7_message where client_id = $2 group by 3`,
    [at.site, at.clientId],
  );
  expect(await doneOf(at)).toEqual(['types', 'ack']);
  const { types } = await listOf(at);
  expect(types).toMatchObject([{ accepted: 1000 }]);
});

test('a key without HL7 has no steps for messages, and one of MLLP no token', async () => {
  const steps = async (protocols: string[]) => (await listOf(await newKey(protocols))).steps.map(({ step }) => step);
  expect(await steps(['fhir'])).toEqual(['token', 'fhir']);
  expect(await steps(['hl7-mllp'])).toEqual(['message', 'types', 'ack', 'resend', 'wrong-patient']);
});
