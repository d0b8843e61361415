/** The change feeds of the sites (migrations/0009_change.sql). */
import type { Query } from '../deps.ts';
import { read, sql } from './sql.ts';

export const CHANGES_KIND = 'changes';

/** Begins the feeds of sites with subscriptions, and adds the job that serves them, which does not end. */
export const askForChanges = (): Query => sql`select change_ask()`;

/** The sites with a change feed. */
export const sitesWithChanges = (): Query<{ readonly site: string }> =>
  read<{ site: string }>`select change_sites() as site`;

export interface NumberedRow {
  readonly has_more: boolean;
  /** Versions may remain: they are not settled, or another runner numbers. */
  readonly is_waiting: boolean;
}

/** Numbers settled versions of a site, about `limit`. No row if the site has no feed, or one of another server. */
export const numberChanges = (site: string, limit: number): Query<NumberedRow> =>
  sql<NumberedRow>`select has_more, is_waiting from change_number(${site}::uuid, ${limit}::integer)`;
