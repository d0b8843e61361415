/**
 * The console's statements answer for the site of the administrator: keys, changes, messages, refusals, patient
 * records, counts. The statements themselves restrict the site, since they run as the owner, to which policies do not
 * apply.
 */
import { randomUUID } from 'node:crypto';

import { beforeAll, expect, test } from 'vitest';

import { listKeys, readKey } from '../../../edge/admin/keys/statements.ts';
import { ATTENTION_KINDS } from '../../../edge/store/attention.ts';
import { dismissAttention, listAttention } from '../../../edge/store/admin-attention.ts';
import { changesOf } from '../../../edge/store/admin-key.ts';
import { readStoredMessage, resourcesOfMessage } from '../../../edge/store/admin-message.ts';
import { ANY_MESSAGE } from '../../../edge/store/message-candidates.ts';
import { listMessages } from '../../../edge/store/message-search.ts';
import { listUnmappedNames } from '../../../edge/store/admin-unmapped-name.ts';
import {
  listAudit,
  listAuditNamed,
  patientsIdentified,
  sumAuditByActor,
  sumAuditByPatient,
} from '../../../edge/store/admin-audit.ts';
import { acknowledgeAlert, listAlerts, silenceAlert, unsilenceAlert } from '../../../edge/store/admin-alert.ts';
import { storedMessage } from '../../../edge/store/hl7.ts';
import { endSession, endSessions, listSessions, startSession } from '../../../edge/store/console-session.ts';
import { listPeople } from '../../../edge/store/console-person.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { noteRefusals } from '../../../edge/store/refusal.ts';
import { changesOfSite, siteStatements } from '../../../edge/store/site.ts';
import { sql } from '../../../edge/store/sql.ts';
import { trafficOfKeys } from '../../../edge/store/key-traffic.ts';
import { noteUsage, usageOf } from '../../../edge/store/usage.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { refusalOf } from '../../stack/tools/refusal.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';

let theirs: Hl7Site;
/** The other site's message. */
let foreign: string;

const mine = await createHl7Site({ name: 'Mine', asOwner: true });
beforeAll(async () => {
  theirs = await createHl7Site({ name: 'Theirs', asOwner: true, database: mine.db });
  const message = (control: string) => `${msh('ADT^A04^ADT_A01', control)}\nPID|1||P1^^^HOSP^MR||Doe^Jane`;
  await mine.send(message('M-mine'));
  await theirs.send(message('LAB'));
  const { rows } = await mine.db.client.query<{ message_id: string }>(
    'select message_id from hl7_message where site_id = $1',
    [theirs.site],
  );
  foreign = rows[0]?.message_id ?? '';
  await createApiKey(mine.db.client, { site: theirs.site, status: 'disabled' });
  const latency = Array(12).fill(1);
  const usage = { at: Date.now(), surface: 'fhir', outcome: 'ok', requests: 7, durationMs: 7, latency } as const;
  await mine.deps.database.batch([
    noteUsage({ counts: [{ ...usage, site: theirs.site }], answers: [], keys: [], kids: [] }),
    noteRefusals([refusalOf(theirs.clientId, { reason: 'theirs' })]),
  ]);
});

const ANY_KEY = { text: '', status: '', protocol: '' };

test('keys and their changes', async () => {
  const [keys, read, changes, own] = await mine.deps.database.batch([
    listKeys(mine.site, ANY_KEY, null, 10),
    readKey(mine.site, theirs.clientId),
    changesOf(mine.site, theirs.clientId, null, 10),
    changesOf(mine.site, mine.clientId, null, 10),
  ] as const);
  expect(keys.map(({ client_id: id }) => id)).toEqual([mine.clientId]);
  expect([read.length, changes.length, own.length]).toEqual([0, 0, 1]);
});

