/** Sites: made by whoever runs the deployment, read by the console. */
import type { Query } from '../deps.ts';
import { sql } from './sql.ts';

export interface SiteRow {
  readonly site_id: string;
  readonly name: string;
  readonly time_zone: string | null;
}

export function readSite(site: string): Query<SiteRow> {
  return sql<SiteRow>`select site_id, name, time_zone from site where site_id = ${site}::uuid`;
}

export function listSites(): Query<SiteRow> {
  return sql<SiteRow>`select site_id, name, time_zone from site order by name, site_id`;
}

export interface NewSite {
  readonly id: string;
  readonly name: string;
  readonly timeZone: string | null;
  readonly processingIds: readonly string[];
}

export function createSite({ id, name, timeZone, processingIds }: NewSite): Query {
  return sql`insert into site (site_id, name, time_zone, processing_ids)
    values (${id}::uuid, ${name}, ${timeZone}, ${processingIds}::text[])`;
}

/** Summary for the console's first page. */
export interface SiteSummary {
  readonly active_keys: number;
  readonly disabled_keys: number;
  readonly messages_today: number;
  readonly refusals_today: number;
}

export function summariseSite(site: string): Query<SiteSummary> {
  return sql<SiteSummary>`select
      (select count(*)::int from api_key where site_id = ${site}::uuid and status = 'active') as active_keys,
      (select count(*)::int from api_key where site_id = ${site}::uuid and status = 'disabled') as disabled_keys,
      (select count(*)::int from hl7_message
        where site_id = ${site}::uuid and received_at > now() - interval '24 hours') as messages_today,
      (select count(*)::int from refusal
        where site_id = ${site}::uuid and at > now() - interval '24 hours') as refusals_today`;
}
