/** Replays of many messages in the background, and what failed tried again by itself. */
import { randomUUID } from 'node:crypto';

import { beforeEach, describe, expect, test } from 'vitest';

import { replayMany } from '../../../edge/hl7/ingest/replay/replay-job.ts';
import { retryFailed } from '../../../edge/hl7/ingest/replay/retry-job.ts';
import { tick } from '../../../edge/jobs/tick.ts';
import { countSelected, replayJob, type ReplayFilter, replaysOf } from '../../../edge/store/hl7-replay.ts';
import { addJob, resumeJob, stopJob } from '../../../edge/store/job.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';

let site: Hl7Site;
const db = await useTestDatabase();
beforeEach(async () => {
  await db.client.query('truncate job');
  site = await createHl7Site({ database: db });
});

const ANY: ReplayFilter = { outcome: '', type: '', reason: '', clientId: '', from: '', to: '', unmapped: null };
const trial = (control: string, id: string) =>
  `${msh('ADT^A04', control).replace('|P|2.5.1', '|T|2.5.1')}\nPID|1||${id}^^^HOSP^MR||Doe^Jane`;
const take = (processing: string) =>
  db.client.query('update api_key set hl7_processing_ids = $1 where client_id = $2', [[processing], site.clientId]);
/** One step of each job that is due. */
const work = () => tick(site.deps, [replayMany(site.deps), retryFailed(site.deps)], 0);

const ask = async (filter: ReplayFilter): Promise<string> => {
  const [meant] = await site.database.run(countSelected(site.site, filter));
  const job = replayJob(
    randomUUID(),
    site.site,
    filter,
    { count: meant?.count ?? 0, last: meant?.last ?? '' },
    {
      author: 'Ada (1)',
      subject: '1',
      comment: 'why not',
    },
  );
  const [added] = await site.database.run(addJob(job));
  return added?.id ?? '';
};
const replay = async (id: string) => (await site.database.run(replaysOf(site.site, id)))[0];
const attempts = async (control: string): Promise<string[]> => {
  const { rows } = await db.client.query<{ text: string }>(
    `select concat_ws(' ', a.why, a.outcome) as text from hl7_attempt a
       join hl7_message m on m.site_id = a.site_id and m.message_id = a.message_id
      where m.site_id = $1 and m.control_id = $2 order by a.number`,
    [site.site, control],
  );
  return rows.map(({ text }) => text);
};

describe('many', () => {
  test('the messages of a filter are replayed in the order of arrival, each once', async () => {
    for (let at = 0; at < 12; at += 1) await site.send(trial(`R-${at}`, `R${at}`));
    await site.send(`${msh('ADT^A04', 'R-other')}\nPID|1||||Doe^Jane`);
    await take('T');
    const other = await createHl7Site({ database: db, asOwner: true });
    await other.send(trial('R-0', 'R0'));

    const id = await ask({ ...ANY, outcome: 'AR', reason: 'unsupported-processing-id', clientId: site.clientId });
    expect(await replay(id)).toMatchObject({ state: 'open', progress_done: 0, progress_total: 12 });
    await work();
    expect(await replay(id)).toMatchObject({ state: 'open', progress_done: 10, accepted: 10 });
    // The step was lost after its work: it is done again, and no message is.
    await db.client
      .query(`update job set cursor = jsonb_set(cursor::jsonb, '{after}', '"${'0'.repeat(8)}-0000-0000-0000-000000000000"')::json,
      progress_done = 0`);
    await work();
    await work();
    expect(await replay(id)).toMatchObject({
      state: 'done',
      accepted: 12,
      errors: 0,
      rejected: 0,
      asked_by: 'Ada (1)',
    });
    expect(await site.resources('Patient')).toHaveLength(12);
    expect(await attempts('R-3')).toEqual(['received AR', 'replayed AA']);
    expect(await attempts('R-other')).toEqual(['received AE']);
    expect(await other.resources('Patient')).toHaveLength(0);
    expect(await other.database.run(replaysOf(other.site, null))).toEqual([]);
  });

  test('a type and errors of both kinds select only their messages', async () => {
    await site.send(trial('T-1', 'T1'));
    await site.send(`${msh('ADT^A04', 'T-2')}\nPID|1||||Doe^Jane`);
    await site.send(`${msh('ADT^A08', 'T-3')}\nPID|1||T3^^^HOSP^MR||Doe^Jane`);
    const count = async (filter: Partial<ReplayFilter>) =>
      (await site.database.run(countSelected(site.site, { ...ANY, ...filter })))[0]?.count;
    expect(await attempts('T-2')).toEqual(['received AE']);
    expect([await count({}), await count({ outcome: 'errors' }), await count({ outcome: 'AE' })]).toEqual([3, 2, 1]);
    expect([await count({ type: 'adt^a04' }), await count({ type: 'ADT' }), await count({ type: 'A04' })]).toEqual([
      2, 3, 0,
    ]);
    await take('T');
    const id = await ask({ ...ANY, type: 'ADT^A04', outcome: 'errors' });
    await work();
    await work();
    expect(await replay(id)).toMatchObject({ state: 'done', accepted: 1, errors: 0, rejected: 1 });
    expect(await attempts('T-3')).toEqual(['received AA']);
  });

  test('a step that ran before its job recorded it replays nothing twice', async () => {
    await site.send(trial('S-1', 'S1'));
    await take('T');
    const id = await ask({ ...ANY, reason: '' });
    await work();
    await db.client.query(
      `update job set state = 'open', ended_at = null, run_after = now(),
              cursor = jsonb_set(cursor::jsonb, '{after}', '"00000000-0000-0000-0000-000000000000"')::json
        where job_id = $1`,
      [id],
    );
    // The attempt that it finds is its answer: nothing fails on it, and the job completes.
    expect(await work()).toEqual({ advanced: 1, failed: 0 });
    expect(await replay(id)).toMatchObject({ state: 'done', accepted: 1, last_error: null });
    expect(await attempts('S-1')).toEqual(['received AR', 'replayed AA']);
  });

  test('a message that arrives while the replay runs is not included; a stopped replay does nothing until it continues', async () => {
    for (let at = 0; at < 11; at += 1) await site.send(trial(`U-${at}`, `U${at}`));
    const id = await ask(ANY);
    await site.send(trial('U-late', 'U-late'));
    await work();
    await site.database.run(stopJob(id));
    await work();
    expect(await replay(id)).toMatchObject({ state: 'stopped', progress_done: 10, rejected: 10 });
    expect(await attempts('U-10')).toEqual(['received AR']);
    await site.database.run(resumeJob(id));
    await work();
    expect(await replay(id)).toMatchObject({ state: 'done', progress_done: 11, rejected: 11 });
    expect(await attempts('U-10')).toEqual(['received AR', 'replayed AR']);
    expect(await attempts('U-late')).toEqual(['received AR']);
  });
});