test('alerts and their acknowledgement', async () => {
  const alert = randomUUID();
  await mine.db.client.query(
    `insert into alert (site_id, alert_id, kind, subject, firing_since) values ($1, $2, 'replay-needed', '', now())`,
    [theirs.site, alert],
  );
  const done = await mine.deps.database.batch([
    listAlerts(mine.site, 'firing', null, 10),
    acknowledgeAlert(mine.site, alert, 'me'),
    silenceAlert(mine.site, alert, null, 'me'),
    unsilenceAlert(mine.site, alert),
  ] as const);
  expect(done).toEqual([[], [], [], []]);
  const own = await mine.deps.database.batch([
    listAlerts(theirs.site, 'firing', null, 10),
    acknowledgeAlert(theirs.site, alert, 'them'),
    silenceAlert(theirs.site, alert, null, 'them'),
    unsilenceAlert(theirs.site, alert),
  ] as const);
  expect(own.map((rows) => rows.map(({ alert_id: id }) => id))).toEqual([[alert], [alert], [alert], [alert]]);
});

test('a key is not written for another site', async () => {
  const { rows } = await mine.db.client.query<{ before: string }>(
    'select to_json(k)::text as before from api_key k where client_id = $1',
    [theirs.clientId],
  );
  const written = mine.deps.database.run(
    sql<{ outcome: string }>`select outcome from api_key_write(${mine.site}::uuid, ${theirs.clientId}, '{}', 'me',
      '{"name":"mine now"}'::json, '{}', '{}')`,
  );
  expect(await written).toEqual([{ outcome: 'missing' }]);
  const after = await mine.db.client.query('select to_json(k)::text as before from api_key k where client_id = $1', [
    theirs.clientId,
  ]);
  expect(after.rows).toEqual(rows);
});

test('messages, their resources and replay', async () => {
  const [all, bySender, read, resources, stored, own] = await mine.deps.database.batch([
    listMessages(mine.site, ANY_MESSAGE, null, 10),
    // The control id of the other site's message is the sending application of this site's.
    listMessages(mine.site, { ...ANY_MESSAGE, text: 'LAB' }, null, 10),
    readStoredMessage(mine.site, foreign),
    resourcesOfMessage(mine.site, foreign),
    storedMessage(mine.site, foreign),
    resourcesOfMessage(theirs.site, foreign),
  ] as const);
  expect([all, bySender].map((rows) => rows.map(({ control_id: id }) => id))).toEqual([['M-mine'], ['M-mine']]);
  expect(all[0]?.total).toBe(1);
  expect([read.length, resources.length, stored.length, own.length]).toEqual([0, 0, 0, 1]);
});

test('lists issues of this site only, also of patients with the same ids', async () => {
  const theirPatient = await theirs.resources('Patient');
  const id = theirPatient[0]?.id ?? '';
  await mine.db.client.query(`select attention_add($1, $2, $3)`, [
    theirs.site,
    foreign,
    JSON.stringify([{ kind: 'not-moved', patients: [id] }]),
  ]);
  // A patient with the other site's id. Its page shows nothing of the other site.
  await mine.db.client.query(
    `insert into resource (site_id, type, id, version, last_updated, meta, body)
     select $1, type, id, 1, now(), '', '"birthDate":"1901-02-03"' from resource where site_id = $2 and id = $3`,
    [mine.site, theirs.site, id],
  );
  const [own, other] = await mine.deps.database.batch([
    listAttention(theirs.site, ATTENTION_KINDS, 'open', null, 10),
    listAttention(mine.site, ATTENTION_KINDS, 'open', null, 10),
  ] as const);
  expect(own.map(({ person_a: person }) => person)).toEqual([expect.stringContaining('Doe')]);
  expect(other).toEqual([]);
  const about = own[0]?.issue_id ?? '';
  expect(await mine.deps.database.run(dismissAttention(mine.site, about, 'me', 'why', null))).toEqual([]);
  expect(await mine.deps.database.run(listAttention(theirs.site, ATTENTION_KINDS, 'open', null, 10))).toHaveLength(1);
  await mine.db.client.query('delete from resource where site_id = $1 and id = $2', [mine.site, id]);
});

