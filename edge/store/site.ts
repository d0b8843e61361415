/**
 * Sites and their settings: made and set by administrators, read by the console. The table of members
 * (edge/admin/settings/record.ts) defines the columns of the settings, from which `siteStatements` are made.
 */
import type { Query } from '../deps.ts';
import type { ChangeRow } from './change.ts';
import { instantOf, raw, read, sql } from './sql.ts';

export interface SiteRow {
  readonly site_id: string;
  readonly name: string;
  readonly time_zone: string | null;
}

export function listSites(): Query<SiteRow> {
  return read<SiteRow>`select site_id, name, time_zone from site order by name, site_id`;
}

/** A site with its settings, which are beside these members by their columns' names. */
export interface SettingsRow {
  readonly site_id: string;
  readonly version: number;
  readonly updated_at: string;
}

export interface SiteWrite<Settings> {
  readonly site: string;
  /** Null to create; else the versions that may be overwritten, none of them meaning any. */
  readonly expected: readonly number[] | null;
  /** The person's name: shown in the history. */
  readonly by: string;
  /** All settings to create, those that change to update. */
  readonly record: Partial<Settings>;
}

export interface SiteWritten {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'missing' | 'version';
  readonly version: number;
}

/** The statements for settings with these columns. */
export function siteStatements<Settings extends object>(columns: readonly (keyof Settings & string)[]) {
  const selected = `s.site_id, ${columns.map((column) => `s.${column}`).join(', ')}, s.version,
      ${instantOf('s.updated_at')} as updated_at`;
  return {
    readSettings: (site: string): Query<SettingsRow> => ({
      text: `select ${selected} from site s where s.site_id = $1::uuid`,
      params: [site],
      reads: true,
    }),

    /** Makes a site or changes its settings (migrations/functions/site_write.sql). */
    writeSite: (write: SiteWrite<Settings>): Query<SiteWritten> => {
      const expected = write.expected === null ? null : `{${write.expected.join(',')}}`;
      return sql<SiteWritten>`select outcome, version
        from site_write(${write.site}::uuid, ${expected}::integer[], ${write.by}, ${JSON.stringify(write.record)}::json)`;
    },
  };
}

/**
 * Runs after a change of the namespaces' URIs, in its transaction: lists the patients whose identifiers match now.
 *
 * @param never type codes (table 0203) that identify no patient
 */
export function authoritiesNamed(site: string, never: readonly string[]): Query {
  return sql`select authorities_named(${site}::uuid, ${never}::text[])`;
}

/** The changes of a site's settings, the newest first. */
export function changesOfSite(site: string, before: number | null, limit: number): Query<ChangeRow> {
  return read<ChangeRow>`select version, ${raw(instantOf('at'))} as at, by,
      before::text as before, after::text as after
    from site_change
    where site_id = ${site}::uuid and (${before}::int is null or version < ${before}::int)
    order by version desc limit ${limit}::int`;
}
