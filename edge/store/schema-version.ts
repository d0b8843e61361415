/** The state of the database's schema, compared with the schema that this code needs. */
import type { Query } from '../deps.ts';
import { FUNCTIONS } from './schema.generated.ts';
import { read } from './sql.ts';

export interface SchemaRow {
  /** The number of the newest migration in the database, 0 for none. */
  readonly version: number;
  /** Those of FUNCTIONS that the database does not have. */
  readonly missing: readonly string[];
  /** False of a replica, after a fail-over, and where an operator or a limit of storage has stopped all writes. */
  readonly is_writable: boolean;
  /** Row-level security applies to the current role (edge/docs/behaviour.md, Row-level security). */
  readonly is_walled: boolean;
}

/**
 * Reads the state of the schema. Ready is `version >= SCHEMA_VERSION` with nothing missing: the schema is updated
 * first, the code follows, and in between the older code still serves.
 */
export function schemaVersion(): Query<SchemaRow> {
  return read<SchemaRow>`select (select coalesce(max(version), 0) from schema_migration) as version,
      array(select n from unnest(${FUNCTIONS}::text[]) n
             where not exists (select from schema_function f where f.name = n) order by n) as missing,
      current_setting('default_transaction_read_only') = 'off' and not pg_is_in_recovery() as is_writable,
      row_security_active('resource') as is_walled`;
}
