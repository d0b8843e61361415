/**
 * Each query of the message log is answered from an index. The sites are one with very many messages, a small one among many, and a new site that the statistics do not know. A page costs what it shows, not what is stored.
 */
import { randomUUID } from 'node:crypto';

import { beforeAll, describe, expect, test } from 'vitest';

import { parameter } from '../../../edge/platform/parameter.ts';
import { readPatientText } from '../../../edge/store/message-key.ts';
import { ANY_MESSAGE, type MessageFilter, type MessagePlace } from '../../../edge/store/message-candidates.ts';
import { type ListedRow, listMessages } from '../../../edge/store/message-search.ts';
import { messagesElsewhere } from '../../../edge/store/messages-elsewhere.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { explain } from '../../stack/tools/plan.ts';
import { sized } from '../../stack/tools/size.ts';
import { withoutGuards } from '../../stack/tools/without-guards.ts';

const MESSAGES = sized(50_000, 1_000_000);
const SMALL_SITES = sized(50, 500);
const UNKNOWN_MESSAGES = 10_000;

const db = await useTestDatabase();
/** Plans are made for the application's role: policies count. */
const application = await db.connect();
let large: string;
let small: string;
let unknown: string;
/** A key of the large site that has sent nothing for long. */
let silent: string;

/**
 * Messages a second apart, about a tenth as many patients. One name is common, each tenth message has another, and one
 * is rare. Every thousandth message is rejected, every hundredth has a warning.
 */
async function populate(site: string, clientId: string, count: number): Promise<void> {
  await db.client.query(
    `insert into hl7_message (site_id, message_id, client_id, received_at, source, source_address,
        sending_application, sending_facility, control_id, sha256, message_type, raw, outcome, errors)
     select $1, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2, timestamptz '2026-01-01' + n * interval '1 s',
        'http', '192.0.2.1', 'ADT', 'EAST', 'MSG' || n, md5(n::text), 'ADT^A08', ''::bytea,
        case when n % 1000 = 7 then 'AE' else 'AA' end, '[]'
       from generate_series(1, $3::int) n`,
    [site, clientId, count],
  );
  await db.client.query(
    `insert into hl7_message_key (site_id, key, received_at, message_id, number, field, value, authority)
     select $1, k.key, timestamptz '2026-01-01' + n * interval '1 s', ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
        k.number, k.field, k.value, ''
       from generate_series(1, $2::int) n cross join lateral (values
         ('#' || n % ($2::int / 10), 1, 'PID-3', ''),
         ('anna', 2, 'PID-5', ' anna ' || 'maria' || n % 10 || ' '),
         ('maria' || n % 10, 3, 'PID-5', ' anna ' || 'maria' || n % 10 || ' '),
         (case when n % 1000 = 7 then '!ambiguous-patient' end, 4, 'PID-3', 'E 205'),
         (case when n % 100 = 1 then '!stale' end, 5, 'OBX', 'W 205'),
         (case when n = 77 then 'fitzgerald' end, 6, 'PID-5', ' anna fitzgerald ')) k(key, number, field, value)
      where k.key is not null`,
    [site, count],
  );
}

const siteWith = async (count: number): Promise<string> => {
  const site = await createSite(db.client);
  const { clientId } = await createApiKey(db.client, { site, protocols: ['hl7'] });
  await populate(site, clientId, count);
  return site;
};

beforeAll(async () => {
  await withoutGuards(db.client, async () => {
    large = await siteWith(MESSAGES);
    for (let n = 0; n < SMALL_SITES; n += 1) small = await siteWith(100);
  });
  silent = (await createApiKey(db.client, { site: large, protocols: ['hl7'] })).clientId;
  await db.client.query(`update hl7_message set client_id = $2 where site_id = $1 and control_id = 'MSG5'`, [
    large,
    silent,
  ]);
  await db.client.query('analyze hl7_message; analyze hl7_message_key');
  unknown = await siteWith(UNKNOWN_MESSAGES);
}, 900_000);

const idsOf = (rows: readonly { readonly message_id: string }[]) => rows.map(({ message_id }) => message_id);

// Some are listed from the index of trigrams. A walk finds those that nearly all have, and those that are too short for it.
test.each(['msg77', 'MSG', '7', '7777', '99', 'sg1'])('the pages of control ids with %s', async (text) => {
  for (const site of [large, small, unknown]) {
    const { rows } = await db.client.query<{ message_id: string; received_at: string }>(
      `select message_id, received_at::text from hl7_message where site_id = $1 and strpos(lower(control_id), lower($2)) > 0
        order by received_at desc, message_id desc limit 1001`,
      [site, text],
    );
    await application.query(`select set_config('gateway.site', $1, false)`, [site]);
    const page = async (place: MessagePlace | null) => {
      const query = listMessages(site, { ...ANY_MESSAGE, text }, place, 50);
      return (await application.query<ListedRow>(query.text, query.params.map(parameter))).rows;
    };
    const first = await page(null);
    expect(idsOf(first)).toEqual(idsOf(rows.slice(0, 51)));
    expect(first[0]?.total).toBe(rows[0] && rows.length);
    const at = rows[60];
    if (at === undefined) continue;
    const than = [at.received_at, at.message_id];
    expect(idsOf(await page({ side: 'older', than }))).toEqual(idsOf(rows.slice(61, 112)));
    expect(idsOf(await page({ side: 'newer', than }))).toEqual(idsOf(rows.slice(9, 60)));
  }
});

