/** The change feed: each version that commits gets one number, in the order of each resource, for any order of commits. */
import { setTimeout as delay } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { deliver } from '../../../edge/fhir/subscriptions/deliver.ts';
import { matchChanges } from '../../../edge/fhir/subscriptions/match.ts';
import { connectDatabase } from '../../../edge/platform/node/database.ts';
import { erase } from '../../../edge/platform/node/erase-patient.ts';
import { audited } from '../../../edge/store/audit.ts';
import {
  beginExport,
  type ExportFile,
  type ExportKey,
  filePage,
  findExport,
  openFile,
  PAGE_RESOURCES,
  stepExport,
} from '../../../edge/store/bulk-export.ts';
import { askForChanges, numberChanges } from '../../../edge/store/change-feed.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { toPage } from '../../../edge/store/page.ts';
import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import {
  claimSubscriptions,
  deleteSubscription,
  findEvents,
  firstEvent,
  type SubscriptionRecord,
  writeSubscription,
} from '../../../edge/store/subscription.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { until } from '../../stack/services/until.ts';
import { edgeDatabase, useTestDatabase } from '../../stack/tools/database.ts';
import { PLAIN_EXPORT } from '../../stack/tools/plain-export.ts';
import { createHl7Site } from '../../stack/tools/hl7-site.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { randomFrom } from '../../stack/tools/random.ts';
import { sized } from '../../stack/tools/size.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';

const db = await useTestDatabase();
const gateway = edgeDatabase(db);

interface Change {
  readonly number: number;
  readonly type: string;
  readonly id: string;
  readonly version: number | null;
}

/** A subscription to every Patient. */
const EACH_PATIENT: SubscriptionRecord = {
  type: 'Patient',
  filter: '',
  payload: 'id-only',
  endpoint: 'https://hooks.example.org/',
  host: 'hooks.example.org',
  headers: null,
  reason: 'x',
  heartbeatSeconds: null,
  maxCount: 100,
  endsAt: null,
  status: 'requested',
};

async function begin(site: string) {
  await createApiKey(db.client, { site, subscriptionHosts: ['hooks.example.org'] });
  await gateway.run(askForChanges());
  return site;
}
const newSite = async () => begin(await createSite(db.client));

const patient = (name: string) => ({ resourceType: 'Patient', name: [{ family: name }] });
const write = (site: string, id: string, name: string, mode: 'upsert' | 'update' = 'upsert') =>
  writeResources(site, [toWrite(patient(name), id, mode)]);
const save = (site: string, id: string, name: string) => inSite(gateway, site).run(write(site, id, name));
const newId = () => uuidv7(Date.now());

async function number(site: string, limit = 1000): Promise<void> {
  while ((await inSite(gateway, site).run(numberChanges(site, limit)))[0]?.has_more === true);
}

/** Until everything is numbered: transactions of other tests hold the numbering up. */
async function numberAll(site: string, limit?: number): Promise<void> {
  await until('everything is numbered', async () => {
    await number(site, limit);
    const { rows } = await db.client.query(
      `select from change_position p where p.site_id = $1
          and not exists (select from resource r where r.site_id = p.site_id and r.written_by >= p.below)
          and not exists (select from resource_history h where h.site_id = p.site_id and h.written_by >= p.below)
          and not exists (select from resource_erased e where e.site_id = p.site_id and e.written_by >= p.below)`,
      [site],
    );
    return rows.length > 0;
  });
}

async function changes(site: string): Promise<Change[]> {
  const { rows } = await db.client.query<Change>(
    'select number::int, type, id, version from change where site_id = $1 order by number',
    [site],
  );
  return rows;
}
const numberedOf = async (site: string) => (await changes(site)).map(({ id, version }) => `${id} ${version}`);

/** A transaction of the application that stays open. */
async function openTransaction(site: string) {
  const client = await db.connect();
  await client.query('begin');
  await client.query(`select set_config('gateway.site', $1, true)`, [site]);
  return {
    getId: () => client.query('select pg_current_xact_id()'),
    save: (id: string, name: string, mode?: 'update') => {
      const { text, params } = write(site, id, name, mode);
      return client.query(text, [...params]);
    },
    lockFeed: () => client.query('select from change_position where site_id = $1 for no key update', [site]),
    commit: () => client.query('commit'),
    rollback: () => client.query('rollback'),
    end: () => client.end(),
  };
}

