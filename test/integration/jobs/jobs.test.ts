/** The runner of background work on a real PostgreSQL, with test kinds. Leases end by the database's clock. */
import { randomUUID } from 'node:crypto';

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';

import type { Query } from '../../../edge/deps.ts';
import { type Job, type JobDeps, jobKind, rowsOfAttempt, type Step } from '../../../edge/jobs/kind.ts';
import { tick } from '../../../edge/jobs/tick.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { addJob, findJobs, type JobRow, type NewJob, resumeJob, stopJob } from '../../../edge/store/job.ts';
import { sql } from '../../../edge/store/sql.ts';
import { forJobs } from '../../../edge/store/time-limits.ts';
import { APPLICATION_ROLE } from '../../../migrations/role.ts';
import type { LogEntry } from '../../../shared/log.ts';
import { createSite } from '../../stack/services/seed.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';

let deps: JobDeps;
let logged: LogEntry[];

const db = await useTestDatabase();
const site = await createSite(db.client);
beforeAll(async () => {
  await db.client.query(`create table counted (n integer not null); grant insert on counted to ${APPLICATION_ROLE}`);
});
beforeEach(async () => {
  await db.client.query('truncate job, counted');
  logged = [];
  deps = {
    database: edgeDatabase(db),
    now: () => Date.now(),
    log: (entry) => logged.push(entry),
  };
});

const cursor = z.object({ at: z.int(), last: z.int() });
type Counter = z.infer<typeof cursor>;

const writeDown = (n: number): Query => sql`insert into counted (n) values (${n}::integer)`;

/** Writes down one number a step, from `at` to `last`. */
function counts(before: (job: Job<Counter>) => Promise<void> | void = () => undefined) {
  return jobKind({
    kind: 'count',
    cursor,
    step: async (_, job): Promise<Step<Counter>> => {
      await before(job);
      const { at, last } = job.cursor;
      return {
        cursor: { at: at + 1, last },
        progress: { done: at, total: last },
        isDone: at === last,
        writes: [writeDown(at)],
      };
    },
  });
}

async function ask(job: Partial<NewJob> = {}): Promise<string> {
  const id = randomUUID();
  const [added] = await inSite(deps.database, job.site === undefined ? site : job.site).run(
    addJob({
      id,
      kind: 'count',
      site,
      exclusiveKey: null,
      cursor: { at: 1, last: 5 },
      total: 5,
      askedBy: 'a test',
      ...job,
    }),
  );
  return added?.id ?? '';
}

async function jobOf(id: string): Promise<JobRow | undefined> {
  const [row] = await inSite(deps.database, site).run(findJobs([id]));
  return row;
}

async function counted(): Promise<number[]> {
  const { rows } = await db.client.query<{ n: number }>('select n from counted order by n');
  return rows.map(({ n }) => n);
}

/** Waiting jobs become due, and the current leases expire. */
const timePasses = () => db.client.query("update job set run_after = now(), lease_until = now() - interval '1 second'");

const LONG = 60_000;
const ONE_STEP = 0;
const run = (kind = counts(), budgetMs = LONG) => tick(deps, [kind], budgetMs);
const events = () => logged.map(({ event }) => event);

