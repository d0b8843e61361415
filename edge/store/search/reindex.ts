/** Extracts the search rows of stored resources again; content, versions and times do not change. */
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

/** One resource more than `limit`, if it exists. @see toPage */
export function resourcesAfter(
  site: string,
  { type, id }: ReindexPosition,
  limit: number,
  maxBytes: number,
): Query<PageRow> {
  const rows = `select r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id, null::text as sort_key
    from resource r where r.site_id = $1::uuid and (r.type, r.id) > ($2, $3::uuid)
   order by r.type, r.id limit $4::integer`;
  return {
    text: withinBudget(rows, 'p.type, p.id', 'gateway', maxBytes),
    params: [site, type, id, limit + 1],
    reads: true,
  };
}

/** Skips resources with another version, whose writer has written their search rows. */
export function reindexResources(site: string, resources: readonly StoredResource[]): Query {
  const rows = resources.map((stored) => {
    const { type, id, version } = stored;
    if (!isResourceType(type)) throw new TypeError('a CHECK limits the type');
    const resource = parseStored(stored);
    const known = type === 'Patient' ? knownBy(resource) : null;
    return { type, id, version, known, ...searchRows(type, resource) };
  });
  return sql`select resource_reindex(${site}::uuid, ${JSON.stringify(rows)}::json)`;
}

/**
 * A reindexing begins; search_lag.sql records the later writes of older releases. A late runner does not restart a job that
 * another runner continues.
 */
export function beginFilling(site: string, job: string): Query {
  return sql`update search_behind set filling = ${GENERATION}::integer
    where site_id = ${site}::uuid
      and exists (select from job j where j.job_id = ${job}::uuid and j.cursor ->> 'type' = ${REINDEX_START.type})`;
}

/** The reindexing has ended: all resources of the site are indexed, unless an older release has written meanwhile. */
export function endFilling(site: string): Query {
  return sql`update search_behind set generation = ${GENERATION}::integer, filling = null
    where site_id = ${site}::uuid and filling = ${GENERATION}::integer`;
}

/** The sites with resources that lack rows of the newest generation. */
export function sitesBehind(sites: readonly string[]): Query<{ readonly site_id: string }> {
  return sql<{ site_id: string }>`select site_id from search_behind
    where site_id = any (${sites}::uuid[]) and generation < ${GENERATION}::integer`;
}

/** The number of resources of a site. */
export function countResources(site: string): Query<{ readonly total: number }> {
  return sql<{ total: number }>`select count(*)::integer as total from resource where site_id = ${site}::uuid`;
}
