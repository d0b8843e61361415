/** Two sites whose rows have the same ids, so that only the condition on the site keeps them apart. */
import type { Client } from 'pg';

/** The tables of patient records, in an order that foreign keys allow. */
export const RECORD_TABLES: readonly string[] = [
  'resource',
  'resource_history',
  'resource_identifier',
  'resource_token',
  'resource_date',
  'patient_search',
  'study',
  'report',
  'patient_identity',
  'patient_trait',
  'hl7_identity',
  'hl7_result',
  'hl7_precedence',
];
export const TWIN = 'TWIN';

/** Copies the rows of a site to another site: the ids stay, versions and texts differ. */
export async function copySite(client: Client, from: string, to: string, tables = RECORD_TABLES): Promise<void> {
  for (const table of tables) {
    const { rows } = await client.query<{ column: string }>(
      `select quote_ident(column_name) as column from information_schema.columns
        where table_name = $1 and table_schema = 'public' and is_generated = 'NEVER'`,
      [table],
    );
    const columns = rows.map(({ column }) => column);
    const values = columns.map((column) => {
      if (column === 'site_id') return '$2::uuid';
      if (column === 'version' || column === 'place') return `${column} + 40`;
      if (column === 'client_id') return '(select client_id from api_key where site_id = $2)';
      if (column === 'body') return `body || ',"language":"${TWIN}"'`;
      if (column === 'fields') return `'{}'`;
      if (column === 'trait') return `trait || '${TWIN}'`;
      return column;
    });
    await client.query(
      `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')} from ${table} where site_id = $1
        ${table === 'resource' ? `order by type <> 'Patient'` : ''}`,
      [from, to],
    );
  }
}
