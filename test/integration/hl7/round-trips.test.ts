/** How many round trips a message takes, by what its isolate has seen before; and what is refused in the first of them. */
import { randomUUID } from 'node:crypto';

import { beforeAll, describe, expect, test } from 'vitest';

import { createSnapshotCache } from '../../../edge/hl7/ingest/snapshot/cache.ts';
import type { Database } from '../../../edge/deps.ts';
import { cutMessage } from '../../../edge/hl7/ingest/cut-documents.ts';
import { ingest } from '../../../edge/hl7/ingest/ingest.ts';
import type { Sender } from '../../../edge/hl7/ingest/sender/sender.ts';
import { withLimits } from '../../../edge/store/time-limits.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { lockWaits } from '../../stack/tools/lock-waits.ts';
import { until } from '../../stack/services/until.ts';
import { createHl7Site, type Hl7Site, type Sent } from '../../stack/tools/hl7-site.ts';
import { callerOf } from '../../stack/tools/caller.ts';

const db = await useTestDatabase();
const site = await createHl7Site({ database: db, addresses: [] });

const pid = (numbers: string, given = 'Jane') => `PID|1||${numbers}||Doe^${given}||19800229|F`;
const adt = (numbers: string, given?: string) => `${msh('ADT^A08')}\n${pid(numbers, given)}`;
const oru = (numbers: string, status: string, filler = `F-${numbers}`, code = 'a') =>
  `${msh('ORU^R01')}\n${pid(numbers)}\nOBR|1||${filler}|P^Panel^L|||202601010800||||||||||||||||||${status}\nOBX|1|NM|${code}^T^L||5||||||${status}`;

/** A separate isolate. */
const isolate = () => ({ snapshots: createSnapshotCache() });

async function tripsOf(work: () => Promise<unknown>): Promise<number> {
  const before = db.endpoint.requests();
  await work();
  return db.endpoint.requests() - before;
}
const trips = async (message: string, by = {}, outcome = 'AA'): Promise<number> => {
  let sent: Sent | undefined;
  const count = await tripsOf(async () => (sent = await site.send(message, by)));
  expect(sent?.outcome).toBe(outcome);
  return count;
};

