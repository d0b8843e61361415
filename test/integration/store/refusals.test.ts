/** The log of rejected requests in the database: summed, per site, limited for any input, found by index. */
import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { ANY_REFUSAL, findRefusals, type RefusalFilter } from '../../../edge/store/admin-refusal.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { noteRefusals, type Refusal } from '../../../edge/store/refusal.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { useTestDatabase, ownerDatabase } from '../../stack/tools/database.ts';
import { explain } from '../../stack/tools/plan.ts';
import { refusalOf } from '../../stack/tools/refusal.ts';

const db = await useTestDatabase();
const database = ownerDatabase(db);
const site = await createSite(db.client);

const newKey = async (of = site): Promise<string> => {
  const { clientId } = await createApiKey(db.client, { site: of });
  // A key that was made now begins a new row in the middle of its quarter of an hour.
  await db.client.query(`update api_key set updated_at = now() - interval '1 year' where client_id = $1`, [clientId]);
  return clientId;
};
const note = (...refusals: Refusal[]) => database.run(noteRefusals(refusals));
const found = (filter: Partial<RefusalFilter>, after: readonly string[] | null = null, limit = 1_000, of = site) =>
  inSite(database, of).run(findRefusals(of, { ...ANY_REFUSAL, ...filter }, after, limit));
const rowsOf = async (clientId: string) =>
  (await db.client.query('select requests::int, reason, code from refusal where client_id = $1', [clientId])).rows;
const HOUR_MS = 3_600_000;

test('rejections of one reason and quarter of an hour are one row, with all that explains it', async () => {
  const clientId = await newKey();
  const at = Math.floor(Date.now() / 900_000) * 900_000 - HOUR_MS;
  await note(refusalOf(clientId, { requests: 312, firstAt: at, lastAt: at + 1_000 }));
  await note(
    refusalOf(clientId, { requests: 2, firstAt: at + 5_000, lastAt: at + 6_000, requestIds: ['last', 'first'] }),
  );
  await note(refusalOf(clientId, { firstAt: at + 900_000, lastAt: at + 900_000, requestIds: ['the-last'] }));
  expect(await rowsOf(clientId)).toHaveLength(2);
  const [row, ...others] = await found({ clientId });
  expect(others).toEqual([]);
  expect(row).toMatchObject({ surface: 'token', answer: '401', code: 'aud', reason: 'aud was "a"', requests: 315 });
  expect(row).toMatchObject({ first_at: new Date(at).toISOString(), request_id: 'the-last', is_cut: false });
  expect(JSON.parse(row?.quarters ?? '').map((quarter: { requests: number }) => quarter.requests)).toEqual([1, 314]);
});

test('a list of all keys has those of the queried site only', async () => {
  const [here, there] = [await createSite(db.client), await createSite(db.client)];
  await note(refusalOf(await newKey(here), { reason: 'own' }), refusalOf(await newKey(there), { reason: 'foreign' }));
  expect((await found({}, null, 10, here)).map(({ reason }) => reason)).toEqual(['own']);
});

test('each request id of a reason is found, for any time range, and only in its site', async () => {
  const clientId = await newKey();
  const at = Date.now() - 3 * 24 * HOUR_MS;
  const [one, two] = ['tag was "a"', 'tag was "b"'];
  await note(
    refusalOf(clientId, { reason: one, requests: 3, requestIds: ['id-3', 'id-2', 'id-1'], firstAt: at, lastAt: at }),
  );
  await note(refusalOf(clientId, { reason: two, requestIds: ['id-4'], firstAt: at, lastAt: at }));
  await note(refusalOf(await newKey(await createSite(db.client)), { reason: 'foreign', requestIds: ['id-2', 'id-7'] }));
  const from = new Date(Date.now() - HOUR_MS).toISOString();
  for (const id of ['id-1', 'id-2', 'id-3']) {
    expect(await found({ text: id, from })).toMatchObject([{ reason: one, request_id: id, requests: 3 }]);
  }
  expect(await found({ text: 'id-4' })).toMatchObject([{ reason: two, is_by_request_id: true }]);
  expect(await found({ text: 'id-4', surface: 'fhir' })).toEqual([]);
  for (const none of ['id-7', 'id-', 'ID-1', '%', 'id-1 id-2']) expect(await found({ text: none })).toEqual([]);
  expect(await found({ text: 'TAG was "a"', from })).toEqual([]);
  expect(await found({ text: 'TAG was "a"' })).toMatchObject([{ is_by_request_id: false, request_id: 'id-3' }]);
});

