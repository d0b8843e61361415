/** Rules of a key, live: what they change, what stays the sender's, how many round trips they take; and trials of a draft. */
import { beforeAll, expect, test } from 'vitest';

import { findTrial, startTrial } from '../../../edge/admin/rules/trial.ts';
import type { Actor } from '../../../edge/admin/staff/actor.ts';
import { createSnapshotCache } from '../../../edge/hl7/ingest/snapshot/cache.ts';
import { checkMessage } from '../../../edge/hl7/ingest/check.ts';
import { cutMessage } from '../../../edge/hl7/ingest/cut-documents.ts';
import { dryRun } from '../../../edge/hl7/ingest/replay/dry-run.ts';
import { previewReplay, reprocess, ruleChanges } from '../../../edge/hl7/ingest/replay/replay.ts';
import { tryRules } from '../../../edge/hl7/ingest/replay/rules-trial.ts';
import { tick } from '../../../edge/jobs/tick.ts';
import { senderRules, type SenderRule } from '../../../edge/members/sender-rules.ts';
import { PERMISSIONS } from '../../../edge/permissions.ts';
import { readRules, releaseRules, saveRulesDraft } from '../../../edge/store/admin-rules.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { messagesToTry } from '../../../edge/store/rules-trial.ts';
import { callerOf } from '../../stack/tools/caller.ts';
import { ADA, createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';

const db = await useTestDatabase();

type Draft = readonly Readonly<Record<string, unknown>>[];

async function save({ deps, site, clientId }: Hl7Site, rules: Draft): Promise<void> {
  const database = inSite(deps.database, site);
  const [row] = await database.run(readRules(site, clientId));
  const [saved] = await database.run(saveRulesDraft(site, clientId, row?.edits ?? 0, senderRules.parse(rules), 'Ada'));
  expect(saved).toEqual({ outcome: 'done' });
}

/** Makes the draft live, or these rules; null switches rules off. */
async function goLive(of: Hl7Site, rules?: Draft | null): Promise<void> {
  const { deps, site, clientId } = of;
  if (rules) await save(of, rules);
  const database = inSite(deps.database, site);
  const [row] = await database.run(readRules(site, clientId));
  const version = rules === null ? null : (row?.draft ?? 1);
  const [released] = await database.run(releaseRules(site, clientId, version, row?.edits ?? 0, 'Ada', 'test'));
  expect(released).toEqual({ outcome: 'done' });
}

const newSite = () => createHl7Site({ database: db });

const adt = (number: string, pid = `PID|1||${number}||Doe^Jane||19800229|U`) => `${msh('ADT^A08')}\n${pid}`;

const OBR = 'OBR|1||F-1|P^Panel^99P|||202601010800||||||||||||||||||F';
const oru = (number: string, obxs: readonly string[]) =>
  `${msh('ORU^R01')}\nPID|1||${number}||Doe^Jane||19800229|F\n${OBR}\n${obxs.join('\n')}`;

const newestId = async ({ site }: Hl7Site): Promise<string> => {
  const { rows } = await db.client.query<{ message_id: string }>(
    'select message_id from hl7_message where site_id = $1 order by received_at desc, message_id desc limit 1',
    [site],
  );
  return rows[0]?.message_id ?? '';
};

const SEX: SenderRule = senderRules.parse([{ verb: 'map', path: 'PID-8', values: { U: 'F' } }])[0] as SenderRule;

test('a draft changes nothing; a live version changes the next message, in an isolate that knows the sender', async () => {
  const site = await newSite();
  const genders = async () => (await site.resources('Patient')).map(({ gender }) => gender);
  await site.send(adt('A1'));
  await save(site, [SEX]);
  await site.send(adt('A2'));
  expect(await genders()).toEqual(['unknown', 'unknown']);
  await goLive(site);
  const message = adt('A3');
  const sent = await site.send(message);
  expect(sent).toMatchObject({ outcome: 'AA', errors: [] });
  expect(await genders()).toEqual(['unknown', 'unknown', 'female']);

  // Bytes, acknowledgement and duplicates stay those of the sender's message.
  const [, , stored] = await site.messages();
  expect(Buffer.from(stored?.raw ?? '')).toEqual(Buffer.from(bytesOf(message)));
  expect(sent.text).toContain(`MSA|AA|${sent.header.controlId}`);
  expect(await site.send(message)).toMatchObject({ status: 'seen', outcome: 'AA' });

  const { rows } = await db.client.query(
    `select a.rules_version from hl7_attempt a join hl7_message m using (site_id, message_id)
      where a.site_id = $1 order by m.received_at, m.message_id`,
    [site.site],
  );
  expect(rows).toEqual([{ rules_version: null }, { rules_version: null }, { rules_version: 1 }]);
  expect(await ruleChanges(site.deps, site.site, await newestId(site), 1, 'r')).toEqual([
    { rule: 1, at: expect.stringContaining('PID^1^8'), before: 'U', after: 'F' },
  ]);
});

test('a message is found by its identifiers as sent and as changed, and identifies by the changed ones', async () => {
  const site = await newSite();
  await goLive(site, [
    { verb: 'authority', path: 'PID-3', namespace: 'MRN' },
    { verb: 'trim', path: 'PID-5' },
  ]);
  await site.send(adt('B1'));
  await site.send(adt('B1', 'PID|1||B1^^^MRN||Doe^Jane||19800229|F'));
  const patients = await site.resources('Patient');
  expect(patients).toHaveLength(1);
  const { rows } = await db.client.query(
    `select distinct authority from hl7_message_key where site_id = $1 and field = 'PID-3' order by authority`,
    [site.site],
  );
  expect(rows).toEqual([{ authority: '' }, { authority: 'MRN' }]);
});

test('one round trip with a known sender, also where a rule changes the identifiers', async () => {
  const site = await newSite();
  await goLive(site, [{ verb: 'map', path: 'PID-3', values: { C1: 'C9' } }]);
  const trips = async (message: string, by: object): Promise<number> => {
    const before = db.endpoint.requests();
    expect(await site.send(message, by)).toMatchObject({ outcome: 'AA' });
    return db.endpoint.requests() - before;
  };
  const one = { snapshots: createSnapshotCache() };
  expect(await trips(adt('C1'), one), 'the rules come with the snapshot and change what is looked up').toBe(3);
  expect(await trips(adt('C1'), one)).toBe(1);
  expect(await trips(adt('C2'), one), 'another patient').toBe(1);
  await goLive(site, [{ verb: 'map', path: 'PID-3', values: { C1: 'C8' } }]);
  expect(await trips(adt('C1'), one), 'refused, looked up, stored').toBe(3);
  expect(await trips(adt('C1'), one)).toBe(1);
  const numbers = (await site.resources('Patient')).map(({ identifier }) => JSON.stringify(identifier));
  expect(numbers.map((each) => /"value":"(C\d)"/.exec(each)?.[1])).toEqual(['C9', 'C2', 'C8']);
});

test('an ignored message is accepted without effect, and has its effect when it is replayed without the rule', async () => {
  const site = await newSite();
  await goLive(site, [{ verb: 'ignore', when: { all: [{ path: 'PID-5.1', equals: 'TEST' }] } }]);
  expect(await site.send(adt('D1', 'PID|1||D1||TEST^Jane||19800229|F'))).toMatchObject({ outcome: 'AA' });
  expect(await site.resources('Patient')).toEqual([]);
  const id = await newestId(site);
  const { rows } = await db.client.query<{ errors: { reason: string }[] }>(
    'select errors from hl7_message where site_id = $1',
    [site.site],
  );
  expect(rows[0]?.errors).toMatchObject([{ severity: 'I', reason: 'rule-ignored' }]);
  const { rows: facts } = await db.client.query<{ facts: { kinds: Record<string, unknown> } }>(
    `select alert_facts('{}') as facts`,
  );
  expect(facts[0]?.facts.kinds['messages-ignored']).toContainEqual({
    site: site.site,
    subject: site.clientId,
    messages: 1,
    ignored: 1,
  });
  // A merge is never ignored.
  await site.send(adt('D2'));
  await site.send(adt('D3'));
  const merge = `${msh('ADT^A40')}\nPID|1||D2||TEST^Jane||19800229|F\nMRG|D3`;
  expect(await site.send(merge)).toMatchObject({ outcome: 'AA' });
  expect((await site.resources('Patient')).some(({ active }) => active === false)).toBe(true);
  await goLive(site, null);
  await reprocess(site.deps, site.site, id, { why: 'replayed', actor: 'test', jobId: null, by: ADA }, 'r');
  expect(await site.resources('Patient')).toHaveLength(3);
});

test('a rejected message gets AE with the text of the rule', async () => {
  const site = await newSite();
  const text = 'PV1-19 is required: send the visit number.';
  await goLive(site, [{ verb: 'reject', text, when: { types: ['ADT'], all: [{ path: 'PV1-19', is: 'absent' }] } }]);
  const sent = await site.send(adt('E1'));
  expect(sent).toMatchObject({ outcome: 'AE' });
  expect(sent.text).toContain(text);
  expect(await site.send(`${adt('E1')}\nPV1|1|I|||||||||||||||||V1`)).toMatchObject({ outcome: 'AA' });
});

test('an error is located in the message as it was sent', async () => {
  const site = await newSite();
  await goLive(site, [{ verb: 'drop', path: 'OBX[OBX-3.1=INTERNAL]' }]);
  const obx = (code: string, value: string) => `OBX|1|NM|${code}^x^L||${value}||||||F`;
  const sent = await site.send(oru('F1', [obx('INTERNAL', '1'), obx('K', 'many'), obx('NA', '5')]));
  expect(sent.errors.join()).toContain('OBX^2^5');
  expect(await site.resources('Observation')).toHaveLength(2);
});

test('the rules of another key do not count', async () => {
  const site = await newSite();
  await goLive(site, [SEX]);
  await site.sendByOther(adt('G1'));
  expect((await site.resources('Patient'))[0]?.['gender']).toBe('unknown');
});

test('the check of a sender, and the dry run of the workbench, show what rules change; the dry run also with the draft', async () => {
  const site = await newSite();
  await goLive(site, [SEX]);
  await save(site, [{ verb: 'map', path: 'PID-8', values: { U: 'M' } }]);
  const key = { site: site.site, clientId: site.clientId };
  const message = bytesOf(adt('H1'));
  const sender = { kind: 'caller', caller: callerOf(site.site, site.clientId) } as const;
  const checked = await checkMessage(site.deps, sender, await cutMessage(message, Infinity), 'r');
  expect(checked.resources[0]?.['gender']).toBe('female');
  const live = await dryRun(site.deps, key, message, 'r');
  expect(live.resources[0]?.['gender']).toBe('female');
  const draft = await dryRun(site.deps, key, message, 'r', 'draft');
  expect(draft.resources[0]?.['gender']).toBe('male');
  expect(draft.ruleChanges).toMatchObject([{ rule: 1, before: 'U', after: 'M' }]);
});

const EARLIEST = { received_at: '2000-01-01T00:00:00Z', message_id: '00000000-0000-0000-0000-000000000000' };
const LATEST = { received_at: '2999-01-01T00:00:00Z', message_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

let tried: Hl7Site;
beforeAll(async () => {
  tried = await newSite();
});

test('a trial says which messages would be answered otherwise, what would differ, and changes nothing', async () => {
  const actor: Actor = {
    subject: '1',
    name: 'Ada',
    site: tried.site,
    permissions: new Set(Object.keys(PERMISSIONS)) as unknown as Actor['permissions'],
  };
  for (let at = 1; at <= 12; at += 1)
    await tried.send(adt(`T${at}`, `PID|1||T${at}||Doe${at}^Jane||19800229|${at % 2 ? 'U' : 'F'}`));
  const refused = await tried.send(adt('T13', 'PID|1||||Doe^Jane||19800229|F'));
  expect(refused.outcome).toBe('AE');
  await tried.send(oru('T1', ['OBX|1|NM|K^x^L||5||||||F']));
  await save(tried, [
    SEX,
    { verb: 'reject', text: 'no T2', when: { all: [{ path: 'PID-3', equals: 'T2' }] } },
    { verb: 'copy', from: 'PID-5.1', path: 'PID-3', when: { all: [{ path: 'PID-3', is: 'absent' }] } },
  ]);
  const before = await tried.resources('Patient');
  await startTrial(tried.deps.database, actor, tried.clientId, { messages: 1000 });
  await expect(startTrial(tried.deps.database, actor, tried.clientId, { messages: 1 })).rejects.toMatchObject({
    kind: 'conflict',
  });
  const { config, share } = tried.deps;
  const requests = db.endpoint.requests();
  await tick(tried.deps, [tryRules({ config, share })], 60_000);
  expect(db.endpoint.requests() - requests, 'claim, bytes, snapshots, advance, no further job').toBeLessThanOrEqual(6);
  const trial = await findTrial(tried.deps.database, tried.site, tried.clientId);
  expect(trial).toMatchObject({ state: 'done', done: 14, total: 14, isOfDraft: true, left: 0, lastError: null });
  expect(trial?.answers).toMatchObject([
    { before: 'AA', after: 'AE', reason: 'rule-rejected', messages: 1 },
    { before: 'AE', after: 'AA', reason: 'required-field-missing', messages: 1 },
  ]);
  const elements = new Map(trial?.elements.map(({ element, messages }) => [element, messages]));
  // Six have U; the patients of T2 and of the message without identifier go and come.
  expect(elements.get('Patient.gender')).toBe(6);
  expect(elements.get('Patient')).toBe(2);
  expect(trial?.differing).toBe(8);
  expect(trial?.replayed).toBe(7);
  expect(await tried.resources('Patient')).toEqual(before);

  // A sample, side by side.
  const [sample = ''] = trial?.elements.find(({ element }) => element === 'Patient.gender')?.samples ?? [];
  const preview = await previewReplay(tried.deps, tried.site, sample, 'r', 'draft');
  expect(preview.changes).toMatchObject([
    { change: 'changed', elements: [{ element: 'gender', before: '"unknown"', after: '"female"' }] },
  ]);
  const range = { first: EARLIEST, after: null, last: LATEST };
  const few = messagesToTry(tried.site, tried.clientId, range, { messages: 5, bytes: 1 });
  expect(await tried.database.run(few), 'one message of any length').toHaveLength(1);
  const more = messagesToTry(tried.site, tried.clientId, range, { messages: 5, bytes: 10_000 });
  expect(await tried.database.run(more)).toHaveLength(5);
  await save(tried, []);
  expect(await findTrial(tried.deps.database, tried.site, tried.clientId)).toMatchObject({ isOfDraft: false });
});