describe('round trips', () => {
  test('one for a new patient, one for a patient seen before, once the key is known', async () => {
    const one = isolate();
    expect(await trips(adt('N1'), one)).toBe(2);
    expect(await trips(adt('N2'), one)).toBe(1);
    expect(await trips(adt('N2', 'Janet'), one)).toBe(1);
    expect(await trips(adt('N2', 'Janet'), one)).toBe(1);
    expect(await trips(adt('N2', 'Joan'), one)).toBe(1);
  });

  test('one for a result, for its correction, and for another of the patient', async () => {
    const one = isolate();
    await trips(adt('R0'), one);
    expect(await trips(oru('R1', 'P'), one)).toBe(1);
    expect(await trips(oru('R1', 'F'), one)).toBe(1);
    expect(await trips(oru('R1', 'C', 'F-R1', 'b'), one)).toBe(1);
    expect(await trips(oru('R1', 'F', 'F-R1-2'), one)).toBe(1);
    expect(await trips(`${adt('R1')}\nAL1|1|DA|PEN^Penicillin^L|SV`, one)).toBe(1);
    expect(await trips(`${adt('R1')}\nAL1|1|DA|PEN^Penicillin^L|MO`, one)).toBe(1);
  });

  test('two for the absorption of a record of results, and one if the isolate knows both records', async () => {
    const one = isolate();
    await trips(adt('A0'), one);
    for (const [n, own, count] of [
      [1, isolate(), 2],
      [2, one, 1],
    ] as const) {
      const [a, b] = [`AB${n}a`, `AB${n}b`];
      await trips(adt('A0'), own);
      await trips(oru(b, 'F', `F-${b}`), one);
      await trips(adt(a), one);
      let sent: Sent | undefined;
      expect(await tripsOf(async () => (sent = await site.send(adt(`${a}~${b}`), own)))).toBe(count);
      expect(sent?.text).toContain('record-absorbed');
    }
  });

  test('three for the absorption of a record that has results of the same order, which become one', async () => {
    const one = isolate();
    await trips(adt('A0'), one);
    await trips(oru('AC1b', 'F', 'F-AC1'), {});
    await trips(adt('AC1a'), {});
    await trips(oru('AC1a', 'F', 'F-AC1'), {});
    expect(await trips(adt('AC1a~AC1b'), one)).toBe(3);
    const { rows } = await db.client.query(
      `select from resource where site_id = $1 and type = 'Observation' and body like '%F-AC1"%' and body like '%entered-in-error%'`,
      [site.site],
    );
    expect(rows).toHaveLength(1);
  });

  test('one for serial results without offsets, for some of them, and for another beside them', async () => {
    const one = isolate();
    await trips(adt('V0'), one);
    const serial = (status: string, ...hours: readonly string[]) =>
      [
        msh('ORU^R01').replace('+0100', ''),
        pid('V1'),
        ...hours.flatMap((hour) => [
          `OBR|1||F-V1|P^Panel^L|||20260101${hour}00||||||||||||||||||${status}`,
          `OBX|1|NM|a^T^L||5||||||${status}`,
        ]),
      ].join('\n');
    for (const [status, ...hours] of [
      ['P', '08', '09', '10'],
      ['F', '08', '09', '10'],
      ['C', '09'],
      ['C', '08', '09', '10'],
      ['C', '10', '11', '08'],
    ] as const)
      expect(await trips(serial(status, ...hours), one), `${status} ${hours.join()}`).toBe(1);
    const results = (await site.resources('Observation')).filter((each) => JSON.stringify(each).includes('F-V1'));
    expect(results.map(({ status }) => status)).toEqual(['corrected', 'corrected', 'corrected', 'corrected']);
  });

  test('one for a patient by another of its numbers, and by fewer than before', async () => {
    const one = isolate();
    await trips(adt('S0'), one);
    expect(await trips(adt('S1^^^A^MR~S2^^^B^PI'), one)).toBe(1);
    expect(await trips(adt('S1^^^A^MR'), one)).toBe(1);
    expect(await trips(adt('S2^^^B^PI~S1^^^A^MR'), one)).toBe(1);
    // One more identifier, which no patient has.
    expect(await trips(adt('S1^^^A^MR~S3^^^C^PI'), one)).toBe(1);
  });

  test('two for an ADT that absorbs a record of results, and three if the isolate has seen neither record', async () => {
    const [one, two] = [isolate(), isolate()];
    for (const each of [one, two]) await trips(adt('B0'), each);
    for (const [tag, by, count] of [
      ['B1', one, 2],
      ['B2', two, 3],
    ] as const) {
      await trips(adt(`${tag}a^^^H^MR~${tag}e^^^EPI^PI`), one);
      await trips(oru(`${tag}b^^^H^MR`, 'F', `F-${tag}`), one);
      await trips(oru(`${tag}a^^^H^MR`, 'F', `F-${tag}`), one);
      expect(await trips(adt(`${tag}b^^^H^MR~${tag}e^^^EPI^PI`), by)).toBe(count);
      const results = (await site.resources('Observation')).filter((each) => JSON.stringify(each).includes(`F-${tag}`));
      expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['entered-in-error', 'final']));
    }
  });

  test('one for a message that is rejected, and for a repetition after it was accepted', async () => {
    const one = isolate();
    await trips(adt('Q0'), one);
    expect(await trips(`${msh('ADT^A08')}\nPID|1||||Doe^Jane`, one, 'AE')).toBe(1);
    const message = adt('Q1');
    expect(await trips(message, one)).toBe(1);
    expect(await trips(message, one)).toBe(1);
  });

  test('needs exactly two round trips for a stale snapshot', async () => {
    const [one, two] = [isolate(), isolate()];
    for (const each of [one, two]) await trips(adt('W0'), each);
    await trips(adt('W1'), one);
    // The second isolate does not know the patient that the first one created. Then the first one’s snapshot misses the second one’s change.
    expect(await trips(adt('W1', 'Janet'), two)).toBe(2);
    expect(await trips(adt('W1', 'Joan'), one)).toBe(2);
    expect(await trips(adt('W1', 'June'), one)).toBe(1);
    await db.client.query(`update site set name = 'Another' where site_id = $1`, [site.site]);
    expect(await trips(adt('W1', 'Jill'), one)).toBe(2);
    expect(await trips(adt('W1', 'Jane'), one)).toBe(1);
    const refused = `${msh('ADT^A08')}\nPID|1||||Doe^Jane`;
    expect(await trips(refused, one, 'AE')).toBe(1);
    expect(await trips(refused, one, 'AE')).toBe(2);
    // Other bytes under a used control id; a sender that does so once does so again.
    const renamed = (given: string) => refused.replace('Jane', given);
    expect(await trips(renamed('Joan'), one, 'AE')).toBe(2);
    expect(await trips(renamed('June'), one, 'AE')).toBe(1);
    expect(await trips(adt('W1', 'June'), one)).toBe(2);
    // A merge: what both have is looked for, and the database writes what it moves.
    expect(await trips(`${msh('ADT^A40')}\n${pid('W1')}\nMRG|W0`, one)).toBe(2);
    for (const number of ['W1', 'W0']) {
      expect(await trips(adt(number), one)).toBe(2);
      expect(await trips(adt(number), one)).toBe(1);
    }
  });

  test('a message is stored although a FHIR client updates its patient before each of thirty commits', async () => {
    await trips(adt('U1'));
    let updates = 0;
    // A busy machine takes longer for thirty rounds than a message may.
    const at = Date.now();
    const database: Database = {
      ...site.deps.database,
      async run(...query) {
        updates += 1;
        if (updates <= 30)
          await db.client.query(
            `update resource set version = version where site_id = $1 and type = 'Patient' and body like '%"U1"%'`,
            [site.site],
          );
        return site.deps.database.run(...query);
      },
    };
    expect(await site.send(adt('U1', 'Janet'), { ...isolate(), database, now: () => at })).toMatchObject({
      outcome: 'AA',
    });
    expect(updates).toBe(31);
  });

  test('settings that were changed meanwhile decide, over any snapshot of them', async () => {
    const one = isolate();
    const own = await createHl7Site({ database: db });
    for (const given of ['Jane', 'Janet']) expect((await own.send(adt('C1', given), one)).outcome).toBe('AA');
    await db.client.query(`update site set processing_ids = '{T}' where site_id = $1`, [own.site]);
    expect((await own.send(adt('C1', 'Joan'), one)).outcome).toBe('AR');
    await db.client.query(`update site set processing_ids = '{P}', placeholders = '{C2}' where site_id = $1`, [
      own.site,
    ]);
    expect((await own.send(adt('C2'), one)).outcome).toBe('AE');
    expect(await own.resources('Patient')).toMatchObject([{ version: 2, name: [{ given: ['Janet'] }] }]);
  });

  test('two for a message that is too long to be sent twice', async () => {
    const one = isolate();
    await trips(adt('L0'), one);
    const document = Buffer.alloc(120 * 1024, 'document ').toString('base64');
    const mdm = `${msh('MDM^T02^MDM_T02')}\n${pid('L1')}\nTXA|1|OP|AP|||||||||D1|||||AU||AV\nOBX|1|ED|OP^R^L||^AP^PDF^Base64^${document}||||||F`;
    expect(await trips(mdm, one)).toBe(2);
    expect(await trips(adt('L1'), one)).toBe(1);
  });

  test('a patient of another site, and what its key learned, are not used as a snapshot of this site', async () => {
    const one = isolate();
    const other = await createHl7Site({ database: db });
    await other.send(adt('X1', 'Theirs'), one);
    await trips(adt('X0'), one);
    expect(await trips(adt('X1', 'Ours'), one)).toBe(1);
    expect(await other.resources('Patient')).toMatchObject([{ version: 1, name: [{ given: ['Theirs'] }] }]);
  });
});

