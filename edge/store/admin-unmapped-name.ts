/** Names in messages that have no URI yet, for administrators: by name, with the number of messages. */
import type { Query } from '../deps.ts';
import { instantOf, read } from './sql.ts';
import type { UnmappedName } from './unmapped-name.ts';

/** Counting stops here, because every message of a hospital may have the name. */
export const MAX_COUNT = 10_000;

export interface UnmappedNameRow extends UnmappedName {
  /** Messages with the name, to be processed again when it gets a URI; MAX_COUNT for that many or more. */
  readonly messages: number;
  readonly first_at: string;
  readonly last_at: string;
  readonly last_message: string;
  readonly last_client: string;
  readonly last_key_name: string;
}

/** SQL: the next name behind `from`, by the primary key: names are few, their messages many. */
const nextName = (site: string, from: string) => `select u.kind, u.name from unmapped_name u
   where u.site_id = ${site} and (u.kind, u.name) > (${from}) order by u.kind, u.name limit 1`;

/** SQL: the oldest or newest message of a name; ids are in the order of arrival. */
const messageOf = (site: string, order: 'asc' | 'desc') => `(select u.message_id from unmapped_name u
   where u.site_id = ${site} and u.kind = n.kind and u.name = n.name order by u.message_id ${order} limit 1)`;

/**
 * The names in messages of a site, by kind and name.
 *
 * @param after kind and name of the last one of the page before, or null
 */
export function listUnmappedNames(
  site: string,
  after: readonly string[] | null,
  limit: number,
): Query<UnmappedNameRow> {
  const [kind = '', name = ''] = after ?? [];
  return {
    text: `with recursive name (kind, name) as (
      (${nextName('$1::uuid', '$2::text, $3::text')})
      union all
      select x.kind, x.name from name p cross join lateral (${nextName('$1::uuid', 'p.kind, p.name')}) x
    )
    select n.kind, n.name, c.messages, ${instantOf('f.received_at')} as first_at, ${instantOf('l.received_at')} as last_at,
      l.message_id as last_message, l.client_id as last_client, k.name as last_key_name
      from (select * from name limit $4::int) n
     cross join lateral (select count(*)::int as messages from (select from unmapped_name u
       where u.site_id = $1::uuid and u.kind = n.kind and u.name = n.name limit ${MAX_COUNT}) x) c
      join hl7_message f on f.site_id = $1::uuid and f.message_id = ${messageOf('$1::uuid', 'asc')}
      join hl7_message l on l.site_id = $1::uuid and l.message_id = ${messageOf('$1::uuid', 'desc')}
      join api_key k on k.site_id = l.site_id and k.client_id = l.client_id
     order by n.kind, n.name`,
    params: [site, kind, name, limit],
    reads: true,
  };
}

/** The messages and patients that a URI for a name would touch. */
export interface NamingEffect {
  /** Messages with the name, MAX_COUNT for that many or more. */
  readonly messages: number;
  /** Patients with an identifier of the namespace, MAX_COUNT for that many or more. */
  readonly patients: number;
  /** Pairs of patients that would have a common identifier. */
  readonly pairs: number;
}

/**
 * Counts the messages and patients that a URI for a name would touch.
 *
 * @param never type codes (table 0203) that identify no patient
 */
export function effectOfNaming(
  site: string,
  { kind, name }: UnmappedName,
  system: string,
  never: readonly string[],
): Query<NamingEffect> {
  const isAuthority = kind === 'authority';
  return read<NamingEffect>`select
      (select count(*)::int from (select from unmapped_name u
         where u.site_id = ${site}::uuid and u.kind = ${kind}::unmapped_kind and u.name = upper(trim(${name})) limit ${MAX_COUNT}::int) x) as messages,
      (select count(*)::int from (select distinct i.id from patient_identity i
         where ${isAuthority} and i.site_id = ${site}::uuid and i.authority = search_key('name:' || upper(trim(${name})))
           and i.authority like 'name:%' limit ${MAX_COUNT}::int) x) as patients,
      (select count(*)::int from site s
        cross join lateral namespaces_matching(s.site_id, jsonb_build_object(${name}::text, ${system}::text),
          s.assigning_authorities || jsonb_build_object(${name}::text, ${system}::text), ${never}::text[]) m
        where ${isAuthority} and s.site_id = ${site}::uuid) as pairs`;
}
