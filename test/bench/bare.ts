/**
 * The bare statements that leave in the database what an operation of the gateway leaves: its rows, of every table, written
 * by a prepared insert each, in one transaction and one round trip, by the owner, to whom no policy applies. It is the floor
 * under which PostgreSQL's time cannot be brought by how it is asked. A row that was changed, not made, is left as it is here,
 * so that the floor is rather too low.
 */
import { randomUUID } from 'node:crypto';

import { Client } from 'pg';

/** A statement with parameters for one run, named so that it is prepared once. */
export interface Bare {
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | null)[];
}

interface Insert {
  readonly table: string;
  readonly text: string;
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Tables that others refer to. */
const FIRST = ['resource', 'hl7_message', 'study'];
/** What names what is made, and so is another with each run. */
const OWN_IDS: Readonly<Record<string, string>> = {
  resource: 'id',
  hl7_message: 'message_id',
  study: 'study_id',
  audit: 'audit_id',
};

const rank = (table: string): number => (FIRST.includes(table) ? FIRST.indexOf(table) : FIRST.length);

/** The rows that the newest transaction with a row in the audit has written, by table. */
async function insertsOfNewest(client: Client): Promise<{ readonly inserts: Insert[]; readonly ids: string[] }> {
  const { rows: newest } = await client.query<{ xid: string }>(
    'select xmin::text as xid from audit order by at desc limit 1',
  );
  const { rows: columns } = await client.query<{ table: string; column: string; type: string }>(
    `select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type
       from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped
        and a.attgenerated = '' and c.relname <> 'usage'
      order by c.relname, a.attnum`,
  );
  const inserts: Insert[] = [];
  const ids = new Set<string>();
  for (const [table, of] of Map.groupBy(columns, (column) => column.table)) {
    const { rows } = await client.query<(string | null)[]>({
      text: `select ${of.map(({ column }) => `"${column}"::text`).join(', ')} from ${table} where xmin::text = $1 order by ${table === 'resource' ? "type <> 'Patient'" : '1'}`,
      values: [newest[0]?.xid],
      rowMode: 'array',
    });
    if (rows.length === 0) continue;
    for (const [index, { column }] of of.entries())
      if (OWN_IDS[table] === column) for (const row of rows) ids.add(row[index] ?? '');
    const names = of.map(({ column }) => `"${column}"`).join(', ');
    const text = `insert into ${table} (${names}) values (${of.map(({ type }, n) => `$${n + 1}::${type}`).join(', ')})
      on conflict do nothing`;
    inserts.push({ table, text, rows });
  }
  return { inserts: inserts.toSorted((a, b) => rank(a.table) - rank(b.table)), ids: [...ids] };
}

/**
 * @param words that are another with each run, as a control id is: unique in the database; so has to be a new patient's number
 * @returns the statements of a run, each time with new ids and words
 */
export async function bareWrites(client: Client, words: readonly string[]): Promise<() => readonly Bare[]> {
  const { inserts, ids } = await insertsOfNewest(client);
  const numbers = inserts.find(({ table }) => table === 'patient_identity')?.rows ?? [];
  if (numbers.some((row) => !row.some((text) => words.some((word) => text?.includes(word)))))
    throw new Error('the copied request makes a patient: copies of it would be patients with one number');
  return () => {
    const made = new Map(ids.map((id) => [id, randomUUID() as string]));
    const run = randomUUID().slice(0, 12);
    const anew = (text: string | null): string | null => {
      if (text === null) return null;
      let result = text;
      for (const [id, other] of made) result = result.replaceAll(id, other);
      for (const word of words) result = result.replaceAll(word, `${word}-${run}`);
      return result;
    };
    return inserts.flatMap(({ table, text, rows }) =>
      rows.map((row) => ({ name: `bare ${table}`, text, values: row.map(anew) })),
    );
  };
}

/** Runs them in one transaction and one round trip. */
export async function runBare(client: Client, statements: readonly Bare[]): Promise<void> {
  const begin: Bare = { name: 'begin', text: 'begin', values: [] };
  const commit: Bare = { name: 'commit', text: 'commit', values: [] };
  await Promise.all(
    [begin, ...statements, commit].map(({ name, text, values }) => client.query({ name, text, values: [...values] })),
  );
}