describe('over MLLP', () => {
  const ADDRESS = '198.51.100.77';
  let mllp: Hl7Site;
  beforeAll(async () => {
    const key = { protocols: ['hl7-mllp'], allowedIps: [ADDRESS] };
    mllp = await createHl7Site({ database: db, addresses: [ADDRESS], key });
  });

  const forward = async (message: string, by: object, address = ADDRESS) => {
    const before = db.endpoint.requests();
    const sender: Sender = { kind: 'address', address, tlsSubject: undefined, sidecar: 'sidecar-1' };
    const source = { kind: 'mllp', address } as const;
    const request = { sender, ...(await cutMessage(bytesOf(message), Infinity)), source, requestId: 'request-1' };
    const ingested = await ingest({ ...mllp.deps, ...by }, request);
    const answered = ingested.status === 'no-sender' ? ingested.refusal.refused : ingested.clientId;
    return [answered, db.endpoint.requests() - before];
  };
  const ofKey = (set: string, clientId = mllp.clientId) =>
    db.client.query(`update api_key set ${set} where client_id = $1`, [clientId]);

  test('one round trip, once the address is known', async () => {
    const one = isolate();
    expect(await forward(adt('M1'), one)).toEqual([mllp.clientId, 2]);
    expect(await forward(adt('M2'), one)).toEqual([mllp.clientId, 1]);
    expect(await forward(adt('M2', 'Janet'), one)).toEqual([mllp.clientId, 1]);
    expect(await mllp.resources('Patient')).toMatchObject([{ version: 1 }, { version: 2 }]);
  });

  test('a key that is disabled, or has lost its address, is rejected at once, with any snapshot', async () => {
    const one = isolate();
    await forward(adt('K1'), one);
    const stored = (await mllp.messages()).length;
    await ofKey(`status = 'disabled'`);
    expect(await forward(adt('K1', 'Janet'), one)).toEqual(['no-key', 1]);
    await ofKey(`status = 'active', allowed_ips = '{192.0.2.1}'`);
    expect(await forward(adt('K1', 'Janet'), one)).toEqual(['no-key', 1]);
    await ofKey(`allowed_ips = '{${ADDRESS}}', protocols = '{hl7}'`);
    expect(await forward(adt('K1', 'Janet'), one)).toEqual(['no-key', 1]);
    await ofKey(`protocols = '{hl7-mllp}'`);
    await db.client.query(`update site_address set application = 'OTHER' where range = $1`, [ADDRESS]);
    expect(await forward(adt('K1', 'Janet'), one)).toEqual(['no-key', 1]);
    expect(await mllp.messages()).toHaveLength(stored);
    await db.client.query(`update site_address set application = '' where range = $1`, [ADDRESS]);
    // The row of the key is another one.
    expect(await forward(adt('K1', 'Janet'), one)).toEqual([mllp.clientId, 2]);
  });

  test('an address that another site has now: its messages are that one’s', async () => {
    const one = isolate();
    await forward(adt('A1'), one);
    const heir = await createHl7Site({ database: db, key: { protocols: ['hl7-mllp'] }, addresses: [] });
    await db.client.query('update site_address set site_id = $1 where range = $2', [heir.site, ADDRESS]);
    await ofKey(`allowed_ips = '{${ADDRESS}}'`, heir.clientId);
    const stored = (await mllp.messages()).length;
    expect(await forward(adt('A1', 'Janet'), one)).toEqual([heir.clientId, 2]);
    expect(await forward(adt('A1', 'Joan'), one)).toEqual([heir.clientId, 1]);
    expect(await mllp.messages()).toHaveLength(stored);
    expect(await heir.resources('Patient')).toMatchObject([{ version: 2, name: [{ given: ['Joan'] }] }]);
    await db.client.query('update site_address set site_id = $1 where range = $2', [mllp.site, ADDRESS]);
  });

  test('a key that fits better is used from its first message on', async () => {
    const one = isolate();
    await forward(adt('B1'), one);
    const named = await createApiKey(db.client, {
      site: mllp.site,
      protocols: ['hl7-mllp'],
      allowedIps: [ADDRESS],
      senderApplication: 'LAB',
    });
    expect(await forward(adt('B1', 'Janet'), one)).toEqual([named.clientId, 2]);
    expect(await forward(adt('B1', 'Joan'), one)).toEqual([named.clientId, 1]);
    // Disabled it was passed by; enabled again it is the one.
    await ofKey(`status = 'disabled'`, named.clientId);
    expect(await forward(adt('B1', 'Jane'), one)).toEqual([mllp.clientId, 2]);
    await ofKey(`status = 'active'`, named.clientId);
    expect(await forward(adt('B1', 'Joan'), one)).toEqual([named.clientId, 2]);
  });

  test('the first statement itself checks the owner of an address', async () => {
    const [one, address] = [isolate(), '198.51.100.78'];
    const key = { protocols: ['hl7-mllp'], allowedIps: [address] };
    const before = await createHl7Site({ database: db, addresses: [address], key, asOwner: true });
    // Saved before it affected another key.
    const heir = await createHl7Site({ database: db, addresses: [], key: { protocols: ['hl7-mllp'] } });
    await ofKey(`allowed_ips = '{${address}}'`, heir.clientId);
    const { database } = before.deps;
    expect(await forward(adt('O1'), { ...one, database }, address)).toEqual([before.clientId, 2]);
    await db.client.query('update site_address set site_id = $1 where range = $2', [heir.site, address]);
    expect(await forward(adt('O1', 'Janet'), { ...one, database }, address)).toEqual([heir.clientId, 2]);
    expect(await before.messages()).toHaveLength(1);
  });
});

