/**
 * The people who have signed in to the console of a site (migrations/functions/console_person_note.sql notes them).
 */
import type { Query } from '../deps.ts';
import { instantsOf, raw, read } from './sql.ts';

export interface PersonRow {
  readonly subject: string;
  readonly name: string;
  readonly permissions: readonly string[];
  readonly first_seen: string;
  /** The last request of an open session, to the minute, else the time of the last sign-in. */
  readonly last_seen: string;
  /** The number of open sessions. */
  readonly sessions: number;
}

/** Lists the person with the newest activity first. */
export function listPeople(site: string, limit: number): Query<PersonRow> {
  return read<PersonRow>`select x.subject, x.name, x.permissions, x.sessions, ${raw(instantsOf(['x.first_seen', 'x.last_seen']))}
    from (select p.subject, p.name, p.first_seen, greatest(p.last_seen, s.seen) as last_seen, s.sessions,
                 coalesce(s.permissions, p.permissions) as permissions
            from console_person p
           cross join lateral (
             select count(*)::int as sessions, max(c.seen_at) as seen,
                    (array_agg(to_json(c.permissions) order by c.asked_at desc))[1] as granted from console_session c
              where c.site_id = p.site_id and c.subject = p.subject and console_session_is_live(c)) l
           cross join lateral (select l.sessions, l.seen,
             case when l.granted is null then null else array(select json_array_elements_text(l.granted)) end as permissions) s
           where p.site_id = ${site}::uuid) x
   order by x.last_seen desc, x.subject limit ${limit}::int`;
}
