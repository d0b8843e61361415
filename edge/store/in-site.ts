/**
 * Reads and writes a site's data: the first statement of each batch names the site. From then on the database shows and
 * accepts only the rows of that site (edge/docs/behaviour.md, Row-level security). The first statement of a request with an
 * access token, assert_caller, does the same.
 */
import type { Database, Query } from '../deps.ts';
import { read } from './sql.ts';

/** The first statement of a batch. It applies until the transaction ends. @param site null: only rows without a site */
export const enterSite = (site: string | null): Query => ({
  ...read`select set_config('gateway.site', ${site ?? ''}, true)`,
  ...(site === null ? {} : { site }),
});

/** A database whose every batch begins with `enterSite`. */
export const inSite = (database: Database, site: string | null): Database => ({
  async run(query, limits) {
    const [, rows] = await database.batch([enterSite(site), query] as const, limits);
    return rows;
  },
  async batch(queries, limits) {
    const [, ...results] = await database.batch([enterSite(site), ...queries] as const, limits);
    return results;
  },
});
