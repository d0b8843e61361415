/**
 * The newest migration this code was written for. A Worker cannot list `migrations/`, so the number stands here, and a
 * unit test holds it against the folder.
 */
import type { Query } from '../deps.ts';
import { sql } from './sql.ts';

/** Number of the newest numbered file in `migrations/`. */
export const SCHEMA_VERSION = 7;

/**
 * The number of the newest migration in the database, 0 for none. Ready is `version >= SCHEMA_VERSION`: the schema goes
 * forward first, the code follows, and in between the older code still serves.
 */
export function schemaVersion(): Query<{ version: number }> {
  return sql<{ version: number }>`select coalesce(max(version), 0) as version from schema_migration`;
}
