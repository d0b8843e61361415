/** Issues for administrators to review, with the patients as they are now. The function hl7_store writes them. */
import type { Query } from '../deps.ts';
import type { AttentionKind } from './attention.ts';
import { instantOf, raw, read, sql } from './sql.ts';

export const ATTENTION_STATES = ['open', 'merged', 'dismissed'] as const;
/** `merged`: one of the two patients has become the other since, so that nothing is left to do. */
export type AttentionState = (typeof ATTENTION_STATES)[number];

export interface AttentionRow {
  readonly attention_id: string;
  readonly kind: AttentionKind;
  readonly state: AttentionState;
  /** JSON object of codes, ids and places. */
  readonly detail: string;
  readonly created_at: string;
  readonly dismissed_at: string | null;
  readonly dismissed_by: string | null;
  readonly message_id: string | null;
  readonly message_type: string | null;
  readonly control_id: string | null;
  readonly patient_a: string | null;
  readonly patient_b: string | null;
  /** JSON objects with the members of a Patient that identify the person. */
  readonly person_a: string | null;
  readonly person_b: string | null;
}

/** SQL: the members of a resource that identify the patient, as JSON; a photo may be large. */
const personOf = (resource: string) => `(select json_build_object('name', j -> 'name', 'birthDate', j -> 'birthDate',
      'gender', j -> 'gender', 'identifier', j -> 'identifier', 'telecom', j -> 'telecom', 'address', j -> 'address')::text
    from (select ('{' || ${resource}.body || '}')::json as j where ${resource}.body is not null) p)`;

/** SQL: merged is one of them into the other (Patient.link of type replaced-by). */
const STATE = `case when t.dismissed_at is not null then 'dismissed'
    when a.replaced_by = t.patient_b or b.replaced_by = t.patient_a then 'merged' else 'open' end`;

/**
 * Lists the issues of a site, the newest first.
 *
 * @param after created_at and attention_id of the last one of the page before, or null
 */
export function listAttention(
  site: string,
  kinds: readonly AttentionKind[],
  state: AttentionState,
  after: readonly string[] | null,
  limit: number,
): Query<AttentionRow> {
  const page = read<AttentionRow>`select t.attention_id, t.kind, s.state, t.detail::text as detail,
      ${raw(instantOf('t.created_at', 'microsecond'))} as created_at, ${raw(instantOf('t.dismissed_at'))} as dismissed_at,
      t.dismissed_by, t.message_id, m.message_type, m.control_id, t.patient_a, t.patient_b,
      ${raw(personOf('a'))} as person_a, ${raw(personOf('b'))} as person_b
    from attention t
    left join resource a on a.site_id = t.site_id and a.type = 'Patient' and a.id = t.patient_a
    left join resource b on b.site_id = t.site_id and b.type = 'Patient' and b.id = t.patient_b
    left join hl7_message m on m.site_id = t.site_id and m.message_id = t.message_id
   cross join lateral (select ${raw(STATE)} as state) s
   where t.site_id = ${site}::uuid and t.kind = any (${kinds}::text[]) and s.state = ${state}
     and (t.dismissed_at is not null) = (${state} = 'dismissed')
     and (${after?.[0] ?? null}::timestamptz is null
       or (t.created_at, t.attention_id) < (${after?.[0] ?? null}::timestamptz, ${after?.[1] ?? null}::uuid))
   order by t.created_at desc, t.attention_id desc limit ${limit}::int`;
  // The patients on a page are noted for the audit; the last row only shows that there is a next page.
  const text = `with page as materialized (${page.text}), shown as (
      select p.patient_a, p.patient_b from page p order by p.created_at desc, p.attention_id desc limit ${limit - 1}), noted as materialized (
      select audit_note(array(select row('attention-viewed', 'Patient', s.id, null)::audit_item
        from (select patient_a as id from shown union select patient_b from shown) s where s.id is not null)) as done)
    select page.* from page cross join noted where noted.done
     order by page.created_at desc, page.attention_id desc`;
  return { ...page, text };
}

export interface Dismissal {
  readonly attention_id: string;
  readonly dismissed_at: string;
  readonly dismissed_by: string;
}

/** Dismisses an issue; the first dismissal stays. No row: the site has no such issue. */
export function dismissAttention(site: string, id: string, by: string): Query<Dismissal> {
  return sql<Dismissal>`update attention set dismissed_at = coalesce(dismissed_at, now()),
      dismissed_by = coalesce(dismissed_by, ${by})
    where site_id = ${site}::uuid and attention_id = ${id}::uuid
    returning attention_id, ${raw(instantOf('dismissed_at'))} as dismissed_at, dismissed_by`;
}