test('a version is not numbered while an older transaction is under way, and none is left out', async () => {
  const site = await newSite();
  const [slow, quick, last] = [newId(), newId(), newId()];
  const late = await openTransaction(site);
  await late.save(slow, 'a');
  await save(site, quick, 'a');
  await number(site);
  expect(await numberedOf(site)).toEqual([]);
  await late.commit();
  await save(site, last, 'a');
  await numberAll(site);
  expect(await numberedOf(site)).toEqual([`${slow} 1`, `${quick} 1`, `${last} 1`]);
  await numberAll(site);
  expect((await changes(site)).map((change) => change.number)).toEqual([1, 2, 3]);
});

test('a runner looks again where another one numbers, which may have looked before the latest commit', async () => {
  const site = await newSite();
  const other = await openTransaction(site);
  await other.lockFeed();
  await save(site, newId(), 'a');
  const remains = async () => (await inSite(gateway, site).run(numberChanges(site, 1000)))[0]?.is_waiting;
  expect(await remains()).toBe(true);
  await other.rollback();
  await other.end();
  await numberAll(site);
  expect(await remains()).toBe(false);
  expect(await changes(site)).toHaveLength(1);
});

test('a rolled back version gets no number', async () => {
  const site = await newSite();
  const [gone, kept] = [newId(), newId()];
  const late = await openTransaction(site);
  await late.save(gone, 'a');
  await late.rollback();
  await save(site, kept, 'a');
  await numberAll(site);
  expect((await changes(site)).map((change) => [change.number, change.id])).toEqual([[1, kept]]);
});

test('versions keep their order where the later one is of the transaction with the lower id', async () => {
  const site = await newSite();
  const id = newId();
  await save(site, id, 'a');
  const old = await openTransaction(site);
  await old.getId();
  await save(site, id, 'b');
  await save(site, newId(), 'x');
  await old.save(id, 'c');
  await old.commit();
  await numberAll(site, 1);
  expect((await numberedOf(site)).filter((change) => change.startsWith(id))).toEqual([`${id} 1`, `${id} 2`, `${id} 3`]);
});

test('a site without subscriptions has no feed, and a feed begins with what is written after it', async () => {
  const site = await createSite(db.client);
  await createApiKey(db.client, { site });
  await gateway.run(askForChanges());
  const [before, after] = [newId(), newId()];
  await save(site, before, 'a');
  await number(site);
  expect(await numberedOf(site)).toEqual([]);
  await begin(site);
  await save(site, after, 'a');
  await save(site, before, 'b');
  await numberAll(site);
  // A feed may begin with some earlier versions: those of a time in which transactions of other sites were under way.
  expect((await numberedOf(site)).filter((change) => change !== `${before} 1`)).toEqual([`${after} 1`, `${before} 2`]);
});

test('a merge is a change of both patients and of each resource that moves, and an erasure is one without a version', async () => {
  const hl7 = await createHl7Site({ database: db });
  const { site } = hl7;
  await begin(site);
  const pid = (id: string) => `PID|1||${id}^^^HOSP^MR||Doe^Jane||19800101|F`;
  await hl7.send(`${msh('ADT^A04', 'C1')}\n${pid('A1')}`);
  await hl7.send(
    `${msh('ORU^R01', 'C2')}\n${pid('B2')}\nOBR|1|P|F|GLU^Glucose^L|||20260101080000+0000|||||||||||||||||LAB|F\n` +
      'OBX|1|NM|GLU^Glucose^L||5.50|mmol/L|||||F|||20260101080000+0000',
  );
  await numberAll(site);
  const before = (await changes(site)).length;
  await hl7.send(`${msh('ADT^A40', 'C3')}\n${pid('A1')}\nMRG|B2^^^HOSP^MR`);
  await numberAll(site);
  const merged = (await changes(site)).slice(before);
  expect(merged.map(({ type }) => type).toSorted()).toEqual(['DiagnosticReport', 'Observation', 'Patient', 'Patient']);

  const { rows } = await db.client.query<{ id: string }>(
    `select id from resource where site_id = $1 and type = 'Patient' and replaced_by is null`,
    [site],
  );
  const survivor = rows[0]?.id ?? '';
  const numbers = (await changes(site)).length;
  const owner = await connectDatabase(db.ownerUrl);
  const answers = [survivor, 'erase'];
  const operator = { kind: 'operator', name: 'root', clientId: null, address: null, requestId: 'e-1' } as const;
  await erase(audited(owner, site, operator), site, survivor, () => Promise.resolve(answers.shift()));
  await owner.close();
  await numberAll(site);
  const all = await changes(site);
  expect(all.slice(0, numbers).every(({ version }) => version !== null)).toBe(true);
  const erased = all.slice(numbers);
  expect(erased.map(({ version }) => version)).toEqual([null, null, null, null]);
  expect(new Set(erased.map(({ id }) => id))).toEqual(new Set(merged.map(({ id }) => id)));
});

