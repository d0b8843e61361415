/** The steps of a key to its go-live, from rows that are stored for other reasons (edge/docs/behaviour.md, Token service). */
import type { Query } from '../deps.ts';
import { instantOf, raw, read } from './sql.ts';

export interface SeenTypeRow {
  readonly type: string;
  readonly accepted: number;
  readonly rejected: number;
  readonly last_at: string;
}

export interface CheckListRow {
  readonly protocols: readonly string[];
  readonly token_at: string | null;
  readonly fhir_at: string | null;
  readonly message_at: string | null;
  /** JSON of SeenTypeRow. */
  readonly types: string;
  /** A message followed an accepted one. */
  readonly is_followed: boolean;
  /** Attempts of the sender that were answered AA. */
  readonly accepted: number;
  /** The number of times that accepted bytes were sent again. */
  readonly repeated: number;
  /** The last time that rejected bytes were sent again. */
  readonly resent_at: string | null;
  readonly wrong_patient_at: string | null;
}

/** The newest messages of the key that count. */
const MAX_MESSAGES = 1000;
const MAX_TYPES = 50;

/** Reasons for which a message about a wrong patient is rejected. */
const WRONG_PATIENT = ['patient-differs', 'ambiguous-patient', 'no-identifying-number', 'placeholder-identifier'];

/**
 * Accepted bytes that come again leave no row, but count as a request. So they are the accepted requests beyond the accepted
 * attempts. If older messages are left out, the quarter of an hour of the oldest one does not count.
 */
export function checkListOf(site: string, clientId: string): Query<CheckListRow> {
  return read<CheckListRow>`with newest as materialized (
      select m.message_id, m.received_at, m.message_type, m.outcome from hl7_message m
       where m.site_id = ${site}::uuid and m.client_id = ${clientId} and m.client_id <> ''
       order by m.received_at desc, m.message_id desc limit ${MAX_MESSAGES}::int
    ), span as (
      select min(n.received_at) + (case when count(*) < ${MAX_MESSAGES}::int then -1 else 1 end) * interval '15 minutes' as from_at,
             max(n.received_at) as to_at
        from newest n
    ), attempt as materialized (
      select a.at, a.why, a.outcome, a.outcome <> 'AA' and exists (
               select from json_array_elements(a.errors) e
                where e ->> 'severity' = 'E' and e ->> 'reason' = any(${WRONG_PATIENT}::text[])) as is_wrong_patient
        from newest n join hl7_attempt a on a.site_id = ${site}::uuid and a.message_id = n.message_id
       where a.why in ('received', 'resent')
    ), counted as (
      select count(*) filter (where a.outcome = 'AA')::int as accepted, min(a.at) filter (where a.outcome = 'AA') as accepted_at,
             max(a.at) filter (where a.why = 'resent') as resent_at, max(a.at) filter (where a.is_wrong_patient) as wrong_at
        from attempt a
    )
    select k.protocols, c.accepted, coalesce(s.to_at > c.accepted_at, false) as is_followed,
           ${raw(instantOf('c.resent_at'))} as resent_at, ${raw(instantOf('c.wrong_at'))} as wrong_patient_at,
           (select ${raw(instantOf('min(x.first_at)'))} from key_kid x
             where x.site_id = k.site_id and x.client_id = k.client_id) as token_at,
           (select ${raw(instantOf('min(u.bucket)'))} from key_usage u
             where u.site_id = k.site_id and u.client_id = k.client_id and u.surface = 'fhir' and u.accepted > 0) as fhir_at,
           (select ${raw(instantOf('min(f.first_at)'))} from feed f
             where f.site_id = k.site_id and f.client_id = k.client_id) as message_at,
           greatest(0, coalesce((select sum(u.accepted) from key_usage u
             where u.site_id = k.site_id and u.client_id = k.client_id and u.surface in ('hl7', 'mllp') and u.bucket >= s.from_at)::int, 0)
             - c.accepted) as repeated,
           (select coalesce(json_agg(t), '[]') from (
              select n.message_type as type, count(*) filter (where n.outcome = 'AA')::int as accepted,
                     count(*) filter (where n.outcome <> 'AA')::int as rejected, ${raw(instantOf('max(n.received_at)'))} as last_at
                from newest n group by n.message_type order by n.message_type limit ${MAX_TYPES}::int) t)::text as types
      from api_key k cross join span s cross join counted c
     where k.site_id = ${site}::uuid and k.client_id = ${clientId}`;
}
