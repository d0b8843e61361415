/** Finds pairs of patient records that may be alike, by index, and lists them (migrations/functions/alike_*.sql). */
import type { Query } from '../deps.ts';
import { read, sql } from './sql.ts';

/** The kind of the job. */
export const ALIKE_KIND = 'alike';

/** Asks for the job, which never ends, if it is not open. */
export const askForAlike =
  (): Query => sql`select job_add(gen_random_uuid(), ${ALIKE_KIND}, null, 'gateway', '{}', null, 'gateway')
   where not exists (select from job j where j.site_id is null and j.kind = ${ALIKE_KIND} and j.state = 'open')`;

export interface AlikePosition {
  /** Instant, or `-infinity`. */
  readonly after_at: string;
  readonly after_id: string;
}

export interface AlikeDue extends AlikePosition {
  readonly site_id: string;
  /** Instant; null if no moment is set. */
  readonly until_at: string | null;
}

/** The site that was compared least recently, of those with changed records. No row: no site has any. */
export const alikeDue = (): Query<AlikeDue> =>
  read<AlikeDue>`select site_id, after_at::text as after_at, after_id, until_at::text as until_at from alike_due()`;

/**
 * Sets the moment before which records are compared next. The transaction has read the clock (`now()`) before it gets its id, so
 * that no later writer wrote before the moment.
 */
export const setAlikeMoment = (site: string): Query =>
  sql`insert into alike_check as c (site_id, until_at, until_by)
    values (${site}::uuid, date_trunc('milliseconds', now()), pg_current_xact_id()::text::bigint)
    on conflict (site_id) do update
      set until_at = excluded.until_at, until_by = excluded.until_by, checked_at = clock_timestamp()`;

/** Stores the position. @param after null: all records before the moment are compared */
export const setAlikePosition = (site: string, after: AlikePosition | null): Query =>
  after === null
    ? sql`update alike_check
        set after_at = until_at, after_id = '00000000-0000-0000-0000-000000000000', until_at = null, until_by = null,
            checked_at = clock_timestamp()
      where site_id = ${site}::uuid and until_at is not null`
    : sql`update alike_check
        set after_at = ${after.after_at}::timestamptz, after_id = ${after.after_id}::uuid, checked_at = clock_timestamp()
      where site_id = ${site}::uuid`;

/** Records with the birth date and the first name of a record. */
const MAX_NAMESAKES = 50;
/** Records with the birth date of a record, of which the names are compared. Most sites have fewer for one day. */
const MAX_OF_DAY = 200;

/** A changed record, and another with its birth date and a family name; null without another. */
export interface AlikeRow {
  readonly id: string;
  /** Instant. */
  readonly last_updated: string;
  readonly version: number;
  readonly other: string | null;
  readonly other_version: number | null;
  /** JSON objects with the members of a Patient that are compared. */
  readonly person: string | null;
  readonly other_person: string | null;
  /** The issue of the pair; null without one. */
  readonly listed: 'open' | 'dismissed' | null;
  readonly placeholder_birth_dates: readonly string[];
}

/** SQL: the members of a Patient that are compared, as JSON. Each `->` would read the JSON again. */
const personOf = (body: string) =>
  `(select row_to_json(p)::text from json_to_record(('{' || ${body} || '}')::json)
      as p(name json, "birthDate" json, gender json, address json, active json, link json, "multipleBirthInteger" json))`;

/**
 * SQL: an array of folded names, from one a line. They keep letters and digits only, and one letter for an umlaut's digraph:
 * MUELLER and MÜLLER, O'NEILL and ONEILL.
 */
const bare = (names: string) =>
  `array_remove(string_to_array(regexp_replace(replace(replace(replace(${names}, 'ae', 'a'), 'oe', 'o'), 'ue', 'u'),
                '[^[:alnum:]\\n]', '', 'g'), E'\\n'), '')`;

/**
 * SQL: the ids of other records with the birth date of a row `d`, and its first name or one of its family names. The second
 * condition on the birth date selects an index. An incomplete birth date skips the look-ups, because the condition is inside them.
 */
export const NAMESAKES = `(select p.id from patient_search p
              where p.site_id = d.site_id and p.birth_date = d.birth_date and p.name_sort = d.name_sort and p.id <> d.id
                and length(d.birth_date) = 10
              order by p.id limit ${MAX_NAMESAKES})
            union
            select q.id from (
              select p.id, p.families from patient_search p
               where p.site_id = d.site_id and p.birth_date = d.birth_date and (p.birth_date, p.name_sort) >= (d.birth_date, '')
                 and length(d.birth_date) = 10
               order by p.name_sort, p.id limit ${MAX_OF_DAY}) q
             where q.id <> d.id and ${bare('q.families')} && (select ${bare('d.families')})`;

/**
 * The records that were changed after a position and before a moment, the earliest first, with those that may be alike. Each
 * record has at least one row. The id and `offset 0` select indexes. Without statistics of a site, other indexes look
 * as good to the planner.
 *
 * @param limit changed records
 * @param placeholders birth dates of many persons, beside those of the site's list: their records are compared with none
 */
export const findAlike = (
  site: string,
  after: AlikePosition,
  until: string,
  limit: number,
  placeholders: readonly string[],
): Query<AlikeRow> => {
  const rows = read<AlikeRow>`select ${placeholders}::text[] as placeholders, r.site_id, r.id, r.last_updated, r.version, r.body
      from resource r
     where r.site_id = ${site}::uuid and r.type = 'Patient' and r.last_updated < ${until}::timestamptz
       and (r.last_updated, r.id) > (${after.after_at}::timestamptz, ${after.after_id}::uuid)
     order by r.last_updated, r.id limit ${limit}::integer`;
  const text = `with changed as materialized (
      select r.*, s.name_sort, s.families, t.placeholder_birth_dates,
             ${personOf('r.body')} as person,
             case when s.birth_date <> all (r.placeholders || t.placeholder_birth_dates) then s.birth_date else '' end as birth_date
        from (${rows.text}) r
        join site t on t.site_id = r.site_id
       cross join lateral (select * from patient_search s where s.site_id = r.site_id and s.id = r.id offset 0) s)
    select d.id, d.last_updated::text as last_updated, d.version, c.id as other, c.version as other_version,
      case when c.id is not null then d.person end as person,
      case when c.id is not null then ${personOf('c.body')} end as other_person, c.listed,
      d.placeholder_birth_dates
      from changed d
      left join lateral (
        select o.id, o.version, o.body,
            (select case when i.dismissed_at is null then 'open' else 'dismissed' end from issue i
              where i.site_id = d.site_id
                and i.issue_id = md5('possible-duplicate|' || least(n.id, d.id) || '|' || greatest(n.id, d.id) || '|')::uuid) as listed
          from (
            ${NAMESAKES}) n
         cross join lateral (select * from resource r where r.site_id = d.site_id and r.type = 'Patient' and r.id = n.id offset 0) o
         where o.replaced_by is null
      ) c on d.families <> '' and d.body not like '%"replaced-by"%'
     order by d.last_updated, d.id, c.id`;
  return { ...rows, text };
};

export interface AlikePair {
  readonly a: string;
  readonly b: string;
  readonly version_a: number;
  readonly version_b: number;
}

/** Issues of one record with others that are alike. */
const MAX_OF_RECORD = 20;

/** Lists pairs whose records were not changed since they were read. */
export const addAlike = (site: string, pairs: readonly AlikePair[]): Query =>
  sql`select alike_add(${site}::uuid, ${JSON.stringify(pairs)}::json, ${MAX_OF_RECORD}::integer)`;