test('each committed version has one number, in the order of its resource, under writers that are killed', async () => {
  const site = await newSite();
  const next = randomFrom(7);
  const below = (most: number) => Math.floor(next() * most);
  const ids = Array.from({ length: 6 }, newId);
  const ends = new AbortController();
  const sequencers = [1, 2].map(async () => {
    while (!ends.signal.aborted) await inSite(gateway, site).run(numberChanges(site, 1 + below(5)));
  });
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let round = 0; round < 12; round += 1) {
      const client = await db.connect();
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      await client.query('begin');
      await client.query(`select set_config('gateway.site', $1, true), pg_current_xact_id()`, [site]);
      const chosen = ids.filter(() => below(3) === 0).toSorted();
      const end = async () => {
        for (const id of chosen) {
          const { text, params } = write(site, id, `${writer} ${round}`);
          await client.query(text, [...params]);
        }
        if (below(4) === 0) await db.client.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
        await client.query(below(5) === 0 ? 'rollback' : 'commit');
      };
      await end().catch(() => undefined);
    }
  });
  await Promise.all(writers);
  ends.abort();
  await Promise.all(sequencers);
  await numberAll(site);
  const { rows } = await db.client.query<{ all: number }>(
    `select ((select count(*) from resource where site_id = $1)
       + (select count(*) from resource_history where site_id = $1))::int as all`,
    [site],
  );
  const all = await changes(site);
  expect(all.length).toBeGreaterThan(30);
  expect(all).toHaveLength(rows[0]?.all ?? 0);
  expect(all.map((change) => change.number)).toEqual(all.map((_, n) => n + 1));
  for (const id of ids) {
    const versions = all.filter((change) => change.id === id).map(({ version }) => version);
    expect(versions).toEqual(versions.map((_, n) => n + 1));
  }
});

test('a database restored into a server with lower transaction ids loses no change and repeats none', async () => {
  const site = await newSite();
  const [early, late, later, newest] = [newId(), newId(), newId(), newId()];
  await save(site, early, 'a');
  await numberAll(site);
  await save(site, late, 'a');
  await save(site, early, 'b');
  // As the rows of a dump look in the new server.
  for (const table of ['resource', 'resource_history'])
    await db.client.query(`update ${table} set written_by = written_by + 1000000000 where site_id = $1`, [site]);
  await db.client.query('update change_position set below = below + 1000000000 where site_id = $1', [site]);
  await save(site, later, 'a');
  await number(site);
  expect(await numberedOf(site)).toEqual([`${early} 1`]);
  const { rows } = await db.client.query('select change_recover() as sites');
  expect(rows).toEqual([{ sites: 1 }]);
  await save(site, newest, 'a');
  await save(site, late, 'b');
  await numberAll(site);
  const recovered = [`${early} 1`, `${late} 1`, `${early} 2`, `${later} 1`];
  expect(await numberedOf(site)).toEqual([...recovered, `${newest} 1`, `${late} 2`]);
  expect((await db.client.query('select change_recover() as sites')).rows).toEqual([{ sites: 0 }]);
});

test('the first event from a time is the first with this time or a later one, for any division into rows', async () => {
  const next = randomFrom(11);
  const below = (most: number) => Math.floor(next() * most);
  const start = Date.parse('2026-01-01T00:00:00Z');
  const at = (ms: number) => new Date(start + ms);
  for (let round = 0; round < 5; round += 1) {
    const site = await newSite();
    const { clientId } = await createApiKey(db.client, { site, subscriptionHosts: ['hooks.example.org'] });
    const id = newId();
    const count = round * 20;
    let time = 0;
    const times = Array.from({ length: count }, () => (time += below(3)));
    // Some of the changes are events, in rows of one event or several.
    const events = times.flatMap((reached, n) => (below(3) === 0 ? [] : [{ number: n + 1, reached }]));
    const ends = events.flatMap((_, n) => (below(3) === 0 || n === events.length - 1 ? [n + 1] : []));
    await db.client.query('update change_position set started_at = $2, last_number = $3 where site_id = $1', [
      site,
      at(-1),
      count,
    ]);
    await db.client.query(
      `insert into change (site_id, number, type, id, version, reached)
         select $1, n, 'Patient', gen_random_uuid(), 1, t from unnest($2::timestamptz[]) with ordinality u(t, n)`,
      [site, times.map(at)],
    );
    await db.client.query(
      `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, since,
           matched, last_event)
         values ($1, $2, $3, 'Patient', '', 'id-only', 'x', 'x', 'x', 1, $4, $5, $6)`,
      [site, id, clientId, at(0), count, events.length],
    );
    for (const [n, end] of ends.entries())
      await db.client.query('insert into subscription_event values ($1, $2, $3, $4)', [
        site,
        id,
        end,
        events.slice(ends[n - 1] ?? 0, end).map(({ number: one }) => one),
      ]);
    for (let ms = 0; ms <= time + 1; ms += 1) {
      const [found] = await inSite(gateway, site).run(firstEvent({ site, clientId, id }, at(ms).toISOString()));
      const before = events.filter(({ reached }) => reached < ms).length;
      expect(found, `${round} ${ms}`).toEqual({
        event: String(before + 1),
        starts_at: at(0).toISOString(),
        is_future: false,
      });
    }
  }
});