/** A promise, and how to keep it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('a job', () => {
  test('is done in steps, each with its cursor and its progress', async () => {
    const id = await ask();
    expect(await run(counts(), ONE_STEP)).toEqual({ advanced: 1, failed: 0 });
    expect(await jobOf(id)).toMatchObject({ state: 'open', progress_done: 1, progress_total: 5, attempts: 0 });
    expect(await run()).toEqual({ advanced: 4, failed: 0 });
    expect(await counted()).toEqual([1, 2, 3, 4, 5]);
    expect(await jobOf(id)).toMatchObject({ state: 'done', progress_done: 5, site_id: site, asked_by: 'a test' });
    expect(await run()).toEqual({ advanced: 0, failed: 0 });
    expect(logged).toEqual([{ level: 'info', event: 'job.done', job: 'count', site, count: 5 }]);
  });

  test('waits behind another job, so that a long job delays no other', async () => {
    await ask({ cursor: { at: 1, last: 100 } });
    const short = await ask({ cursor: { at: 1000, last: 1001 } });
    for (let steps = 0; steps < 4; steps += 1) await run(counts(), ONE_STEP);
    expect(await jobOf(short)).toMatchObject({ state: 'done' });
    expect(await counted()).toEqual([1, 2, 1000, 1001]);
  });

  test('a job of a kind that this release does not know is left alone', async () => {
    const id = await ask({ kind: 'of-the-next-release' });
    expect(await run()).toEqual({ advanced: 0, failed: 0 });
    expect(await jobOf(id)).toMatchObject({ state: 'open', attempts: 0 });
  });

  test('with an exclusive key exists once while it is open', async () => {
    const key = { exclusiveKey: 'all' };
    const ids = await Promise.all([ask(key), ask(key), ask(key)]);
    expect(new Set(ids).size).toBe(1);
    expect(await ask({ ...key, site: null })).not.toBe(ids[0]);
    expect(await ask()).not.toBe(ids[0]);
    await run();
    expect(await ask(key)).not.toBe(ids[0]);
  });
});

describe('runners at once', () => {
  test('never do the same step', async () => {
    await ask({ cursor: { at: 1, last: 40 } });
    await ask({ cursor: { at: 101, last: 140 } });
    const runs = await Promise.all([run(), run(), run(), run()]);
    // A runner that finds every job leased ends. The remaining work is for the lease holders or the next run.
    expect(runs.reduce((sum, { advanced }) => sum + advanced, 0) + (await run()).advanced).toBe(80);
    const numbers = await counted();
    expect(new Set(numbers).size).toBe(80);
    expect(numbers).toHaveLength(80);
  });

  test('a runner that lost its lease writes nothing, and another runner continues', async () => {
    const id = await ask();
    const { open, opened } = gate();
    const begun = gate();
    const slow = run(
      counts(() => (begun.open(), opened)),
      ONE_STEP,
    );
    await begun.opened;
    expect(await run()).toEqual({ advanced: 0, failed: 0 });
    await timePasses();
    expect(await run(counts(), ONE_STEP)).toEqual({ advanced: 1, failed: 0 });
    open();
    expect(await slow).toEqual({ advanced: 0, failed: 1 });
    expect(events()).toEqual(['job.lost']);
    expect(await counted()).toEqual([1]);
    expect(await jobOf(id)).toMatchObject({ state: 'open', progress_done: 1, attempts: 0, last_error: null });
  });

  test('a runner that died leaves the job to the next when its lease has ended, at the same position', async () => {
    const id = await ask();
    await run(counts(), ONE_STEP);
    // It leased the job and never reported again.
    const dies = { ...deps, database: { ...deps.database, batch: () => new Promise<never>(() => undefined) } };
    void tick(dies, [counts()], ONE_STEP);
    await expect.poll(async () => (await jobOf(id))?.attempts).toBe(1);
    expect(await run()).toEqual({ advanced: 0, failed: 0 });
    await timePasses();
    expect(await run()).toEqual({ advanced: 4, failed: 0 });
    expect(await counted()).toEqual([1, 2, 3, 4, 5]);
  });

  test('a job fails if every runner of a step crashes', async () => {
    const id = await ask();
    await db.client.query('update job set attempts = 8');
    expect(await run()).toEqual({ advanced: 0, failed: 1 });
    expect(await jobOf(id)).toMatchObject({ state: 'failed', last_error: 'abandoned' });
    expect(events()).toEqual(['job.failed']);
  });
});

describe('a step that fails', () => {
  const broken = counts(({ cursor: { at } }) => {
    if (at === 3) throw new Error('a text that could hold anything');
  });

  test('is tried again later, eight times, and then the job has failed', async () => {
    const id = await ask();
    expect(await run(broken)).toEqual({ advanced: 2, failed: 1 });
    const { rows } = await db.client.query<{ seconds: number }>(
      'select round(extract(epoch from run_after - now()))::integer as seconds from job',
    );
    expect(rows[0]?.seconds).toBeGreaterThan(50);
    expect(await run(broken)).toEqual({ advanced: 0, failed: 0 });
    for (let attempt = 2; attempt <= 8; attempt += 1) {
      expect(await jobOf(id)).toMatchObject({ state: 'open', attempts: attempt - 1, last_error: 'bug' });
      await timePasses();
      expect(await run(broken)).toEqual({ advanced: 0, failed: 1 });
    }
    expect(await jobOf(id)).toMatchObject({ state: 'failed', attempts: 8, last_error: 'bug', progress_done: 2 });
    expect(events()).toEqual([...Array.from({ length: 7 }, () => 'job.step-failed'), 'job.failed']);

    expect(await inSite(deps.database, site).run(resumeJob(id))).toEqual([{ changed: true }]);
    expect(await run()).toEqual({ advanced: 3, failed: 0 });
    expect(await counted()).toEqual([1, 2, 3, 4, 5]);
  });

  test('rolls back its writes, and its SQLSTATE is stored', async () => {
    const id = await ask();
    const divides = jobKind({
      kind: 'count',
      cursor,
      step: async (_, job) => ({
        cursor: job.cursor,
        progress: job.progress,
        isDone: false,
        writes: [writeDown(1), sql`select 1 / 0`],
      }),
    });
    expect(await run(divides)).toEqual({ advanced: 0, failed: 1 });
    expect(await counted()).toEqual([]);
    expect(await jobOf(id)).toMatchObject({ state: 'open', attempts: 1, last_error: '22012' });
  });

  test('is cut off after two seconds, and is repeated with fewer rows', async () => {
    const id = await ask();
    const rows: number[] = [];
    const sleeps = jobKind({
      kind: 'count',
      cursor,
      step: async (_, job) => {
        rows.push(rowsOfAttempt(4, job));
        return {
          cursor: job.cursor,
          progress: job.progress,
          isDone: true,
          // Longer than the limit for four rows, and not at all for one.
          writes: [sql`select pg_sleep(${(rows.at(-1) ?? 1) - 1})`],
        };
      },
    });
    const limited = { ...deps, database: forJobs(deps.database) };
    expect(await tick(limited, [sleeps], ONE_STEP)).toEqual({ advanced: 0, failed: 1 });
    const { rowCount } = await db.client.query(
      "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
    );
    expect(rowCount).toBe(0);
    expect(await jobOf(id)).toMatchObject({ state: 'open', attempts: 1, last_error: 'unavailable' });
    await timePasses();
    expect(await tick(limited, [sleeps], ONE_STEP)).toEqual({ advanced: 1, failed: 0 });
    expect(rows).toEqual([4, 1]);
    // A transaction that only reads delays no change feed.
    expect(await limited.database.run({ ...sql`select pg_sleep(2.5)`, reads: true })).toHaveLength(1);
  });

  test('as when its cursor cannot be read', async () => {
    const id = await ask({ cursor: { at: 'one' } });
    expect(await run()).toEqual({ advanced: 0, failed: 1 });
    expect(await jobOf(id)).toMatchObject({ state: 'open', last_error: 'bug' });
  });
});

describe('a job that is stopped', () => {
  test('does nothing until it is resumed, even in the step in progress', async () => {
    const id = await ask();
    await run(counts(), ONE_STEP);
    const { open, opened } = gate();
    const begun = gate();
    const underWay = run(
      counts(() => (begun.open(), opened)),
      ONE_STEP,
    );
    await begun.opened;
    expect(await inSite(deps.database, site).run(stopJob(id))).toEqual([{ changed: true }]);
    open();
    expect(await underWay).toEqual({ advanced: 0, failed: 1 });
    expect(await run()).toEqual({ advanced: 0, failed: 0 });
    expect(await counted()).toEqual([1]);
    expect(await jobOf(id)).toMatchObject({ state: 'stopped', progress_done: 1 });
    expect(await inSite(deps.database, site).run(stopJob(id))).toEqual([{ changed: false }]);

    expect(await inSite(deps.database, site).run(resumeJob(id))).toEqual([{ changed: true }]);
    expect(await inSite(deps.database, site).run(resumeJob(id))).toEqual([{ changed: false }]);
    expect(await run()).toEqual({ advanced: 4, failed: 0 });
    expect(await counted()).toEqual([1, 2, 3, 4, 5]);
  });
});

test('deletes old ended jobs when a job is added', async () => {
  const old = await ask();
  await run();
  const recent = await ask();
  await run();
  await db.client.query("update job set ended_at = now() - interval '91 days' where job_id = $1", [old]);
  await ask();
  expect([await jobOf(old), (await jobOf(recent))?.state]).toEqual([undefined, 'done']);
});
