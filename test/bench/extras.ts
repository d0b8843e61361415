/** Things that one site has and another has not, for `npm run bench pairs`. */
import { randomUUID } from 'node:crypto';

import type { Client } from 'pg';

import { senderRules } from '../../edge/members/sender-rules.ts';
import { sourceSystem } from '../../edge/store/coding-systems.ts';
import { RULE_RECIPES } from '../inputs/rule-recipes.ts';
import { until } from '../stack/services/until.ts';

export interface Extra {
  readonly name: string;
  /** The measured operations. */
  readonly operations: readonly string[];
  /** Requests to each site in a pair. The smaller the difference, the shorter the pair. */
  readonly requests: number;
  /** The tables are vacuumed after so many pairs. */
  readonly vacuumAfter: number;
  /** For each row of the table. */
  readonly seconds: number;
  /** The target: no operation may cost more, in percent. */
  readonly maxPercent?: number;
  /** Gives it to one site, and takes it from the other. */
  readonly give: (client: Client, to: string, from: string) => Promise<void>;
  /** Waits for what the requests to a site leave behind. */
  readonly ended?: (client: Client, site: string) => Promise<unknown>;
}

const ADT = 'HL7 ADT, patients seen before';
const ORU = 'HL7 ORU, patients seen before';

/** The commonest rules, and some whose conditions are compared with each message. None rejects a message of the bench. */
const TWENTY_RULES = senderRules.length(20).parse([
  ...RULE_RECIPES.flatMap(({ rules }) => rules).filter(({ verb }) => verb !== 'reject'),
  { verb: 'reject', text: 'not of the bench', when: { all: [{ path: 'PID-5', like: '*NOBODY*' }] } },
  { verb: 'default', path: 'PV1-2', value: 'O', when: { types: ['ADT^A04', 'ADT^A08'] } },
  // The result has as much content as without the rule.
  { verb: 'set', path: 'PID-11.3', value: 'TOWN', when: { all: [{ path: 'PID-11.6', equals: 'DE' }] } },
  { verb: 'map', path: 'OBX-6', values: { 'G/DL': 'g/dL' } },
  { verb: 'trim', path: 'OBX-5', when: { all: [{ path: 'OBX[OBX-2=ST]-5', is: 'present' }] } },
  { verb: 'clear', path: 'PID-19', when: { types: ['ADT', 'ORU'] } },
  { verb: 'join', path: 'NTE-3', by: ' ', when: { types: ['ORU'] } },
]);
const CODES = 100_000;

/** The rows of the code table are in both sites. One of them is for a code of each ORU, whose Observation has a coding more. */
async function giveRules(client: Client, to: string, from: string): Promise<void> {
  const table = { id: randomUUID(), version: 1, content: randomUUID(), systems: ['LN', 'L'].map(sourceSystem) };
  for (const site of [to, from])
    await client.query(
      `insert into code_table_row (site_id, table_id, content, system, code, application, facility, target_system, target_code,
           display, equivalence, since)
         select $1, $2, $3, $4, case n when 1 then '718-7' else 'C-' || n end, '', '', 'http://snomed.info/sct', 'S-' || n, 'Display ' || n,
                'equivalent', 1
           from generate_series(1, $5::int) n`,
      [site, table.id, table.content, sourceSystem('LN'), CODES],
    );
  const rules = JSON.stringify({ version: 1, rules: TWENTY_RULES });
  await client.query('update api_key set hl7_rules = case site_id when $1 then $2::jsonb end', [to, rules]);
  const tables = JSON.stringify([table]);
  await client.query(`update site set code_tables = case site_id when $1 then $2::jsonb else '[]' end`, [to, tables]);
}

/** @param matching subscriptions of three that match each write. The others are of another type, or of another code or name. */
async function giveSubscriptions(client: Client, to: string, matching: 0 | 1): Promise<void> {
  await client.query(`update api_key set subscription_hosts = '{hooks.example.org}'; select change_ask()`);
  await client.query('delete from subscription');
  await client.query(
    `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, status,
         matched)
       select k.site_id, gen_random_uuid(), k.client_id, (array['Condition', 'Observation', 'Patient'])[1 + n % 3],
              case when n % 3 = 0 or n % 6 < 3 and $2 = 1 then '' when n % 12 < 6 and n % 3 = 1 then 'patient=' || gen_random_uuid()
                   when n % 12 < 6 then '_id=' || gen_random_uuid() when n % 3 = 1 then 'code=none-' || n else 'name=none-' || n end,
              'id-only', 'https://hooks.example.org/', 'hooks.example.org', 'bench', 100, 'active', p.last_number
         from (select * from api_key a where a.site_id = $1 and 'fhir' = any (a.protocols) limit 1) k
         join change_position p on p.site_id = k.site_id cross join generate_series(1, 1000) n`,
    [to, matching],
  );
  await client.query('vacuum analyze subscription');
}

const feedIsDone = (client: Client, site: string): Promise<unknown> =>
  until('the feed is done', async () => {
    const { rows } = await client.query<{ done: boolean }>(
      `select not exists (select from resource r where r.site_id = p.site_id and r.written_by >= p.below)
          and not exists (select from subscription s
                           where s.site_id = p.site_id and coalesce(s.matched, p.matched) < p.last_number) as done
         from change_position p where p.site_id = $1`,
      [site],
    );
    return rows[0]?.done;
  });

const SUBSCRIBED = { operations: ['Observation create', ADT, ORU], requests: 250, vacuumAfter: 1, seconds: 26 };

export const EXTRAS: readonly Extra[] = [
  {
    name: '20 rules, 100,000 codes',
    operations: [ADT, ORU],
    requests: 100,
    vacuumAfter: 5,
    seconds: 90,
    maxPercent: 5,
    give: giveRules,
  },
  {
    // The next wake-up numbers nothing, as after a restoration into another server. An open transaction would keep dead rows.
    name: '1,000 subscriptions, feed held',
    ...SUBSCRIBED,
    maxPercent: 2,
    async give(client, to) {
      await giveSubscriptions(client, to, 1);
      await client.query('update change_position set below = 4000000000000000000');
    },
  },
  {
    name: '1,000 subscriptions, with the feed',
    ...SUBSCRIBED,
    async give(client, to) {
      await giveSubscriptions(client, to, 0);
      await client.query('update change_position set below = pg_snapshot_xmin(pg_current_snapshot())::text::bigint');
    },
    ended: feedIsDone,
  },
];
