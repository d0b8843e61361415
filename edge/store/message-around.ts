/**
 * The messages around a message: the previous and the next of its patient and of its order, and others of its control
 * id.
 */
import type { Query } from '../deps.ts';
import { withSynonyms, authoritiesOf, authorityNames } from './authority-synonyms.ts';
import { instantOf, raw, read } from './sql.ts';

export interface AroundRow {
  readonly of: 'patient' | 'order' | 'control-id';
  readonly side: 'previous' | 'next' | 'other';
  readonly message_id: string;
  readonly received_at: string;
  readonly message_type: string;
  readonly control_id: string;
  readonly outcome: 'AA' | 'AE' | 'AR';
}

/** Numbers of a message, and what it made, of which others are looked for. */
const MAX_KEYS = 20;
const MAX_RESOURCES = 50;
const MAX_OTHERS = 10;

/** SQL: the adjacent messages for each identifier of the message. */
const besidePatient = (side: '<' | '>', order: 'desc' | 'asc'): string => `
    select r.received_at, r.message_id from t cross join numbers n
     cross join lateral (
       select r.received_at, r.message_id from hl7_message_key r
        where r.site_id = t.site_id and r.key = n.key and (r.authority = '' or n.authorities = '{}' or ${authoritiesOf('r.authority')} && n.authorities)
          and (r.received_at, r.message_id) ${side} (t.received_at, t.message_id)
        order by r.received_at ${order}, r.message_id ${order} limit 1) r
     order by r.received_at ${order}, r.message_id ${order} limit 1`;

/** SQL: of each report, result and document that it made, what else made it. */
const besideOrder = (side: '<' | '>', order: 'desc' | 'asc'): string => `
    select x.received_at, x.message_id from t cross join made d
     cross join lateral (
       select m.received_at, m.message_id from hl7_message_resource o
         join hl7_message m on m.site_id = o.site_id and m.message_id = o.message_id
        where o.site_id = t.site_id and o.type = d.type and o.id = d.id
          and (m.received_at, m.message_id) ${side} (t.received_at, t.message_id)
        order by m.received_at ${order}, m.message_id ${order} limit 1) x
     order by x.received_at ${order}, x.message_id ${order} limit 1`;

/**
 * A patient is identified by an equal identifier in PID-3 or a similar field, of authorities that do not contradict. An
 * order is identified by an equal report, result or document.
 */
export function messagesAround(site: string, messageId: string): Query<AroundRow> {
  return read<AroundRow>`with t as materialized (
  select site_id, message_id, received_at, client_id, sending_application, sending_facility, control_id
    from hl7_message where site_id = (select ${site}::uuid) and message_id = ${messageId}::uuid
), ${raw(authorityNames('(select site_id from t)'))}, numbers as materialized (
  select x.key, ${raw(withSynonyms('x.authorities'))} as authorities
    from (select distinct r.key, ${raw(authoritiesOf('r.authority'))} as authorities from t
            join hl7_message_key r on r.site_id = t.site_id and r.message_id = t.message_id
           where r.key >= '#' and r.key < '$' limit ${raw(String(MAX_KEYS))}) x
), made as materialized (
  select distinct x.type, x.id from t join hl7_message_resource x on x.site_id = t.site_id and x.message_id = t.message_id
   where x.type in ('DiagnosticReport', 'Observation', 'DocumentReference')
   order by x.type, x.id limit ${raw(String(MAX_RESOURCES))}
), beside as (
  select 'patient' as of, 'previous' as side, p.* from (${raw(besidePatient('<', 'desc'))}) p
  union all select 'patient', 'next', p.* from (${raw(besidePatient('>', 'asc'))}) p
  union all select 'order', 'previous', p.* from (${raw(besideOrder('<', 'desc'))}) p
  union all select 'order', 'next', p.* from (${raw(besideOrder('>', 'asc'))}) p
  union all (
    select 'control-id', 'other', m.received_at, m.message_id from t
      join hl7_message m on m.site_id = t.site_id and m.client_id = t.client_id and m.sending_application = t.sending_application
       and m.sending_facility = t.sending_facility and m.control_id = t.control_id and m.message_id <> t.message_id
     where t.control_id <> '' order by m.received_at desc limit ${raw(String(MAX_OTHERS))})
)
select b.of, b.side, m.message_id, ${raw(instantOf('m.received_at'))} as received_at, m.message_type, m.control_id, m.outcome
  from beside b join hl7_message m on m.site_id = (select ${site}::uuid) and m.message_id = b.message_id
 order by b.of desc, m.received_at, m.message_id`;
}