/** The versions of an export, by type and id. */
async function exported(
  of: ExportKey,
  types: readonly ResourceType[],
): Promise<{ since: string; versions: Map<string, number> }> {
  const at = inSite(gateway, of.site);
  await at.run(beginExport({ ...of, ...PLAIN_EXPORT, types }));
  const row = await until('the export is complete', async () => {
    const [, [found]] = await at.batch([stepExport(of), findExport(of)] as const);
    if (found === undefined) throw new Error('the export is gone');
    return found.is_complete && found;
  });
  const versions = new Map<string, number>();
  for (const { type, number: file } of JSON.parse(row.files) as ExportFile[]) {
    const [opened] = await at.run(openFile(of, type, file, types));
    if (opened?.after_id == null || opened.upto_id === null) throw new Error('the file is gone');
    const selection = { ...of, type, number: file, file: { ...opened, upto_id: opened.upto_id } };
    for (let { after_id: after } = opened, more = true; more;) {
      const page = toPage(await at.run(filePage({ ...selection, after })), PAGE_RESOURCES);
      for (const { id, version } of page.resources) versions.set(`${type}/${id}`, version);
      after = page.resources.at(-1)?.id ?? after;
      ({ more } = page);
    }
  }
  return { since: row.transaction_time, versions };
}

