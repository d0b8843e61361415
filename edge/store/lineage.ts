/** The versions of a resource that changed its members, with their authors. */
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Query } from '../deps.ts';
import { factsOf, messageFacts } from './provenance.ts';
import { instantOf, raw, read } from './sql.ts';

/** Versions that are compared, and the sum of their texts: the newest ones. */
const MAX_VERSIONS = 1000;
const MAX_BYTES = 4 * 1024 * 1024;

/** A version that changed a member. */
export interface VersionRow {
  readonly version: number;
  readonly at: string;
  /** As of `readFacts`. */
  readonly facts: string;
  readonly key_name: string | null;
  /** JSON `[[member, value, isNew]]`. isNew: the version before it has no such member. */
  readonly changes: string;
  /** The oldest version that was compared: equal in all rows. */
  readonly oldest: number;
}

/**
 * The newest first. The audit records a reading of the resource, and of each patient that a compared version is about.
 *
 * @param version null: up to the current one
 */
export function changedVersions(
  site: string,
  type: ResourceType,
  id: string,
  version: number | null = null,
): Query<VersionRow> {
  const columns = raw('x.site_id, x.type, x.id, x.version, x.last_updated, x.patient_id, x.body');
  return read<VersionRow>`with r as materialized (
      select ${columns} from resource x where x.site_id = (select ${site}::uuid) and x.type = ${type} and x.id = ${id}::uuid
    ), v as materialized (
      select x.*, row_number() over w as place, sum(octet_length(x.body)) over w as bytes
        from (select * from r where ${version}::integer is null or version <= ${version}::integer
              union all
              (select ${columns} from r
                 join resource_history x on x.site_id = r.site_id and x.type = r.type and x.id = r.id
                where ${version}::integer is null or x.version <= ${version}::integer
                order by x.version desc limit ${raw(String(MAX_VERSIONS))})) x
      window w as (order by x.version desc)
    ), compared as materialized (
      select * from v
       where place <= ${raw(String(MAX_VERSIONS))} and (place = 1 or bytes <= ${raw(String(MAX_BYTES))})
         and version + place = (select max(version) + 1 from v)
    ), noted as materialized (
      select audit_note(array(select distinct row('read', type, id, patient_id)::audit_item from compared)) as done
    ), members as (
      select c.version, m.key, m.value::text as value, lag(m.value::text) over w as previous, lag(c.version) over w as last
        from compared c cross join lateral json_each(('{' || c.body || '}')::json) m
      window w as (partition by m.key order by c.version)
    ), changed as materialized (
      select version, json_agg(json_build_array(key, value::json, last is distinct from version - 1))::text as changes
        from members where last is distinct from version - 1 or previous <> value
       group by version
    ), authors as materialized (
      select c.version, c.last_updated, n.changes, ${raw(factsOf('c.site_id', 'c'))} as facts
        from changed n join compared c using (version) cross join noted where noted.done
    )
    select a.version, ${raw(instantOf('a.last_updated'))} as at, a.facts, a.changes, k.name as key_name,
           (select min(version) from compared) as oldest
      from authors a left join api_key k on k.site_id = (select ${site}::uuid) and k.client_id = a.facts::json ->> 'clientId'
     order by a.version desc`;
}

export interface RegistersRow {
  /** As in hl7_precedence. */
  readonly fields: string;
  /** JSON: the messages that the registers name (readMessages). */
  readonly messages: string;
  /** JSON: the first version of the resource that each of them made or kept. Some wrote only to other resources. */
  readonly versions: string;
}

/** The registers of a resource: which message stated each value, also if another message made it count. */
export const registersOf = (site: string, type: ResourceType, id: string): Query<RegistersRow> =>
  read<RegistersRow>`select p.fields, m.messages, m.versions
    from hl7_precedence p
   cross join lateral (
     select coalesce(json_agg(${raw(messageFacts('m'))}), '[]')::text as messages,
            coalesce(json_object_agg(m.message_id, r.version) filter (where r.version is not null), '{}')::text as versions
       from hl7_message m
      cross join lateral (
        select min(r.version) as version from hl7_message_resource r
         where r.site_id = (select ${site}::uuid) and r.message_id = m.message_id and r.type = ${type} and r.id = ${id}::uuid) r
      where m.site_id = (select ${site}::uuid)
        and m.message_id = any (array(
          select distinct x[1]::uuid
            from regexp_matches(p.fields, '\\|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"', 'g') x))) m
   where p.site_id = (select ${site}::uuid) and p.type = ${type} and p.id = ${id}::uuid`;
