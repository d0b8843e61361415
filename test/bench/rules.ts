/**
 * The cost of 20 live rules and a live code table of 100,000 rows for messages: CPU of the gateway and of PostgreSQL. Both sites have the
 * rows, but only one has them and the rules live. The table has a code of each message, so the stored Observations have a coding more.
 */
import { randomUUID } from 'node:crypto';

import type { Client } from 'pg';

import { sourceSystem } from '../../edge/store/coding-systems.ts';
import { onBothRuntimes, type PairRow, rowOf } from './pairs.ts';
import { TWENTY_RULES } from './twenty-rules.ts';

const ROWS = 100_000;
/** Short pairs, because the difference is small. */
const WRITES = 100;
const VACUUM_AFTER = 5;
/** For each row of the table. The rows of both runtimes take six minutes. */
const ROW_MS = 90_000;
const MAX_PERCENT = 5;
const MEASURED = ['HL7 ADT, patients seen before', 'HL7 ORU, patients seen before'];

export interface Row extends PairRow {
  readonly runtime: string;
  readonly what: string;
}

/** Adds a table to a site. @returns its live version, as site.code_tables has it */
async function addTable(client: Client, site: string): Promise<object> {
  const table = {
    id: randomUUID(),
    version: 1,
    content: randomUUID(),
    systems: [sourceSystem('LN'), sourceSystem('L')],
  };
  await client.query(
    `insert into code_table_row (site_id, table_id, content, system, code, application, facility, target_system, target_code,
         display, equivalence, since)
       select $1, $2, $3, $4, case n when 1 then '718-7' else 'C-' || n end, '', '', 'http://snomed.info/sct', 'S-' || n, 'Display ' || n,
              'equivalent', 1
         from generate_series(1, $5::int) n`,
    [site, table.id, table.content, sourceSystem('LN'), ROWS],
  );
  return table;
}

export const bench = (): Promise<Row[]> =>
  onBothRuntimes({}, async ({ runtime, client, sites, measure }) => {
    const tables = new Map<string, object>();
    for (const { site } of sites) tables.set(site, await addTable(client, site));
    const rules = JSON.stringify({ version: 1, rules: TWENTY_RULES });
    const begin = async (more: string, less: string): Promise<void> => {
      const setRules = 'update api_key set hl7_rules = $2 where site_id = $1';
      const setTables = 'update site set code_tables = $2 where site_id = $1';
      await client.query(setRules, [more, rules]);
      await client.query(setTables, [more, JSON.stringify([tables.get(more)])]);
      await client.query(setRules, [less, null]);
      await client.query(setTables, [less, '[]']);
    };
    const rows: Row[] = [];
    for (const what of MEASURED) {
      const pairs = await measure({ what, rowMs: ROW_MS, writes: WRITES, vacuumAfter: VACUUM_AFTER, begin });
      rows.push({ runtime, what, ...rowOf(pairs, MAX_PERCENT) });
    }
    return rows;
  });