test('an export and a subscription from its transactionTime have each version once, under writers, merges and erasures', async () => {
  const types = ['Patient', 'Observation', 'DiagnosticReport'] as const;
  for (let round = 0; round < sized(1, 25); round += 1) {
    const next = randomFrom(100 + round);
    const below = (most: number) => Math.floor(next() * most);
    const hl7 = await createHl7Site({ database: db, key: { subscriptionHosts: ['hooks.example.org'] } });
    const { site, clientId } = hl7;
    await gateway.run(askForChanges());
    const at = inSite(gateway, site);
    const context = { root: 'https://fhir.example/fhir', now: Date.now(), searches: 'listed' } as const;
    const compare = async () => {
      await at.run(numberChanges(site, 1 + below(40)));
      return matchChanges(at, site, context);
    };
    const ends = new AbortController();
    const sequencers = [1, 2].map(async () => {
      while (!ends.signal.aborted) await compare();
    });

    // FHIR clients, whose transactions commit in another order than they began. An update of an erased resource fails.
    const ids = Array.from({ length: 6 }, newId);
    for (const id of ids) await save(site, id, 'first');
    const rounds = sized(12, 60);
    const clients = Array.from({ length: 3 }, async (_, writer) => {
      for (let n = 0; n < rounds; n += 1) {
        const one = await openTransaction(site);
        await one.getId();
        await delay(below(40));
        const update = async () => {
          for (const id of ids.filter(() => below(3) === 0).toSorted()) await one.save(id, `${writer} ${n}`, 'update');
          await delay(below(40));
          await (below(5) === 0 ? one.rollback() : one.commit());
        };
        await update().catch(() => one.rollback());
        await one.end();
      }
    });
    const senders = Array.from({ length: 3 }, async (_, sender) => {
      for (let n = 0; n < rounds; n += 1) {
        const [a, b] = [below(8), below(8)];
        const pid = `PID|1||P${a}^^^HOSP^MR||Doe^Jane||1980010${1 + below(9)}|F`;
        const control = `S${sender}-${n}`;
        if (below(4) > 0)
          await hl7.send(
            `${msh('ORU^R01', control)}\n${pid}\nOBR|1|P|F${a}-${below(3)}|GLU^Glucose^L|||20260101080000+0000|||||||||||||||||LAB|F\n` +
              `OBX|1|NM|GLU^Glucose^L||${n}.${sender}|mmol/L|||||F|||2026010108${10 + n}00+0000`,
          );
        else if (a !== b) await hl7.send(`${msh('ADT^A40', control)}\n${pid}\nMRG|P${b}^^^HOSP^MR`);
        await delay(below(10));
      }
    });
    const owner = await connectDatabase(db.ownerUrl);
    const eraser = (async () => {
      for (let n = 0; n < 3; n += 1) {
        await delay(20 + below(80));
        const { rows } = await db.client.query<{ id: string }>(
          `select id from resource where site_id = $1 and type = 'Patient' and replaced_by is null order by id`,
          [site],
        );
        const id = rows[below(rows.length)]?.id;
        if (id === undefined) continue;
        const answers = [id, 'erase'];
        const operator = {
          kind: 'operator',
          name: 'root',
          clientId: null,
          address: null,
          requestId: `e-${n}`,
        } as const;
        // It may have been merged meanwhile.
        await erase(audited(owner, site, operator), site, id, () => Promise.resolve(answers.shift())).catch(
          () => undefined,
        );
      }
    })();

    await delay(below(150));
    // An erasure ends an export that is not read yet; then the client begins another.
    const first = await until('an export is read', () =>
      exported({ site, clientId, id: newId() }, types).catch((error: unknown) => {
        if (error instanceof Error && error.message.endsWith(' is gone')) return undefined;
        throw error;
      }),
    );
    await delay(below(50));
    const subscriptions = new Map<string, string>();
    for (const type of types) {
      const id = newId();
      const written = await at.run(
        writeSubscription({ site, clientId, id }, true, { ...EACH_PATIENT, type }, first.since),
      );
      expect(written).toEqual([{ outcome: 'created' }]);
      subscriptions.set(type, id);
    }
    await Promise.all([...clients, ...senders, eraser]);
    ends.abort();
    await Promise.all(sequencers);
    await owner.close();
    await numberAll(site);
    while (await compare());

    const { rows } = await db.client.query<{ name: string; versions: number[] }>(
      `select type || '/' || id as name, array_agg(version order by version) as versions from (
         select type, id, version from resource where site_id = $1
         union all select type, id, version from resource_history where site_id = $1) v
        where type = any ($2) group by type, id`,
      [site, types],
    );
    const stored = new Map(rows.map(({ name, versions }) => [name, versions]));
    const reported = new Map<string, (number | null)[]>();
    for (const [type, id] of subscriptions) {
      const range = {
        site,
        id,
        clientId,
        types: [type],
        time: null,
        upto: '1000000',
        limit: 100,
        content: null,
        maxBytes: 1e6,
      };
      let after = '0';
      for (;;) {
        const page = await at.run(findEvents({ ...range, after }));
        if (page.length === 0) break;
        expect(page.map(({ event }) => Number(event))).toEqual(page.map((_, n) => Number(after) + n + 1));
        for (const one of page)
          reported.set(`${type}/${one.id}`, [...(reported.get(`${type}/${one.id}`) ?? []), one.version]);
        after = page.at(-1)?.event ?? after;
      }
    }
    let events = 0;
    for (const name of new Set([...stored.keys(), ...first.versions.keys(), ...reported.keys()])) {
      const versions = reported.get(name) ?? [];
      events += versions.length;
      if (stored.has(name)) {
        const known = first.versions.get(name) ?? 0;
        expect(versions, `${round} ${name}`).toEqual(stored.get(name)?.filter((version) => version > known));
      } else {
        // Erased: each version once, and the erasure last.
        expect(versions.at(-1), `${round} ${name}`).toBe(null);
        const before = versions.slice(0, -1);
        expect(before, `${round} ${name}`).toEqual(before.map((_, n) => (first.versions.get(name) ?? 0) + n + 1));
      }
    }
    expect(first.versions.size, String(round)).toBeGreaterThan(0);
    expect(events, String(round)).toBeGreaterThan(5);
  }
});

