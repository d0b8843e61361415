/** Fills tables with a great many rows. Checks and indexes take most of the time, so they are dropped meanwhile. */
import { Client } from 'pg';

const FOREIGN_KEYS = `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
   from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`;

interface Guard {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

async function dropForeignKeys(client: Client): Promise<readonly Guard[]> {
  const { rows } = await client.query<Guard>(FOREIGN_KEYS);
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${name}`);
  return rows;
}

/** Foreign keys are dropped permanently, the indexes of names until all rows are loaded. */
export async function withoutGuards(client: Client, load: () => Promise<void>): Promise<void> {
  await dropForeignKeys(client);
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
       from pg_index join pg_class on pg_class.oid = indexrelid join pg_am on pg_am.oid = relam
      where relnamespace = 'public'::regnamespace and amname = 'gin'`,
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  await load();
  for (const { definition } of indexes) await client.query(definition);
  await client.query('vacuum analyze');
}

interface Index extends Guard {
  /** The constraint of the index; null without one. */
  readonly constraint: 'primary key' | 'unique' | null;
}

export interface Unguarded {
  readonly url: string;
  /** The tables whose indexes are all dropped meanwhile. */
  readonly tables: readonly string[];
  /** Statements about these tables at a time, when their indexes are made again. */
  readonly connections: number;
  /** For each of them. */
  readonly settings: string;
  readonly load: () => Promise<void>;
  /** How many of all indexes are there again. */
  readonly made: (indexes: number, all: number) => void;
}

/**
 * Creates all dropped indexes again in their original order, which decides among equally good plans
 * (migrations/0003_resource.sql). Foreign keys are created too, and check later writes only.
 */
export async function withoutAnyGuards({ url, tables, connections, settings, load, made }: Unguarded): Promise<void> {
  const client = new Client({ connectionString: url });
  // If the load fails, the server ends this connection later: that error would hide the first one.
  client.on('error', () => undefined);
  await client.connect();
  const keys = await dropForeignKeys(client);
  const { rows: indexes } = await client.query<Index>(
    `select i.indrelid::regclass::text as table, quote_ident(c.relname) as name, pg_get_indexdef(c.oid) as definition,
            case k.contype when 'p' then 'primary key' when 'u' then 'unique' end as constraint
       from pg_index i join pg_class c on c.oid = i.indexrelid left join pg_constraint k on k.conindid = c.oid and k.contype in ('p', 'u')
      where i.indrelid = any ($1::regclass[]) order by c.oid`,
    [tables],
  );
  for (const { table, name, constraint } of indexes)
    await client.query(constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${name}`);
  await load();

  // The largest tables last longest: tables(…) is in the order of their bytes.
  const byTable = Map.groupBy(indexes, ({ table }) => table);
  const { rows: sizes } = await client.query<{ table: string }>(
    'select t::regclass::text as table from unnest($1::regclass[]) t order by pg_table_size(t) desc',
    [tables],
  );
  const left = sizes.map(({ table }) => byTable.get(table) ?? []);
  let done = 0;
  const maker = async (): Promise<void> => {
    const own = new Client({ connectionString: url });
    await own.connect();
    await own.query(settings);
    for (let of = left.shift(); of !== undefined; of = left.shift()) {
      for (const { table, name, definition, constraint } of of) {
        await own.query(definition);
        if (constraint !== null)
          await own.query(`alter table ${table} add constraint ${name} ${constraint} using index ${name}`);
        made((done += 1), indexes.length);
      }
    }
    await own.end();
  };
  await Promise.all(Array.from({ length: connections }, maker));
  for (const { table, name, definition } of keys)
    await client.query(
      `alter table ${table} add constraint ${name} ${definition}${/ not valid$/i.test(definition) ? '' : ' not valid'}`,
    );
  await client.end();
}
