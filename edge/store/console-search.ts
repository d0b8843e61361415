/** Finds resources and messages for the console's search by a complete id or identifier value, each by its index. */
import { RESOURCE_TYPES, type ResourceType } from '../../shared/resource-type.ts';
import type { Query } from '../deps.ts';
import { auditItem } from './audit.ts';
import { personSql } from './person-sql.ts';
import { raw, read } from './sql.ts';

export interface FoundThing {
  readonly type: ResourceType | 'Hl7Message';
  readonly id: string;
  /** The patient that a resource is about; null for a Patient and a message. */
  readonly patient_id: string | null;
  /** Only for a Patient: JSON of the members that identify the person. */
  readonly person: string | null;
  readonly is_merged: boolean;
}

/**
 * Notes the resources for the audit.
 *
 * @param id a resource or message; null for another text
 * @param value an identifier value, compared as it is stored
 * @param limit the most resources of each type
 */
export const findByIdOrIdentifier = (
  site: string,
  id: string | null,
  value: string,
  limit: number,
): Query<FoundThing> => ({
  ...read<FoundThing>`with ids as materialized (
      select t.type, x.id from unnest(${RESOURCE_TYPES}::text[]) t(type) cross join lateral (
        (select r.id from resource r where r.site_id = ${site}::uuid and r.type = t.type and r.id = ${id}::uuid limit 1)
        union
        (select i.id from resource_identifier i
          where i.site_id = ${site}::uuid and i.type = t.type and i.value = ${value} order by i.id limit ${limit}::int)) x
    ), found as materialized (
      select r.* from ids i cross join lateral (
        select r.* from resource r where r.site_id = ${site}::uuid and r.type = i.type and r.id = i.id limit 1) r
    ), noted as materialized (
      select audit_note(array(select ${raw(auditItem('search', 'f'))} from found f)) as done
    )
    select f.type, f.id, f.patient_id, f.replaced_by is not null as is_merged,
           case when f.type = 'Patient' then ${raw(personSql('f'))} end as person
      from found f cross join noted where noted.done
    union all
    select 'Hl7Message', m.message_id, null, false, null from hl7_message m
     where m.site_id = ${site}::uuid and m.message_id = ${id}::uuid`,
  notes: true,
});