test('a storm of one reason leaves the newest hundred request ids, however it is written', async () => {
  const clientId = await newKey();
  const at = Math.floor(Date.now() / 900_000) * 900_000 - HOUR_MS;
  const idsOf = (from: number) => Array.from({ length: 100 }, (_, n) => `storm-${from - n}`);
  for (let last = 100; last <= 1_000; last += 100) {
    await note(refusalOf(clientId, { requests: 100, requestIds: idsOf(last), firstAt: at + last, lastAt: at + last }));
  }
  // Reasons beyond the tenth share a row, also within one statement.
  const kids = Array.from({ length: 30 }, (_, n) =>
    refusalOf(clientId, {
      code: 'kid',
      reason: `kid ${n}`,
      requestIds: idsOf(10_000 + n * 100),
      firstAt: at,
      lastAt: at + n,
    }),
  );
  await note(...kids);
  const { rows } = await db.client.query<{ ids: string[]; reason: string; requests: number }>(
    'select request_ids as ids, reason, requests::int from refusal where client_id = $1 order by reason',
    [clientId],
  );
  expect(rows.every(({ ids }) => ids.length === 100)).toBe(true);
  expect(rows.find(({ reason }) => reason === 'aud was "a"')).toMatchObject({ requests: 1_000, ids: idsOf(1_000) });
  expect(rows.find(({ reason }) => reason === '')?.ids[0]).toBe('storm-12900');
});

test('a rejection of a missing client is not kept', async () => {
  const clientId = `svc-${randomUUID()}`;
  await note(refusalOf(clientId), refusalOf(await newKey()));
  expect(await rowsOf(clientId)).toEqual([]);
});

test('a flood of reasons leaves ten of its code, and all of other codes, keys and surfaces', async () => {
  const [clientId, other] = [await newKey(), await newKey()];
  await note(refusalOf(other, { reason: 'of another key' }));
  // All from one quarter of an hour, which has ten reasons already.
  const at = Date.now();
  const all = (code: string, reason: string) => refusalOf(clientId, { code, reason, firstAt: at, lastAt: at });
  for (let n = 0; n < 400; n += 20) {
    await note(...Array.from({ length: 20 }, (_, k) => all('kid', `kid was "${n + k}"`)));
  }
  await note(all('exp', 'of its own'));
  const rows = await rowsOf(clientId);
  expect(rows.filter(({ code }) => code === 'kid')).toHaveLength(11);
  expect(rows.find(({ reason }) => reason === '')?.requests).toBe(390);
  expect(rows.find(({ code }) => code === 'exp')?.reason).toBe('of its own');
  expect(await rowsOf(other)).toHaveLength(1);
});

test('rejections after a change of the key are counted apart: a fixed fault begins again', async () => {
  const clientId = await newKey();
  await note(refusalOf(clientId, { requests: 5 }));
  await db.client.query('update api_key set updated_at = clock_timestamp() where client_id = $1', [clientId]);
  await note(refusalOf(clientId, { firstAt: Date.now() + 5, lastAt: Date.now() + 5 }));
  expect((await rowsOf(clientId)).map(({ requests }) => requests).toSorted((a, b) => a - b)).toEqual([1, 5]);
});

test('a client that repeats a 422 every second for a week is 672 rows and one reason', async () => {
  const clientId = await newKey();
  const refused = {
    surface: 'fhir',
    answer: '422',
    code: 'required',
    reason: 'Observation.code',
    requests: 900,
  } as const;
  const begun = Date.now() - 7 * 24 * HOUR_MS;
  const quarters = Array.from({ length: 672 }, (_, n) => begun + n * 900_000);
  await note(...quarters.map((at) => refusalOf(clientId, { ...refused, firstAt: at, lastAt: at })));
  const week = await found({ clientId });
  expect(week.map(({ requests }) => requests)).toEqual([604_800]);
  expect(JSON.parse(week[0]?.quarters ?? '')).toHaveLength(24);
  const [hour] = await found({ clientId, from: new Date(Date.now() - HOUR_MS).toISOString() });
  expect(hour?.requests).toBeLessThanOrEqual(900 * 5);
});

