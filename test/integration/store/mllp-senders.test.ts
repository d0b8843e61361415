/** The keys that PostgreSQL finds for an MLLP sender: all that may be meant, by index however many keys there are. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { allowedIps } from '../../../edge/store/hl7.ts';
import { parseAddress, parseRange, printAddress, rangeContains } from '../../../shared/ip.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { createSite } from '../../stack/services/seed.ts';

const db = await useTestDatabase();

async function isFound(pairs: readonly { readonly range: string; readonly address: string }[]): Promise<boolean[]> {
  const { rows } = await db.client.query<{ found: boolean }>(
    `select mllp_networks(array[range]) && mllp_networks_of(address) as found
       from unnest($1::text[], $2::text[]) with ordinality as pair (range, address, n) order by n`,
    [pairs.map(({ range }) => range), pairs.map(({ address }) => address)],
  );
  return rows.map(({ found }) => found);
}

test.each([
  ['*', '192.0.2.7', true],
  ['*', '2001:db8::1', true],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.8', false],
  ['192.0.2.99/24', '192.0.2.8', true],
  ['0.0.0.0/0', '192.0.2.8', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '192.0.2.7', true],
  ['::ffff:192.0.2.7', '192.0.2.7', true],
  ['::ffff:192.0.2.7', '192.0.2.8', false],
  ['::ffff:c000:200/120', '192.0.2.8', true],
  ['::ffff:c000:200/120', '192.0.3.8', false],
  ['2001:DB8::/32', '2001:db8:9::1', true],
  ['2001:DB8::/32', '2001:db9::', false],
  ['nonsense', '192.0.2.7', false],
  ['', '192.0.2.7', false],
  ['192.0.2.7', 'nonsense', false],
  ['192.0.2.7', '', false],
])('for a key that allows %j the sender %j: %s', async (range, address, expected) => {
  expect(await isFound([{ range, address }])).toEqual([expected]);
});

test('any range that contains an address is found', async () => {
  const byte = fc.oneof(fc.constantFrom(0, 10, 255), fc.integer({ min: 0, max: 255 }));
  const ipv4 = fc.tuple(byte, byte, byte, byte).map((octets) => octets.join('.'));
  const group = fc.constantFrom('0', '1', 'ffff', 'db8', '2001');
  const ipv6 = fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':'));
  const mapped = ipv4.map((text) => `::ffff:${text}`);
  const range = fc.oneof(
    fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })),
    fc.tuple(fc.oneof(ipv6, mapped, fc.constant('::')), fc.integer({ min: 0, max: 128 })),
  );
  const pair = fc
    .tuple(range, fc.oneof(ipv4, ipv6, fc.constant(undefined)), byte)
    .chain(([[network, bits], far, last]) => {
      // Mostly a neighbour of the network, else the range would hardly ever hold it.
      const near = parseAddress(network) ?? new Uint8Array(16);
      near[15] = last;
      const address = printAddress(far === undefined ? near : (parseAddress(far) ?? near));
      return fc.constantFrom({ range: `${network}/${bits}`, address }, { range: network, address });
    });
  const pairs = fc.sample(pair, { numRuns: 3000, seed: 6 });
  const held = pairs.map(({ range, address }) => {
    const read = parseRange(range);
    const bytes = parseAddress(address);
    return read !== undefined && bytes !== undefined && rangeContains(read, bytes);
  });
  const found = await isFound(pairs);
  expect(held.filter(Boolean).length).toBeGreaterThan(500);
  expect(pairs.filter((_, i) => held[i] === true && found[i] !== true)).toEqual([]);
  // It narrows: of what no range holds hardly anything is found, which are IPv6 ranges that hold all of IPv4.
  const more = pairs.filter((_, i) => held[i] === false && found[i] === true);
  expect(more.filter(({ range }) => Number(range.split('/')[1] ?? 128) > 96)).toEqual([]);
});

/** The generic plan of the one query in a function, with the settings of `mllp_candidates`. @param args texts */
async function planOf(name: string, args: readonly string[]): Promise<string> {
  const { rows: functions } = await db.client.query<{ source: string; names: string[] | null }>(
    'select prosrc as source, proargnames[1:pronargs] as names from pg_proc where proname = $1',
    [name],
  );
  const { source = '', names } = functions[0] ?? {};
  const query = /select[^;]*?(?=\s+loop|\s*$)/.exec(source)?.[0] ?? '';
  const text = (names ?? []).reduce((sql, argument, n) => sql.replaceAll(argument, `$${n + 1}`), query);
  await db.client.query('begin; set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off');
  await db.client.query(`prepare asked (${args.map(() => 'text').join(', ') || 'text'}) as ${text}`);
  const values = args.map((value) => db.client.escapeLiteral(value)).join(', ') || `''`;
  const { rows } = await db.client.query<Record<'QUERY PLAN', string>>(`explain execute asked (${values})`);
  await db.client.query('deallocate asked; rollback');
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test('among many keys by index', async () => {
  const site = await createSite(db.client);
  await db.client.query(
    `insert into api_key (site_id, client_id, name, status, jwks, token_ttl_seconds, allowed_scopes, protocols,
        allowed_ips, hl7_sender_application, hl7_sender_facility)
     select $1, 'svc-' || gen_random_uuid(), 'Key ' || i, 'active', '{"keys":[]}', 300, '{}', '{hl7-mllp}',
        array['10.' || i % 250 || '.' || i / 250 || '.7', '172.16.' || i % 250 || '.0/24'],
        case when i % 3 = 0 then 'APP-' || i end, case when i % 5 = 0 then 'FAC-' || i end
       from generate_series(1, 2000) i`,
    [site],
  );
  await db.client.query('analyze api_key');
  const sender = ['10.4.0.7', 'APP-9', 'FAC-10', ''];
  const { rows: found } = await db.client.query<{ allowed_ips: string[] }>(
    'select * from mllp_candidates($1, $2, $3, $4)',
    sender,
  );
  expect(new Set(found.map(({ allowed_ips: [first] }) => first))).toEqual(
    new Set(['10.4.0.7', '10.9.0.7', '10.10.0.7']),
  );
  const plan = await planOf('mllp_candidates', sender);
  for (const index of ['allowed_networks', 'sender_application', 'sender_facility']) {
    expect(plan).toContain(`api_key_${index}`);
  }
  expect(plan).not.toContain('Seq Scan on api_key');
});

test('finds the addresses of all keys for MLLP by their index', async () => {
  const { rows } = await db.client.query<{ range: string }>(allowedIps().text);
  expect(rows.map(({ range }) => range)).toContain('10.4.0.7');
  // A partial index is used only where the query says what its predicate says.
  expect(await planOf('mllp_ranges', [])).toContain('on api_key_mllp');
});