/** The tables that have rows in this database. */
const messageTables = (tables: readonly (string | undefined)[]) =>
  tables.filter((table) => /^hl7_message(_key)?$/.test(table ?? ''));

const of = (patient: string): Partial<MessageFilter> => ({ patient: readPatientText(patient) ?? null });

/** The limits of one answer: the count reads up to a thousand of each key, and a page reads what it shows. */
const MAX_PAGES = 12_000;
const MAX_ROWS = 12_000;

const CASES: readonly (readonly [string, Partial<MessageFilter>])[] = [
  ['all', {}],
  ['a number', of('77')],
  ['a number without a message', of('unknown')],
  ['a number since a moment', { ...of('77'), from: '2026-01-01T00:01:00Z' }],
  ['a number of an authority', of('77^^^EAST&1.2.3')],
  ['a name that all have', of('anna')],
  ['a name of each tenth message', of('maria3')],
  ['the beginning of ten names', of('mari')],
  ['two words, one of them common', of('fitzgerald anna')],
  ['a name of the common one', { ...of('anna maria7'), type: 'ADT' }],
  ['a name without a message', of('zzz')],
  ['a control id', { text: 'msg77' }],
  ['a part that all control ids have', { text: 'msg' }],
  ['a control id without a message', { text: 'nosuchthing' }],
  ['a sender', { text: 'east' }],
  ['a reason', { reason: 'ambiguous-patient' }],
  ['a code', { reason: '205' }],
  ['a place that nothing is wrong with', { reason: 'PID-77' }],
  ['errors', { outcome: 'errors' }],
  ['AE', { outcome: 'AE' }],
  ['warnings', { outcome: 'warnings' }],
];

describe.each<[string, () => string]>([
  [`a site of ${MESSAGES} messages`, () => large],
  [`a site of a hundred among ${SMALL_SITES}`, () => small],
  ['a site that the statistics do not know', () => unknown],
])('%s', (_, site) => {
  for (const [label, filter] of CASES) {
    test(label, async () => {
      const { whole, rows, pages } = await explain(
        application,
        site(),
        listMessages(site(), { ...ANY_MESSAGE, ...filter }, null, 50),
      );
      expect(messageTables(whole)).toEqual([]);
      // Until the statistics know a site, each of its messages may be looked at once. The messages of one key may be sorted.
      const most = site() === unknown ? UNKNOWN_MESSAGES + 1 : label === 'a sender' ? MESSAGES + 2 : MAX_ROWS;
      expect(rows).toBeLessThan(most);
      // The index alone counts the messages of one word, once VACUUM has seen them.
      const isOfOneWord = site() !== unknown && /^(?:a name|the beginning) of|^a name that/.test(label);
      expect(pages).toBeLessThan(isOfOneWord && !/common/.test(label) ? MAX_PAGES / 10 : MAX_PAGES);
    });
  }

  test('other filters', async () => {
    const { whole, rows } = await explain(
      application,
      site(),
      messagesElsewhere(site(), readPatientText('anna') ?? null, 'msg'),
    );
    expect(whole).not.toContain('hl7_message_key');
    expect(rows).toBeLessThan(site() === unknown ? UNKNOWN_MESSAGES + 1 : MAX_ROWS);
  });
});

test('the messages of a key that is silent, and a page in the middle', async () => {
  const ofKey = await explain(application, large, listMessages(large, { ...ANY_MESSAGE, clientId: silent }, null, 50));
  expect(ofKey.rows).toBeLessThan(100);
  const middle = ['2026-01-01T03:00:00.000000Z', randomUUID()];
  for (const side of ['older', 'newer'] as const) {
    for (const filter of [ANY_MESSAGE, { ...ANY_MESSAGE, ...of('anna') }]) {
      const { whole, rows } = await explain(
        application,
        large,
        listMessages(large, filter, { side, than: middle }, 50),
      );
      expect(messageTables(whole)).toEqual([]);
      expect(rows).toBeLessThan(1_100);
    }
  }
  const withPatients = await explain(application, large, listMessages(large, ANY_MESSAGE, null, 50, true));
  expect(messageTables(withPatients.whole)).toEqual([]);
  expect(withPatients.rows).toBeLessThan(MAX_ROWS);
});