describe('replays the messages that a gateway fault kept back', () => {
  const later = (minutes: number) =>
    db.client.query(
      `with aged as (update hl7_attempt set at = at - make_interval(mins => $1) where site_id = $2)
       update job set run_after = now() where state = 'open'`,
      [minutes, site.site],
    );

  test('is retried until it is accepted', async () => {
    await db.client.query(`alter table resource add constraint no_trouble check (body not like '%Trouble%')`);
    const message = `${msh('ADT^A01', 'V-1')}\nPID|1||V1^^^HOSP^MR||Trouble^Jane`;
    expect(await site.send(message)).toMatchObject({ errors: ['E 207 MSH^1'] });
    await work();
    expect(await attempts('V-1')).toEqual(['received AE']);
    await later(10);
    await work();
    expect(await attempts('V-1')).toEqual(['received AE', 'retried AE']);
    await db.client.query('alter table resource drop constraint no_trouble');
    await later(10);
    await work();
    expect(await attempts('V-1')).toEqual(['received AE', 'retried AE']);
    await later(20);
    await work();
    expect(await attempts('V-1')).toEqual(['received AE', 'retried AE', 'retried AA']);
    expect(await site.resources('Patient')).toHaveLength(1);
    expect(await site.send(message)).toMatchObject({ status: 'seen', outcome: 'AA' });
    const { rows } = await db.client.query('select state from job');
    expect(rows).toEqual([{ state: 'done' }]);
  });

  test('is left to administrators after four attempts, and no job continues', async () => {
    await db.client.query(`alter table resource add constraint no_turmoil check (body not like '%Turmoil%')`);
    await site.send(`${msh('ADT^A01', 'V-2')}\nPID|1||V2^^^HOSP^MR||Turmoil^Jane`);
    for (let tries = 0; tries < 6; tries += 1) {
      await later(360);
      await work();
    }
    await db.client.query('alter table resource drop constraint no_turmoil');
    expect(await attempts('V-2')).toEqual(['received AE', ...Array.from({ length: 4 }, () => 'retried AE')]);
    const { rows } = await db.client.query(`select count(*)::int as open from job where state = 'open'`);
    expect(rows).toEqual([{ open: 0 }]);
  });
});

test('a sender that repeats a rejected message endlessly leaves the first ten attempts, the newest hundred and a count', async () => {
  const stuck = `${msh('ADT^A04', 'STUCK')}\nPID|1||||Doe^Jane`;
  await site.send(stuck);
  // As many as were made before, without the time that they take.
  await db.client.query(
    `insert into hl7_attempt (site_id, message_id, number, why, request_id, outcome)
       select site_id, message_id, n, 'resent', 'r', 'AE' from hl7_message cross join generate_series(2, 109) n where site_id = $1`,
    [site.site],
  );
  const numbers = async () =>
    (
      await db.client.query<{ number: number }>('select number from hl7_attempt where site_id = $1 order by 1', [
        site.site,
      ])
    ).rows.map(({ number }) => number);
  await site.send(stuck);
  expect(await numbers()).toHaveLength(110);
  await db.client.query(
    `update hl7_attempt set why = 'replayed', actor = 'Ada (1)' where site_id = $1 and number = 12`,
    [site.site],
  );
  for (let at = 0; at < 4; at += 1) await site.send(stuck);
  const left = await numbers();
  // An attempt that an administrator requested stays, with any number.
  expect(left.slice(0, 13)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16]);
  expect(left.at(-1)).toBe(114);
});