test('a change costs no write for the subscriptions that it does not concern, and each subscription has its events once', async () => {
  const site = await newSite();
  const { clientId } = await createApiKey(db.client, { site, subscriptionHosts: ['hooks.example.org'] });
  const at = inSite(gateway, site);
  const context = { root: 'https://fhir.example/fhir', now: Date.now(), searches: 'listed' } as const;
  const subscribe = async (filter: string): Promise<string> => {
    const id = newId();
    await at.run(writeSubscription({ site, clientId, id }, true, { ...EACH_PATIENT, filter }, null));
    return id;
  };
  const rowsOf = async () =>
    (
      await db.client.query<{ id: string; row: string; last: number }>(
        'select subscription_id as id, xmin::text as row, last_event::int as last from subscription where site_id = $1',
        [site],
      )
    ).rows;
  const compareAll = async (): Promise<void> => {
    await numberAll(site);
    // Two runners, of which one may come too late.
    while ((await Promise.all([matchChanges(at, site, context), matchChanges(at, site, context)])).includes(true));
  };
  const all = await subscribe('');
  for (let n = 0; n < 20; n += 1) await subscribe(`name=only-${n}-x`);
  await save(site, newId(), 'a');
  await compareAll();
  const before = new Map((await rowsOf()).map(({ id, row }) => [id, row]));
  for (let n = 0; n < 3; n += 1) {
    await save(site, newId(), 'a');
    await compareAll();
  }
  const after = await rowsOf();
  expect(after.filter(({ id, row }) => before.get(id) !== row).map(({ id, last }) => [id, last])).toEqual([[all, 4]]);
  // A later one has what follows, and an older one loses nothing by it.
  const late = await subscribe('');
  await save(site, newId(), 'a');
  await compareAll();
  await save(site, newId(), 'only-3-x');
  await compareAll();
  const lasts = new Map((await rowsOf()).map(({ id, last }) => [id, last]));
  expect([lasts.get(all), lasts.get(late)]).toEqual([6, 2]);
  expect([...lasts.values()].toSorted((a, b) => b - a).slice(0, 4)).toEqual([6, 2, 1, 0]);
});

/** A subscription of a new key to each Patient. */
async function subscribePatients(site: string) {
  const { clientId } = await createApiKey(db.client, { site, subscriptionHosts: ['hooks.example.org'] });
  const key = { site, clientId, id: newId() };
  const record = { ...EACH_PATIENT, maxCount: 10 };
  const put = (isNew = false) => inSite(gateway, site).run(writeSubscription(key, isNew, record, null));
  expect(await put(true)).toEqual([{ outcome: 'created' }]);
  return { ...key, put };
}

/** As another process, which keeps its own filters. */
const processes = ['https://a.example/fhir', 'https://b.example/fhir'].map(
  (root) => ({ root, now: Date.now(), searches: 'listed' }) as const,
);

test('two processes that keep filters: subscriptions that begin, change, pause and end have exactly their events', async () => {
  const next = randomFrom(31);
  const below = (most: number) => Math.floor(next() * most);
  const site = await newSite();
  const { clientId } = await createApiKey(db.client, { site, subscriptionHosts: ['hooks.example.org'] });
  const at = inSite(gateway, site);
  interface Model {
    readonly matches: (family: string, id: string) => boolean;
    readonly filter: string;
    /** The changes that were numbered before it began. */
    readonly after: number;
  }
  const living = new Map<string, Model>();
  const families = ['Adams', 'Brown', 'Clark', 'Davis'];
  const ids = Array.from({ length: 4 }, newId);
  const put = (id: string, filter: string, isNew: boolean, status: 'requested' | 'off' = 'requested') =>
    at.run(writeSubscription({ site, clientId, id }, isNew, { ...EACH_PATIENT, filter, status }, null));
  const begin = async (id = newId()): Promise<void> => {
    const kind = below(4);
    const family = families[below(4)] ?? '';
    const one = ids[below(4)] ?? '';
    const [filter, matches]: [string, Model['matches']] =
      kind === 0
        ? ['', () => true]
        : kind === 1
          ? [`name=${family}`, (was) => was === family]
          : kind === 2
            ? [`_id=${one}`, (_, was) => was === one]
            : [`_id=${one},${ids[0]}&name=${family}`, (was, wasId) => was === family && [one, ids[0]].includes(wasId)];
    const numbered = await changes(site);
    expect(await put(id, filter, true)).toEqual([{ outcome: 'created' }]);
    living.set(id, { filter, matches, after: numbered.length });
  };
  const someone = () => [...living][below(living.size)] ?? ['', { filter: '' }];
  const names: string[] = [];
  const current = new Map<string, string>();
  for (let n = 0; n < 6; n += 1) await begin();
  for (let step = 0; step < sized(40, 1000); step += 1) {
    const kind = below(8);
    if (kind === 0) await begin();
    else if (kind === 1 && living.size > 3) {
      const [id] = someone();
      expect(await at.run(deleteSubscription({ site, clientId, id }))).toEqual([{ id }]);
      living.delete(id);
      // The same id may come again, with another filter.
      if (below(2) === 0) await begin(id);
    } else if (kind === 2) {
      const [id, { filter }] = someone();
      expect(await put(id, filter, false, below(2) === 0 ? 'off' : 'requested')).toEqual([{ outcome: 'updated' }]);
    } else {
      const id = ids[below(4)] ?? '';
      // An equal content makes no version.
      const other = families.filter((one) => one !== current.get(id));
      const family = other[below(other.length)] ?? '';
      names.push(family);
      current.set(id, family);
      await save(site, id, family);
      await numberAll(site);
    }
    const runners = below(3) === 0 ? processes : processes.slice(below(2)).slice(0, 1);
    if (below(4) > 0) await Promise.all(runners.map((each) => matchChanges(at, site, each)));
  }
  for (let more = true; more;)
    more = (await Promise.all(processes.map((each) => matchChanges(at, site, each)))).includes(true);

  const all = await changes(site);
  expect(all.length).toBe(names.length);
  const expected = [...living].map(([subscription, { matches, after, filter }]) => {
    const before = new Map<string, string>();
    const numbers: number[] = [];
    for (const [n, { number: at, id }] of all.entries()) {
      const family = names[n] ?? '';
      const was = before.get(id);
      before.set(id, family);
      if (at > after && (matches(family, id) || (was !== undefined && matches(was, id)))) numbers.push(at);
    }
    return [subscription, filter, numbers];
  });
  const { rows } = await db.client.query<{ id: string; numbers: number[] }>(
    `select subscription_id as id, numbers::int[] as numbers from subscription_event where site_id = $1 order by last_event`,
    [site],
  );
  const stored = [...living].map(([id, { filter }]) => [
    id,
    filter,
    rows.filter((row) => row.id === id).flatMap(({ numbers }) => numbers),
  ]);
  expect(stored).toEqual(expected);
  expect(expected.some(([, , numbers]) => numbers?.length !== 0)).toBe(true);
});