test('pages follow one another, filters hold, and what is older than the site keeps is not shown', async () => {
  const clientId = await newKey();
  const codes = ['aud', 'exp', 'kid'];
  await note(...codes.map((code, n) => refusalOf(clientId, { code, lastAt: Date.now() - n * 1_000 })));
  const [newest] = await found({ clientId }, null, 1);
  const rest = await found({ clientId }, [newest?.place ?? '', newest?.id ?? ''], 10);
  expect([newest?.code, ...rest.map(({ code }) => code)]).toEqual(codes);
  await note(
    refusalOf(clientId, { surface: 'fhir', answer: '503', code: 'transient', reason: 'away', requestIds: ['r-503'] }),
  );
  const by = async (filter: Partial<RefusalFilter>) => (await found({ clientId, ...filter })).map(({ code }) => code);
  expect(await by({ surface: 'fhir' })).toEqual(['transient']);
  expect(await by({ answer: '5xx' })).toEqual(['transient']);
  expect((await by({ answer: '401' })).toSorted()).toEqual(codes);
  expect(await by({ code: 'exp' })).toEqual(['exp']);
  expect(await by({ text: 'AWA' })).toEqual(['transient']);
  expect(await by({ text: 'r-503' })).toEqual(['transient']);
  expect(await by({ to: new Date(Date.now() - HOUR_MS).toISOString() })).toEqual([]);
  await db.client.query(`update refusal set since = now() - interval '91 days' where client_id = $1 and code = 'kid'`, [
    clientId,
  ]);
  expect(await by({ code: 'kid' })).toEqual([]);
});

test('a client sees its authenticated requests behind a flood of requests that only claim it', async () => {
  const clientId = await newKey();
  const at = Date.now() - HOUR_MS;
  await note(
    refusalOf(clientId, { code: 'aud', firstAt: at, lastAt: at }),
    refusalOf(clientId, { surface: 'hl7', answer: '422', code: '101', firstAt: at, lastAt: at }),
    refusalOf(clientId, { surface: 'mllp', answer: 'AR', code: 'no-key', firstAt: at, lastAt: at }),
  );
  await db.client.query(
    `insert into refusal (site_id, client_id, since, surface, answer, code, reason, requests, first_at, last_at, request_ids,
         source_address)
       select $1, $2, now(), 'token', '401', 'signature', 'reason ' || n, 1, now(), now(), array['x'], 'a'
         from generate_series(1, 20001) n`,
    [site, clientId],
  );
  const own = await found({ clientId, isAuthenticated: true }, null, 50);
  expect(own.map(({ surface, code }) => `${surface} ${code}`).toSorted()).toEqual(['hl7 101', 'token aud']);
  await db.client.query(`delete from refusal where client_id = $1`, [clientId]);
});

test('the cost of a page depends on the site and the time, among a hundred sites with a year of refusals', async () => {
  const crowd = await createSite(db.client);
  const clientId = await newKey(crowd);
  await db.client.query(
    `insert into refusal (site_id, client_id, since, surface, answer, code, reason, requests, first_at, last_at, request_ids,
         source_address)
       select $1, $2, t.at, 'fhir', '422', 'required', 'reason ' || n % 3, 1, t.at, t.at, array['request-' || n], 'a'
         from generate_series(1, 60000) n
        cross join lateral (select date_bin('15 minutes', now(), 'epoch') - n * interval '2 minutes' as at) t`,
    [crowd, clientId],
  );
  await db.client.query('analyze refusal');
  const query = findRefusals(
    crowd,
    { ...ANY_REFUSAL, from: new Date(Date.now() - 24 * HOUR_MS).toISOString() },
    null,
    51,
  );
  // The planner and its sample choose between order and bitmap. The test checks the index and the number of rows read.
  const { indexes, whole, rows, pages } = await explain(db.client, crowd, query);
  expect(indexes).toContain('refusal_age');
  expect(whole).not.toContain('refusal');
  expect(rows).toBeLessThan(5_000);
  expect(pages).toBeLessThan(200);
  const all = await found({}, null, 51, crowd);
  expect(all.every(({ is_cut: isCut }) => isCut)).toBe(true);
  expect(all.reduce((sum, { requests }) => sum + requests, 0)).toBe(20_000);

  // An id is looked up, also behind the rows that a page adds up, and costs the same.
  const byId = findRefusals(crowd, { ...ANY_REFUSAL, text: 'request-59999' }, null, 51);
  const plan = await explain(db.client, crowd, byId);
  expect(plan.indexes).toContain('refusal_request');
  expect(plan.rows).toBeLessThan(100);
  const [oldest] = await found({ text: 'request-59999' }, null, 51, crowd);
  expect(oldest).toMatchObject({ requests: 1, request_id: 'request-59999', is_by_request_id: true });
});
