/**
 * Data past a site's retention is deleted, and data that must outlive it stays: on a real PostgreSQL, as the gateway's
 * role.
 */
import { randomUUID } from 'node:crypto';

import { beforeEach, describe, expect, test } from 'vitest';

import { reprocess } from '../../../edge/hl7/ingest/replay/replay.ts';
import { RETENTION, retentionCursor, STEP_ROWS } from '../../../edge/jobs/retention.ts';
import { tick } from '../../../edge/jobs/tick.ts';
import { columnTypes } from '../../../edge/store/column-types.ts';
import { countSelected } from '../../../edge/store/hl7-replay.ts';
import { askForRetention, retentionDue, retentionStep } from '../../../edge/store/retention.ts';
import type { LogEntry } from '../../../shared/log.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { noteRefusalsSql, refusalOf } from '../../stack/tools/refusal.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { ADA, createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';

let site: Hl7Site;
const db = await useTestDatabase();
beforeEach(async () => {
  await db.client.query('delete from job');
  site = await createHl7Site({ database: db });
});

const admit = (control: string, id = control) => `${msh('ADT^A04', control)}\nPID|1||${id}^^^HOSP^MR||Doe^Jane`;
const refused = (control: string) => `${msh('ADT^A04', control)}\nPID|1||||Doe^Jane`;

/** Makes everything of the site this many days older. */
async function age(days: number, at: Hl7Site = site): Promise<void> {
  const tables = ['hl7_message.received_at', 'hl7_attempt.at', 'refusal.since', 'usage.bucket', 'audit.at'];
  for (const column of tables) {
    const [table, name] = column.split('.');
    await db.client.query(`update ${table} set ${name} = ${name} - make_interval(days => $2) where site_id = $1`, [
      at.site,
      days,
    ]);
  }
}
const settings = (set: string) => db.client.query(`update site set ${set} where site_id = $1`, [site.site]);
const logged: LogEntry[] = [];
/** The day's retention, of every site. */
async function forget(): Promise<void> {
  const deps = { database: site.deps.database, now: () => Date.now(), log: (entry: LogEntry) => logged.push(entry) };
  await deps.database.run(askForRetention());
  await tick(deps, [RETENTION], 60_000);
}
const stepAt = async (nowMs: number, limit = STEP_ROWS) => {
  const [step] = await site.database.run(retentionStep(site.site, nowMs, null, limit));
  return step;
};
/** As the owner, whose commands ask it. */
const dueNow = async (): Promise<object[]> => {
  const { text, params } = retentionDue(site.site, Date.now());
  return (await db.client.query<object>({ text, values: [...params], types: columnTypes })).rows;
};
const count = async (table: string, where = 'true', at: Hl7Site = site): Promise<number> =>
  (await db.client.query(`select from ${table} where site_id = $1 and ${where}`, [at.site])).rowCount ?? 0;

describe('a message', () => {
  test('is kept 400 days; then its bytes and answers go, and its duplicate is still known', async () => {
    const first = await site.send(admit('M-1'));
    await age(399);
    await forget();
    expect(await count('hl7_message', 'raw is not null')).toBe(1);
    await db.client.query('delete from job');
    await age(2);
    await forget();
    expect(await count('hl7_message', `raw is null and control_id = 'M-1'`)).toBe(1);
    expect(await count('hl7_attempt', 'ack is null')).toBe(1);

    const again = await site.send(admit('M-1'));
    expect(again).toMatchObject({ status: 'seen', outcome: 'AA' });
    expect(again.text).toContain('MSA|AA|M-1');
    expect(again.text).not.toBe(first.text);
    expect(await count('hl7_message')).toBe(1);
    const [patient] = await site.resources('Patient');
    expect(patient).toMatchObject({ version: 1 });
    // Other bytes under the same control id are still reported.
    expect((await site.send(admit('M-1', 'other'))).errors).not.toEqual([]);
  });

  test('that retention has deleted is not replayed, alone or with others, and is reported', async () => {
    await site.send(admit('M-1'));
    await age(401);
    await forget();
    const { rows } = await db.client.query<{ message_id: string }>(
      'select message_id from hl7_message where site_id = $1',
      [site.site],
    );
    const attempt = { why: 'replayed', actor: 'Ada (1)', jobId: null, by: ADA } as const;
    await expect(
      reprocess(site.deps, site.site, rows[0]?.message_id ?? '', attempt, 'request-2'),
    ).rejects.toMatchObject({ kind: 'conflict', message: expect.stringContaining('were deleted') });
    const any = { outcome: '', type: '', reason: '', clientId: '', from: '', to: '', unmapped: null } as const;
    expect(await site.database.run(countSelected(site.site, any))).toMatchObject([{ count: 0 }]);
  });

  test('a message that was rejected and never accepted is deleted completely, and is new when it is sent again', async () => {
    await site.send(refused('M-1'));
    await db.client.query(
      `select attention_add(site_id, message_id, '[{"kind":"merge-unresolved","patients":[],"about":"x"}]')
         from hl7_message where site_id = $1`,
      [site.site],
    );
    await age(401);
    await forget();
    expect([await count('hl7_message'), await count('hl7_attempt')]).toEqual([0, 0]);
    expect([await count('attention', 'message_id is null'), await count('issue_message')]).toEqual([1, 0]);
    expect(await site.send(refused('M-1'))).toMatchObject({ status: 'stored', outcome: 'AE' });
    expect(await count('hl7_attempt', `why = 'received'`)).toBe(1);
  });

  test('that a fault of the gateway keeps from being processed stays until it is, with its tries', async () => {
    await site.send(admit('M-1'));
    await db.client.query('update hl7_message set has_failed = true where site_id = $1', [site.site]);
    await db.client.query(
      `insert into hl7_attempt (site_id, message_id, number, why, request_id, outcome)
       select site_id, message_id, n, 'retried', 'r', 'AE' from hl7_message, generate_series(2, 5) n where site_id = $1`,
      [site.site],
    );
    await age(1000);
    await forget();
    expect(await count('hl7_message', 'raw is not null')).toBe(1);
    expect(await count('hl7_attempt')).toBe(5);
  });
});

test('among attempts older than 90 days, the first accepted one and the newest stay', async () => {
  await site.send(admit('M-1'));
  await db.client.query(
    `insert into hl7_attempt (site_id, message_id, number, why, actor, request_id, outcome)
     select site_id, message_id, n, 'replayed', 'Ada', 'r', case n when 3 then 'AA' else 'AE' end
       from hl7_message, generate_series(2, 6) n where site_id = $1`,
    [site.site],
  );
  await db.client.query(`update hl7_attempt set outcome = 'AE' where site_id = $1 and number = 1`, [site.site]);
  await age(91);
  const [due] = await dueNow();
  await forget();
  const { rows } = await db.client.query<{ number: number }>(
    'select number from hl7_attempt where site_id = $1 order by number',
    [site.site],
  );
  expect(rows.map(({ number }) => number)).toEqual([3, 6]);
  expect(due).toMatchObject({ messages: 0, attempts: 4 });
});

async function fill(at: Hl7Site): Promise<void> {
  await db.client.query(...noteRefusalsSql(refusalOf(at.clientId)));
  await db.client.query(
    `insert into usage (site_id, bucket, surface, outcome, requests, latency) values ($1, now(), 'fhir', 'ok', 1, '{1}')`,
    [at.site],
  );
  await at.send(admit('M-1'));
}
const kept = async (at: Hl7Site) => [
  await count('hl7_message', 'raw is not null', at),
  await count('refusal', 'true', at),
  await count('usage', 'true', at),
  await count('audit', 'true', at),
];

describe('a site', () => {
  test('with a shorter setting forgets sooner, and its neighbour does not', async () => {
    const neighbour = await createHl7Site({ database: db });
    for (const each of [site, neighbour]) {
      await fill(each);
      await age(40, each);
    }
    await settings('keep_messages_days = 30, keep_attempts_days = 7, keep_usage_days = 1');
    await forget();
    expect([await kept(site), await kept(neighbour)]).toEqual([
      [0, 0, 0, 1],
      [1, 1, 1, 1],
    ]);
    const done = logged.findLast((entry) => entry.event === 'retention.done' && entry.site === site.site);
    expect(done?.counts).toEqual({ messages: 1, attempts: 0, refusals: 1, usage: 1, audit: 0 });
    const { rows } = await db.client.query<{ cursor: object }>('select cursor from job where site_id = $1', [
      site.site,
    ]);
    expect(retentionCursor.parse(rows[0]?.cursor)).toMatchObject({ messages: 1, refusals: 1, usage: 1, audit: 0 });
  });

  test('under legal hold deletes nothing, for any actor', async () => {
    await fill(site);
    await age(4000);
    await settings('legal_hold = true');
    await forget();
    expect(await stepAt(Date.now())).toMatchObject({ messages: 0, is_done: true });
    expect(await dueNow()).toEqual([]);
    expect(await kept(site)).toEqual([1, 1, 1, 1]);
  });

  test('has its retention once a day, and the next day again', async () => {
    await forget();
    await forget();
    expect(await count('job')).toBe(1);
    await db.client.query(`update job set created_at = created_at - interval '21 hours'`);
    await forget();
    expect(await count('job')).toBe(2);
    expect(await count('job', `state = 'done'`)).toBe(2);
  });
});

test('the audit stays as long as its owner has set, with any setting of a site', async () => {
  await site.send(admit('M-1'));
  await age(400);
  await settings('keep_audit_days = 365');
  await forget();
  expect(await count('audit')).toBe(1);
  await db.client.query('update audit_minimum_age set days = 365');
  await db.client.query('delete from job');
  await forget();
  expect(await count('audit')).toBe(0);
  await db.client.query('update audit_minimum_age set days = 2190');
});

test('a step deletes a few rows, the oldest first, and returns true if more remain', async () => {
  for (const control of ['M-1', 'M-2', 'M-3']) await site.send(admit(control));
  await age(401);
  const due = await dueNow();
  expect(due).toMatchObject([{ messages: 3 }]);
  expect(await stepAt(Date.now(), 2)).toMatchObject({ messages: 2, is_done: false });
  expect(await count('hl7_message', `raw is not null and control_id = 'M-3'`)).toBe(1);
  expect(await stepAt(Date.now(), 2)).toMatchObject({ messages: 1, is_done: true });
});

test('a step deletes few messages with large documents, and the next steps the others', async () => {
  for (const control of ['1', '2', '3']) await site.send(admit(control));
  await db.client.query(
    `insert into document (site_id, sha256, content) select $1, n::text, convert_to(repeat('x', 40000000), 'UTF8') from generate_series(1, 3) n`,
    [site.site],
  );
  await db.client.query(
    `insert into document_use (site_id, type, id, sha256)
       select m.site_id, 'Hl7Message', m.message_id, m.control_id from hl7_message m where m.site_id = $1`,
    [site.site],
  );
  await age(500);
  for (const left of [2, 1, 0]) {
    expect(await stepAt(Date.now())).toMatchObject({ messages: 1, is_done: left === 0 });
    expect(await count('document')).toBe(left);
  }
});

test('rows of an import that was given up for a day, and of a deleted code table, are deleted step by step, and no others', async () => {
  const row = (n: number) => [n, 'L', `C${n}`, '', '', 'urn:x', `${n}`, '', 'equal'];
  const create = async (): Promise<string> => {
    const id = randomUUID();
    await db.client.query(`insert into code_table (site_id, table_id, name, created_by) values ($1, $2, $3, 'Ada')`, [
      site.site,
      id,
      id,
    ]);
    return id;
  };
  const part = async (table: string, content: string, n: number, parts: number, rows: object[]): Promise<string> => {
    const { rows: answer } = await db.client.query<{ outcome: string }>(
      'select outcome from code_table_import($1, $2, $3, $4, $5, $6, 200000, 50)',
      [site.site, table, content, n, parts, JSON.stringify(rows)],
    );
    return answer[0]?.outcome ?? '';
  };
  const stored = (table: string) => count('code_table_row', `table_id = '${table}'`);
  const rowsFrom = (from: number, of: number) => Array.from({ length: of }, (_, n) => row(from + n));
  const [given, going, kept, deleted] = [await create(), await create(), await create(), await create()];
  const content = randomUUID();
  await part(given, content, 1, 3, rowsFrom(1, 60));
  await part(given, content, 2, 3, rowsFrom(61, 60));
  await db.client.query(`update code_table_import set at = now() - interval '25 hours' where site_id = $1`, [
    site.site,
  ]);
  await part(going, randomUUID(), 1, 2, rowsFrom(1, 5));
  await part(kept, randomUUID(), 1, 1, rowsFrom(1, 5));
  await part(deleted, randomUUID(), 1, 1, rowsFrom(1, 5));
  await db.client.query('select code_table_release($1, $2, 1, 1, $3, $3, 100)', [site.site, deleted, 'x']);
  await db.client.query('select code_table_release($1, $2, null, 2, $3, $3, 100)', [site.site, deleted, 'x']);
  await part(deleted, randomUUID(), 1, 1, rowsFrom(1, 3));
  await part(deleted, randomUUID(), 1, 2, rowsFrom(1, 2));
  await db.client.query('select code_table_delete($1, $2, 4)', [site.site, deleted]);
  expect(await stored(deleted)).toBe(10);

  // A step of a limit of 1 deletes 50 rows.
  expect(await stepAt(Date.now(), 1)).toMatchObject({ is_done: false });
  expect((await stored(given)) + (await stored(deleted))).toBeGreaterThanOrEqual(130 - 50);
  let step = await stepAt(Date.now(), 1);
  for (let n = 0; n < 20 && step?.is_done !== true; n += 1) step = await stepAt(Date.now(), 1);
  expect(step).toMatchObject({ is_done: true });
  expect([await stored(given), await stored(going), await stored(kept), await stored(deleted)]).toEqual([0, 5, 5, 0]);
  expect(await count('code_table_import')).toBe(1);
  expect(await part(given, content, 3, 3, [row(1)]), 'a part that is too late').toBe('parts');
  expect(await part(given, content, 1, 1, [row(1)]), 'the import from its beginning').toBe('done');
});

test('a part that arrives while its import is being deleted is not part of a draft', async () => {
  const [id, content] = [randomUUID(), randomUUID()];
  await db.client.query(`insert into code_table (site_id, table_id, name, created_by) values ($1, $2, 'x', 'Ada')`, [
    site.site,
    id,
  ]);
  const part = (n: number, rows: object[]) =>
    db.client.query<{ outcome: string }>('select outcome from code_table_import($1, $2, $3, $4, 2, $5, 100, 50)', [
      site.site,
      id,
      content,
      n,
      JSON.stringify(rows),
    ]);
  const rows = Array.from({ length: 60 }, (_, n) => [n, 'L', `C${n}`, '', '', 'urn:x', '1', '', 'equal']);
  await part(1, rows);
  await db.client.query(`update code_table_import set at = now() - interval '25 hours' where site_id = $1`, [
    site.site,
  ]);
  await stepAt(Date.now(), 1);
  expect(await count('code_table_row')).toBe(10);
  expect((await part(2, [])).rows).toEqual([{ outcome: 'parts' }]);
  expect((await part(1, rows)).rows, 'all parts again').toEqual([{ outcome: 'staged' }]);
  expect((await part(2, rows)).rows, 'rows that an earlier part has').toEqual([{ outcome: 'lines' }]);
  await part(1, rows);
  const others = rows.map(([n, system, code, ...rest]) => [n, system, `${String(code)}x`, ...rest]);
  expect((await part(2, others)).rows, 'more rows than a table may have').toEqual([{ outcome: 'rows' }]);
  expect(await count('code_table_row')).toBe(0);
});

test('a runner whose clock is ahead deletes nothing too early, and a runner whose clock is behind deletes later', async () => {
  await site.send(admit('M-1'));
  const year = 365 * 86_400_000;
  expect(await stepAt(Date.now() + 10 * year)).toMatchObject({ messages: 0 });
  await age(500);
  expect(await stepAt(Date.now() - year)).toMatchObject({ messages: 0 });
  expect(await stepAt(Date.now())).toMatchObject({ messages: 1 });
});

test('the resources that messages made stay, with their versions', async () => {
  await site.send(admit('M-1'));
  await site.send(admit('M-2', 'M-1').replace('Doe^Jane', 'Doe^Janet'));
  const before = [await count('resource'), await count('resource_history'), await count('hl7_message_resource')];
  await age(36_000);
  await forget();
  expect(await count('hl7_message', 'raw is not null')).toBe(0);
  expect([await count('resource'), await count('resource_history'), await count('hl7_message_resource')]).toEqual(
    before,
  );
});
