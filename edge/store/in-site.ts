/**
 * What a site's data are asked for with: the first statement of each batch says which site it is about, and from then on
 * the database shows the rows of that site and takes no others (edge/docs/behaviour.md, Second wall). The first statement of a
 * request with an access token, assert_caller, does the same.
 */
import type { Database, Query } from '../deps.ts';
import { read } from './sql.ts';

/** The statement alone. It counts until its transaction ends. @param site null: what belongs to the gateway, of no site */
export const enterSite = (site: string | null): Query => ({
  ...read`select set_config('gateway.site', ${site ?? ''}, true)`,
  ...(site === null ? {} : { site }),
});

/** The same database, for what is of one site. */
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