test('a page of changes reads no subscription that the process knows; a filter that fails ends alone', async () => {
  const { site, clientId } = await subscribePatients(await newSite());
  const at = inSite(gateway, site);
  const read: number[] = [];
  const counted: typeof at = {
    ...at,
    run: async (query, limits) => {
      const rows = await at.run(query, limits);
      if (query.text.includes('is_own')) read.push(rows.length);
      return rows;
    },
  };
  const compare = async (by = processes[0]) => {
    await save(site, newId(), 'a');
    await numberAll(site);
    read.length = 0;
    if (by !== undefined) expect(await matchChanges(counted, site, by)).toBe(false);
    return read;
  };
  await db.client.query(
    `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, status, matched)
       select $1, gen_random_uuid(), $2, 'Patient', case when n = 1 then 'gone=1' else 'name=none-' || n end, 'id-only',
              'https://hooks.example.org/', 'hooks.example.org', 'x', 100, 'active', 0 from generate_series(1, 30) n`,
    [site, clientId],
  );
  expect(await compare()).toEqual([31]);
  // The same subscriptions have joined: they are read once more by each process.
  expect(await compare()).toEqual([30]);
  expect(await compare()).toEqual([1]);
  expect(await compare(processes[1])).toEqual([30]);
  expect(await compare(processes[1])).toEqual([1]);
  const { rows } = await db.client.query<{ of: string; last: number; subscriptions: number }>(
    `select coalesce(nullif(filter, ''), 'all') as of, last_event::int as last, status, last_answer from subscription
      where site_id = $1 and (last_event > 0 or status = 'error') order by 1`,
    [site],
  );
  expect(rows).toEqual([
    { of: 'all', last: 5, status: 'requested', last_answer: null },
    { of: 'gone=1', last: 0, status: 'error', last_answer: 'filter' },
  ]);
});

test('a subscription that is changed while a notification is posted is posted again only after that one has ended', async () => {
  const site = await newSite();
  const { put } = await subscribePatients(site);
  const claim = () => inSite(gateway, site).run(claimSubscriptions(site, crypto.randomUUID(), 60, 10));
  expect(await claim()).toHaveLength(1);
  await put();
  expect(await claim()).toEqual([]);
  const { rows } = await db.client.query(
    `select lease_until between now() + interval '5 seconds' and now() + interval '10 seconds' as waits from subscription where site_id = $1`,
    [site],
  );
  expect(rows).toEqual([{ waits: true }]);
  await db.client.query('update subscription set lease_until = now() where site_id = $1', [site]);
  expect(await claim()).toHaveLength(1);
});