test('a message that waited beyond its time is not stored', async () => {
  const one = isolate();
  await trips(adt('T0'), one);
  const stored = (await site.messages()).length;
  await db.client.query('begin');
  await db.client.query('select lock_keys($1, $2)', [site.site, ['Patient|T1']]);
  const database = withLimits(site.deps.database, { answerMs: 8_000, workMs: 1_000, lockMs: 5_000 });
  const sending = site.send(adt('T1'), { ...one, database });
  const refused = expect(sending).rejects.toMatchObject({ kind: 'unavailable' });
  await until('it waits', async () => (await lockWaits(db.client)) > 0);
  await db.client.query('select pg_sleep(1.2)');
  await db.client.query('commit');
  await refused;
  expect(await site.messages()).toHaveLength(stored);
});

describe('rejected at once, with any snapshot', () => {
  const scopes = new Set(['system/Patient.write', 'system/Observation.write']);
  const send = async (clientId: string, tokenId: string, snapshots = createSnapshotCache()) => {
    const caller = callerOf(site.site, clientId, { tokenId, scopes });
    const source = { kind: 'http', address: '192.0.2.7' } as const;
    const request = {
      sender: { kind: 'caller', caller } as const,
      ...(await cutMessage(bytesOf(adt('T1')), Infinity)),
      source,
      requestId: 'r',
    };
    return ingest({ ...site.deps, snapshots }, request);
  };

  test.each([
    ['a key that was disabled', `update api_key set status = 'disabled' where client_id = $1 and $2 <> ''`],
    ['a key without the protocol', `update api_key set protocols = '{fhir}' where client_id = $1 and $2 <> ''`],
    [
      'a key without the audience',
      `update api_key set allowed_audiences = '{svc-fhir}' where client_id = $1 and $2 <> ''`,
    ],
    [
      'a key without one of the scopes',
      `update api_key set allowed_scopes = '{system/Observation.write}' where client_id = $1 and $2 <> ''`,
      { kind: 'forbidden', code: 'insufficient_scope', rows: [0] },
    ],
    [
      'a token that was revoked',
      `select token_revoke(site_id, $2, now() + interval '1 hour') from api_key where client_id = $1`,
    ],
  ] as [string, string, object?][])(
    '%s',
    async (_, statement, fault = { kind: 'unauthenticated', code: 'invalid_token' }) => {
      const { clientId } = await createApiKey(db.client, { site: site.site });
      const [snapshots, tokenId] = [createSnapshotCache(), randomUUID()];
      for (let n = 0; n < 2; n += 1) expect(await send(clientId, tokenId, snapshots)).toMatchObject({ outcome: 'AA' });
      await db.client.query(statement, [clientId, tokenId]);
      const count = await tripsOf(() => expect(send(clientId, tokenId, snapshots)).rejects.toMatchObject(fault));
      expect(count).toBe(1);
      const { rowCount } = await db.client.query('select from hl7_message where client_id = $1', [clientId]);
      expect(rowCount).toBe(2);
    },
  );
});