test('names without a URI, and the messages that have them', async () => {
  await theirs.send(`${msh('ADT^A04^ADT_A01', 'N-1')}\nPID|1||P2^^^ELSEWHERE^MR||Doe^Jim`);
  const unmapped = { kind: 'authority', name: 'ELSEWHERE' } as const;
  const [names, messages, own] = await mine.deps.database.batch([
    listUnmappedNames(mine.site, null, 10),
    listMessages(mine.site, { ...ANY_MESSAGE, unmapped }, null, 10),
    listUnmappedNames(theirs.site, null, 10),
  ] as const);
  expect(names.map(({ name, messages: count }) => `${name} ${count}`)).toEqual(['HOSP 1']);
  expect(messages).toEqual([]);
  expect(own.map(({ name, messages: count }) => `${name} ${count}`)).toEqual(['ELSEWHERE 1', 'HOSP 1']);
});

test('the site, its counts and its patient records', async () => {
  const now = Math.floor(Date.now() / 1000);
  const day = [now - 24 * 3600, now - 12 * 3600];
  const [usage, theirUsage] = await mine.deps.database.batch([
    usageOf(mine.site, day, now),
    usageOf(theirs.site, day, now),
  ] as const);
  const { readSettings } = siteStatements<{ name: string }>(['name']);
  expect(await mine.deps.database.run(readSettings(mine.site))).toMatchObject([{ name: 'Mine' }]);
  expect(usage).toEqual([]);
  await mine.db.client.query(
    `insert into key_usage (site_id, client_id, bucket, surface, accepted, refused, rejected)
     select site_id, client_id, date_bin('15 minutes', now() - interval '1 hour', 'epoch'), 'hl7', 7, 2, 1
       from api_key where site_id = $1 limit 1`,
    [theirs.site],
  );
  const [none, keys] = await mine.deps.database.batch([
    trafficOfKeys(mine.site, day[0] ?? now, now, 10),
    trafficOfKeys(theirs.site, day[0] ?? now, now, 10),
  ] as const);
  expect(none).toEqual([]);
  expect(keys).toMatchObject([{ answered: 7, refused: 3 }]);
  expect(theirUsage).toMatchObject([{ step: 1, requests: 7 }]);
});

test('settings and their history', async () => {
  const { readSettings, writeSite } = siteStatements<{ name: string }>(['name']);
  const database = mine.deps.database;
  const write = (site: string, name: string) =>
    database.run(writeSite({ site, expected: [], by: 'me', record: { name } }));
  expect(await write(theirs.site, 'Theirs too')).toEqual([{ outcome: 'updated', version: 2 }]);
  expect(await database.run(readSettings(mine.site))).toMatchObject([{ version: 1, name: 'Mine' }]);
  const history = async (site: string) =>
    (await database.run(changesOfSite(site, null, 10))).map(({ version }) => version);
  expect([await history(mine.site), await history(theirs.site)]).toEqual([[1], [2, 1]]);
});

test('sessions and people are listed and ended in their site only', async () => {
  const begin = (site: string, subject: string) => {
    const session = randomUUID();
    const of = { subject, name: subject, providerSession: null, sourceAddress: '192.0.2.1', userAgent: '' };
    const grants = { permissions: [], refreshToken: null, idToken: null };
    return { session, query: startSession({ site, session, ...of, ...grants }) };
  };
  const [own, foreignOne, foreignTwo] = [begin(mine.site, 'ada'), begin(theirs.site, 'eve'), begin(theirs.site, 'eva')];
  await mine.deps.database.batch([own.query, foreignOne.query, foreignTwo.query]);
  const subjects = async (site: string) =>
    (await mine.deps.database.run(listSessions(site, null, 10))).map(({ subject }) => subject).toSorted();
  expect(await subjects(mine.site)).toEqual(['ada']);
  const people = async () =>
    (await mine.deps.database.run(listPeople(mine.site, 10))).map(({ subject, sessions }) => [subject, sessions]);
  expect(await people()).toEqual([['ada', 1]]);
  expect(await mine.deps.database.run(endSession({ site: mine.site, session: foreignOne.session }))).toEqual([]);
  expect(await mine.deps.database.run(endSessions(mine.site))).toHaveLength(1);
  expect(await people()).toEqual([['ada', 0]]);
  expect(await subjects(theirs.site)).toEqual(['eva', 'eve']);
});

