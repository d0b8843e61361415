/** The log of HL7 messages: a page of those that match the filters, the newest first, and their total number. */
import type { Query } from '../deps.ts';
import { candidatesOf, MAX_COUNTED, type MessageFilter, messageOf, type MessagePlace } from './message-candidates.ts';
import { binder, instantOf, siteOf } from './sql.ts';

const NEWEST = 'received_at desc, message_id desc';

export interface MessageRow {
  readonly message_id: string;
  /** With microseconds, so that it identifies the row. */
  readonly received_at: string;
  readonly source: 'http' | 'mllp';
  readonly source_address: string;
  readonly tls_subject: string | null;
  readonly client_id: string;
  readonly key_name: string;
  readonly sending_application: string;
  readonly sending_facility: string;
  readonly control_id: string;
  readonly message_type: string;
  readonly outcome: 'AA' | 'AE' | 'AR';
}

export interface ListedRow extends MessageRow {
  /** Duration of the first attempt, in milliseconds; null if it is not known. */
  readonly took_ms: number | null;
  /** The number of warnings. */
  readonly warnings: number;
  /** JSON: the first error, else the first warning; null for none. */
  readonly finding: string | null;
  /** JSON: the fields that name the requested patient, `[{ field, value, authority }]`; null if no patient was requested. */
  readonly named: string | null;
  /**
   * JSON `{ id, name, said, number, authority }`: id and name of the stored patient, the folded words of PID-5, the first PID-3.
   * It is null if patients were not requested.
   */
  readonly patient: string | null;
  /** The number of messages that were found, up to the limit of the count. */
  readonly total: number;
}

export const MESSAGE_COLUMNS = `m.message_id, ${instantOf('m.received_at', 'microsecond')} as received_at,
      m.source, m.source_address, m.tls_subject, m.client_id, k.name as key_name, m.sending_application, m.sending_facility,
      m.control_id, m.message_type, m.outcome`;

/**
 * Messages of a site, the newest first. One row more than `limit` shows that another page follows.
 *
 * @param withPatients the rows have their patients, which the audit then notes, as it does if a patient is searched
 */
export function listMessages(
  site: string,
  filter: MessageFilter,
  place: MessagePlace | null,
  limit: number,
  withPatients = false,
): Query<ListedRow> {
  const { params, bind } = binder();
  const ofSite = siteOf(bind, site);
  const counted = bind(place === null ? Math.max(MAX_COUNTED, limit) + 1 : limit + 1);
  const shown = `${bind(limit + 1)}::integer`;
  const selection = { filter, place, limit: `${counted}::integer`, site: ofSite, bind };
  const direction = place?.side === 'newer' ? 'received_at asc, message_id asc' : NEWEST;
  const { before, candidates, named = 'null' } = candidatesOf(selection);
  const isNoted = filter.patient !== null || withPatients;
  const text = `with recursive ${before}found as materialized (
  select * from (${candidates}) c order by ${direction} limit ${counted}::integer
), shown as materialized (
  select f.*, count(*) over ()::integer as total from found f order by ${direction} limit ${shown}
)${isNoted ? `, noted as materialized (${noteShown(ofSite, `${bind(limit)}::integer`, direction)})` : ''}
select ${MESSAGE_COLUMNS}, a.took_ms, e.warnings, e.finding, ${named} as named,
       ${withPatients ? patientOf(ofSite) : 'null'} as patient, s.total
  from shown s${isNoted ? ' cross join noted' : ''}
  ${messageOf(ofSite, 's')}
  join api_key k on k.site_id = m.site_id and k.client_id = m.client_id
  left join lateral (
    select a.took_ms from hl7_attempt a
     where a.site_id = ${ofSite} and a.message_id = s.message_id and a.number = 1 limit 1) a on true
 cross join lateral (
   select count(*) filter (where x.value ->> 'severity' = 'W')::integer as warnings,
          (array_agg(x.value::text order by x.value ->> 'severity', x.n) filter (where x.value ->> 'severity' <> 'I'))[1] as finding
     from json_array_elements(m.errors) with ordinality x(value, n)) e
${isNoted ? ' where noted.done\n' : ''} order by s.received_at desc, s.message_id desc`;
  return { text, params, reads: true, planAnew: true };
}

/** SQL over `m`: the patient that the message names. */
const patientOf = (site: string): string => `(
  select json_build_object('id', p.id, 'name', p.name, 'said', s.value, 'number', n.value, 'authority', n.authority)::text
    from (values (1)) one
    left join lateral (
      select r.id, ('{' || r.body || '}')::json -> 'name' -> 0 as name
        from hl7_message_resource x
       cross join lateral (select r.id, r.body, r.replaced_by from resource r where r.site_id = ${site} and r.type = 'Patient' and r.id = x.id limit 1) r
       where x.site_id = ${site} and x.message_id = m.message_id and x.type = 'Patient'
       order by r.replaced_by is not null, r.id limit 1) p on true
    left join lateral (
      select k.value from hl7_message_key k
       where k.site_id = ${site} and k.message_id = m.message_id and k.field = 'PID-5' and k.key >= '0' order by k.number limit 1) s on true
    left join lateral (
      select k.value, k.authority from hl7_message_key k
       where k.site_id = ${site} and k.message_id = m.message_id and k.field = 'PID-3' and starts_with(k.key, '#')
       order by k.number limit 1) n on true)`;

/** SQL: notes the patients that the messages of the page concern. */
const noteShown = (site: string, limit: string, direction: string): string => `
  select audit_note(array(
    select row('search', 'Hl7Message', s.message_id, p.patient)::audit_item
      from (select * from shown order by ${direction} limit ${limit}) s
      left join lateral (
        select distinct r.patient
          from hl7_message_resource x
         cross join lateral (
           select case when r.type = 'Patient' then r.id else r.patient_id end as patient
             from resource r where r.site_id = ${site} and r.type = x.type and r.id = x.id limit 1) r
         where x.site_id = ${site} and x.message_id = s.message_id) p on true)) as done`;

export interface SendingKeyRow {
  readonly client_id: string;
  readonly name: string;
}

/** The API keys of a site that may send messages, or could. */
export const sendingKeys = (site: string): Query<SendingKeyRow> => ({
  text: `select client_id, name from api_key
     where site_id = $1::uuid and protocols && '{hl7,hl7-mllp}'::text[] order by lower(name), client_id limit 500`,
  params: [site],
  reads: true,
});