test('a busy subscription has no pause when the time of a claim is used up', async () => {
  const site = await newSite();
  const at = inSite(gateway, site);
  const { clientId, id } = await subscribePatients(site);
  const context = { root: 'https://fhir.example/fhir', now: Date.now(), searches: 'listed' } as const;
  for (let n = 0; n < 25; n += 1) await save(site, newId(), 'a');
  await numberAll(site);
  while (await matchChanges(at, site, context));
  await db.client.query(`update subscription set status = 'active' where subscription_id = $1`, [id]);
  let now = Date.now();
  const woken: string[] = [];
  const posts: string[] = [];
  const deps = testDeps({
    now: () => now,
    resolveHost: async () => ['8.8.8.8'],
    fetch: async (url) => {
      posts.push(url);
      // The second post ends after the budget of a claim.
      if (posts.length === 2) now += 41_000;
      return new Response(null, { status: 200 });
    },
    wake: (of) => void woken.push(of),
  });
  const next = async (): Promise<string> => {
    const lease = crypto.randomUUID();
    const [claimed] = await at.run(claimSubscriptions(site, lease, 60, 10));
    if (claimed === undefined) return 'nothing is due';
    await deliver(deps, at, { site, lease, claimed }, () => true);
    const { rows } = await db.client.query<{ delivered: string }>(
      'select delivered from subscription where subscription_id = $1',
      [id],
    );
    return rows[0]?.delivered ?? '';
  };
  expect([await next(), woken]).toEqual(['20', [site]]);
  expect([await next(), woken]).toEqual(['25', [site]]);
  expect([await next(), posts.length]).toEqual(['nothing is due', 3]);
  expect(
    (
      await at.run(
        findEvents({
          site,
          id,
          clientId,
          types: ['Patient'],
          after: '0',
          time: null,
          upto: '100',
          limit: 100,
          content: null,
          maxBytes: 1e6,
        }),
      )
    ).length,
  ).toBe(25);
});

test('events fill rows, whose pages read no more of them than they show', async () => {
  const site = await newSite();
  const at = inSite(gateway, site);
  const { clientId, id } = await subscribePatients(site);
  const context = { root: 'https://fhir.example/fhir', now: Date.now(), searches: 'listed' } as const;
  const ids: string[] = [];
  for (const count of [1, 60, 1, 60, 1, 90]) {
    const batch = Array.from({ length: count }, newId);
    ids.push(...batch.toSorted());
    await at.run(
      writeResources(
        site,
        batch.map((one) => toWrite(patient('a'), one, 'upsert')),
      ),
    );
    await numberAll(site);
    while (await matchChanges(at, site, context));
  }
  const { rows } = await db.client.query<{ last: number; count: number }>(
    'select last_event::int as last, cardinality(numbers) as count from subscription_event where subscription_id = $1 order by last_event',
    [id],
  );
  expect(rows).toEqual([
    { last: 122, count: 122 },
    { last: 213, count: 91 },
  ]);
  const range = { site, id, clientId, types: ['Patient'], time: null, content: null, maxBytes: 1e6 };
  for (const [after, upto, limit] of [
    ['0', '1000', 100],
    ['0', '1000', 122],
    ['100', '1000', 22],
    ['100', '1000', 23],
    ['121', '123', 100],
    ['122', '1000', 100],
    ['212', '1000', 100],
    ['213', '1000', 100],
  ] as const) {
    const page = await at.run(findEvents({ ...range, after, upto, limit }));
    const expected = ids.slice(Number(after), Math.min(Number(upto), Number(after) + limit));
    expect(page.map(({ event, id: of }) => [Number(event), of])).toEqual(
      expected.map((of, n) => [Number(after) + n + 1, of]),
    );
  }
});

test('a claim takes as many subscriptions as it is asked for, the longest due first', async () => {
  const site = await newSite();
  const { clientId } = await createApiKey(db.client, { site, subscriptionHosts: ['hooks.example.org'] });
  const claim = () => inSite(gateway, site).run(claimSubscriptions(site, crypto.randomUUID(), 60, 24));
  for (const analyze of [false, true]) {
    await db.client.query('delete from subscription where site_id = $1', [site]);
    await db.client.query(
      `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, next_at)
         select $1, gen_random_uuid(), $2, 'Patient', '', 'id-only', 'x', 'x', n, 1, now() - n * interval '1 minute'
           from generate_series(1, 100) n`,
      [site, clientId],
    );
    if (analyze) await db.client.query('vacuum analyze subscription');
    const claims = [await claim(), await claim(), await claim(), await claim(), await claim(), await claim()];
    expect(
      claims.map((claimed) => claimed.length),
      String(analyze),
    ).toEqual([24, 24, 24, 24, 4, 0]);
    expect(new Set(claims.flat().map((one) => one.subscription_id)).size).toBe(100);
  }
});