test('the audit of a number that patients of both sites have', async () => {
  const filter = { patient: '', clientId: '', actor: '', actions: [], from: '', to: '' };
  const { rows } = await mine.db.client.query<{ id: string; site_id: string }>(
    "select id, site_id from resource where type = 'Patient' and site_id = any ($1)",
    [[mine.site, theirs.site]],
  );
  const idsOf = (site: string) => rows.filter(({ site_id }) => site_id === site).map(({ id }) => id);
  // A row of this site about a patient of the other site, which only a fault could write, shows which site the code
  // reads.
  await mine.db.client.query(
    `insert into audit (site_id, actor_kind, actor, request_id, action, parts, types, ids, patients, parameters)
       select $1, 'operator', 'x', 'crossed', 'read', '{}', '{}', '{}', array[$2::uuid], '{}'`,
    [mine.site, idsOf(theirs.site)[0]],
  );
  // The audit is looked for in the site of the transaction, which this owner is in as the gateway would be.
  const [found, numbered] = await inSite(mine.deps.database, mine.site).batch([
    listAudit(mine.site, { ...filter, patientIdentifier: 'P1' }, 'newest', null, 50),
    patientsIdentified(mine.site, 'P1'),
  ] as const);
  expect(found.length).toBeGreaterThan(0);
  expect(found.map(({ request_id }) => request_id)).not.toContain('crossed');
  expect(numbered.map(({ id }) => id)).toEqual(idsOf(mine.site));

  const crossed = { ...filter, patientIdentifier: '', actor: 'x' };
  const [named, byActor, byPatient] = await inSite(mine.deps.database, mine.site).batch([
    listAuditNamed(mine.site, crossed, null, 50),
    sumAuditByActor(mine.site, crossed),
    sumAuditByPatient(mine.site, crossed, true),
  ] as const);
  expect(named).toMatchObject([{ request_id: 'crossed', names: null, messages: null }]);
  expect(byActor).toMatchObject([
    { actor: 'x', called: null, accesses: 1, seen: 1, changed: 0, patients: 1, total: 1 },
  ]);
  expect(byPatient).toMatchObject([{ id: idsOf(theirs.site)[0], name: null, accesses: 1, actors: 1 }]);
  const [foreign] = await inSite(mine.deps.database, theirs.site).batch([
    sumAuditByActor(theirs.site, crossed),
  ] as const);
  expect(foreign).toEqual([]);
});

test('the sums of the audit count what the rows of the same filter are', async () => {
  const filter = { patient: '', patientIdentifier: '', clientId: '', actor: '', actions: [], from: '', to: '' };
  const [rows, byActor, byPatient] = await inSite(mine.deps.database, mine.site).batch([
    listAudit(mine.site, filter, 'newest', null, 1_000),
    sumAuditByActor(mine.site, filter),
    sumAuditByPatient(mine.site, filter, false),
  ] as const);
  expect(byActor.reduce((sum, { accesses }) => sum + accesses, 0)).toBe(rows.length);
  for (const sum of byActor) {
    const own = rows.filter(
      (row) =>
        row.actor_kind === sum.actor_kind &&
        row.actor === sum.actor &&
        (row.actor_kind !== 'key' || row.client_id === sum.client_id),
    );
    expect([sum.accesses, sum.patients]).toEqual([own.length, new Set(own.flatMap(({ patients }) => patients)).size]);
  }
  for (const { id, accesses } of byPatient) {
    expect(accesses).toBe(rows.filter(({ patients }) => patients.includes(id)).length);
  }
});
