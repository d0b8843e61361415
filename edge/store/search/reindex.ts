/** What of stored resources is searched, taken out anew: their content, versions and times stay as they are. */
import { isResourceType } from '../../../shared/resource-type.ts';
import type { Query } from '../../deps.ts';
import { knownBy } from '../patient-identity.ts';
import { type PageRow, withinBudget } from '../page.ts';
import { parseStored, type StoredResource } from '../resource.ts';
import { sql } from '../sql.ts';
import { searchRows } from './extract.ts';
import { GENERATION } from './parameters.ts';

/** After this resource, in the order of type and id; ids are UUIDs. */
export interface ReindexPosition {
  readonly type: string;
  readonly id: string;
}

/** Before every resource. */
export const REINDEX_START: ReindexPosition = { type: '', id: '00000000-0000-0000-0000-000000000000' };

/** One resource more than `limit`, if there is one. @see toPage */
export function resourcesAfter(
  site: string,
  { type, id }: ReindexPosition,
  limit: number,
  maxBytes: number,
): Query<PageRow> {
  const rows = `select r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id, null::text as sort_key
    from resource r where r.site_id = $1::uuid and (r.type, r.id) > ($2, $3::uuid)
   order by r.type, r.id limit $4::integer`;
  return { text: withinBudget(rows, 'p.type, p.id', 'gateway', maxBytes), params: [site, type, id, limit + 1] };
}

/** Leaves alone what has another version by now: it was written together with what is searched of it. */
export function reindexResources(site: string, resources: readonly StoredResource[]): Query {
  const rows = resources.map((stored) => {
    const { type, id, version } = stored;
    if (!isResourceType(type)) throw new TypeError('the column has a check');
    const resource = parseStored(stored);
    const known = type === 'Patient' ? knownBy(resource) : null;
    return { type, id, version, known, ...searchRows(type, resource) };
  });
  return sql`select resource_reindex(${site}::uuid, ${JSON.stringify(rows)}::json)`;
}

/**
 * A reindexing begins: what older releases write from here on is seen when it ends (migrations/functions/search_lag.sql). A
 * runner that comes late does not begin anew what others have gone on with.
 */
export function beginFilling(site: string, job: string): Query {
  return sql`update search_behind set filling = ${GENERATION}::integer
    where site_id = ${site}::uuid
      and exists (select from job j where j.job_id = ${job}::uuid and j.cursor ->> 'type' = ${REINDEX_START.type})`;
}

/** It has ended: all that the site stores is indexed, unless an older release has written meanwhile. */
export function endFilling(site: string): Query {
  return sql`update search_behind set generation = ${GENERATION}::integer, filling = null
    where site_id = ${site}::uuid and filling = ${GENERATION}::integer`;
}

/** The sites of which not all is indexed for what is searched. */
export function sitesBehind(sites: readonly string[]): Query<{ readonly site_id: string }> {
  return sql<{ site_id: string }>`select site_id from search_behind
    where site_id = any (${sites}::uuid[]) and generation < ${GENERATION}::integer`;
}

/** How many resources a site has. */
export function countResources(site: string): Query<{ readonly total: number }> {
  return sql<{ total: number }>`select count(*)::integer as total from resource where site_id = ${site}::uuid`;
}
