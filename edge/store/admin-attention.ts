/** Issues for administrators to review, with the patients as they are now. The function attention_add writes them. */
import type { Query } from '../deps.ts';
import { ATTENTION_KINDS, type AttentionKind } from './attention.ts';
import { personSql } from './person-sql.ts';
import { instantOf, raw, read, sql } from './sql.ts';

export const ATTENTION_STATES = ['open', 'merged', 'dismissed'] as const;
/** `merged`: the two patients have become one since, so that nothing is left to do. */
export type AttentionState = (typeof ATTENTION_STATES)[number];

/** Findings that a page shows of one issue, the newest first. */
export const SHOWN_FINDINGS = 5;
/** Counting of findings and messages stops here. */
export const MAX_COUNT = 1000;
/** Counting of the issues of a kind stops here. */
export const MAX_ISSUES = 100;

export interface AttentionRow {
  readonly issue_id: string;
  readonly kind: AttentionKind;
  readonly state: AttentionState;
  readonly subject: string;
  readonly found_at: string;
  readonly dismissed_at: string | null;
  readonly dismissed_by: string | null;
  readonly dismissed_reason: string | null;
  readonly patient_a: string | null;
  readonly patient_b: string | null;
  /** JSON objects with the members of a Patient that identify the person. */
  readonly person_a: string | null;
  readonly person_b: string | null;
  /** MAX_COUNT for that many or more. */
  readonly findings: number;
  readonly messages: number;
  /** JSON array of `{ detail, messageId, resources: [{ reference, body }] }`; a body is null where it is large. */
  readonly shown: string;
  /** The newest message. */
  readonly message_id: string | null;
  readonly message_type: string | null;
  readonly control_id: string | null;
  readonly sending_application: string | null;
  readonly sending_facility: string | null;
  /** A JSON array of `{ state, at, by, reason }`, the newest first, twenty at most. */
  readonly decisions: string;
  /** JSON: namespace to URI, as the site's settings name them. */
  readonly authorities: string;
}

/**
 * SQL: one of the patients was merged into the other, or both into a third (Patient.link of type replaced-by). It does not settle
 * a late merge, which may have the other direction, nor what an undone merge left.
 */
const STATE = `case when i.dismissed_at is not null then 'dismissed'
    when i.kind in ('stale-merge', 'undo-unclear') then 'open'
    when coalesce(a.replaced_by, i.patient_a) = coalesce(b.replaced_by, i.patient_b) then 'merged' else 'open' end`;

const PATIENTS = `left join resource a on a.site_id = i.site_id and a.type = 'Patient' and a.id = i.patient_a
    left join resource b on b.site_id = i.site_id and b.type = 'Patient' and b.id = i.patient_b`;

const RESOURCE = `'([A-Z][A-Za-z]+)/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'`;
const MAX_BODY_BYTES = 16_384;

/** SQL: a finding with the resources that it names. */
const FINDING = `json_build_object('detail', f.detail, 'messageId', f.message_id, 'resources', (
      select coalesce(json_agg(json_build_object('reference', n.type || '/' || n.id,
               'body', case when pg_column_size(r.body) < ${MAX_BODY_BYTES} then r.body end) order by n.place), '[]')
        from (select 1 as place, m[1] as type, m[2]::uuid as id from regexp_match(f.about, '^' || ${RESOURCE}) m where m is not null
              union all select 2, 'Observation', (f.detail ->> 'final')::uuid where f.detail ->> 'final' is not null) n
        join resource r on r.site_id = f.site_id and r.type = n.type and r.id = n.id))`;

const countOf = (table: string) =>
  `(select count(*)::int from (select from ${table} x where x.site_id = p.site_id and x.issue_id = p.issue_id limit ${MAX_COUNT}) c)`;

/**
 * Lists the issues of a site, those with the newest findings first.
 *
 * @param after found_at and issue_id of the last one of the page before, or null
 */
export function listAttention(
  site: string,
  kinds: readonly AttentionKind[],
  state: AttentionState,
  after: readonly string[] | null,
  limit: number,
): Query<AttentionRow> {
  const page = read<AttentionRow>`select i.*, s.state, a.body as body_a, b.body as body_b
    from issue i ${raw(PATIENTS)}
   cross join lateral (select ${raw(STATE)} as state) s
   where i.site_id = ${site}::uuid and i.kind = any (${kinds}::text[]) and s.state = ${state}
     and (i.dismissed_at is not null) = (${state} = 'dismissed')
     and (${after?.[0] ?? null}::timestamptz is null
       or (i.found_at, i.issue_id) < (${after?.[0] ?? null}::timestamptz, ${after?.[1] ?? null}::uuid))
   order by i.found_at desc, i.issue_id desc limit ${limit}::int`;
  // The patients on a page are noted for the audit; the last row only shows that there is a next page.
  const text = `with page as materialized (${page.text}), shown as (
      select p.patient_a, p.patient_b from page p order by p.found_at desc, p.issue_id desc limit ${limit - 1}), noted as materialized (
      select audit_note(array(select row('attention-viewed', 'Patient', s.id, null)::audit_item
        from (select patient_a as id from shown union select patient_b from shown) s where s.id is not null)) as done)
    select p.issue_id, p.kind, p.state, p.subject, ${instantOf('p.found_at', 'microsecond')} as found_at,
      ${instantOf('p.dismissed_at')} as dismissed_at, p.dismissed_by, p.dismissed_reason, p.patient_a, p.patient_b,
      ${personSql('a')} as person_a, ${personSql('b')} as person_b, ${countOf('attention')} as findings, ${countOf('issue_message')} as messages,
      (select coalesce(json_agg(x.finding), '[]')::text from (select ${FINDING} as finding from attention f
        where f.site_id = p.site_id and f.issue_id = p.issue_id order by f.created_at desc, f.about limit ${SHOWN_FINDINGS}) x) as shown,
      m.message_id, m.message_type, m.control_id, m.sending_application, m.sending_facility,
      (select coalesce(json_agg(json_build_object('state', d.state, 'at', ${instantOf('d.at')}, 'by', d.by, 'reason', d.reason)), '[]')::text
        from (select * from issue_decision y where y.site_id = p.site_id and y.issue_id = p.issue_id
               order by y.at desc limit 20) d) as decisions,
      t.assigning_authorities::text as authorities
      from page p
     cross join noted
     cross join lateral (select p.body_a as body) a
     cross join lateral (select p.body_b as body) b
      join site t on t.site_id = p.site_id
      left join lateral (select x.message_id from issue_message x
        where x.site_id = p.site_id and x.issue_id = p.issue_id order by x.message_id desc limit 1) l on true
      left join hl7_message m on m.site_id = p.site_id and m.message_id = l.message_id
     where noted.done
     order by p.found_at desc, p.issue_id desc`;
  return { ...page, text };
}

export interface IssueCount {
  readonly kind: AttentionKind;
  /** MAX_ISSUES for that many or more. */
  readonly issues: number;
}

/** The number of open issues of each kind that has any. */
export const countAttention = (site: string): Query<IssueCount> =>
  read<IssueCount>`select k.kind, c.issues from unnest(${ATTENTION_KINDS}::text[]) with ordinality k(kind, place)
   cross join lateral (select count(*)::int as issues from (
     select from issue i ${raw(PATIENTS)}
      where i.site_id = ${site}::uuid and i.kind = k.kind and i.dismissed_at is null and ${raw(STATE)} = 'open'
      limit ${MAX_ISSUES}::int) x) c
   where c.issues > 0 order by k.place`;

export interface Decided {
  readonly issue_id: string;
  /** False: the issue has a finding that the person has not seen. */
  readonly is_current: boolean;
  readonly dismissed_at: string | null;
  readonly dismissed_by: string | null;
  readonly dismissed_reason: string | null;
}

const DECIDED = `dismissed_by, dismissed_reason, ${instantOf('dismissed_at')} as dismissed_at`;

/**
 * Dismisses an issue; the first dismissal stays. No row: the site has no such issue.
 *
 * @param seen found_at of the issue that the person has seen; null: any
 */
export function dismissAttention(
  site: string,
  id: string,
  by: string,
  reason: string,
  seen: string | null,
): Query<Decided> {
  return sql<Decided>`with dismissed as (
      update issue set dismissed_at = now(), dismissed_by = ${by}, dismissed_reason = ${reason}
       where site_id = ${site}::uuid and issue_id = ${id}::uuid and dismissed_at is null
         and (${seen}::timestamptz is null or found_at = ${seen}::timestamptz)
      returning *),
    noted as (insert into issue_decision (site_id, issue_id, state, by, reason)
      select site_id, issue_id, 'dismissed', dismissed_by, dismissed_reason from dismissed)
    select issue_id, true as is_current, ${raw(DECIDED)} from dismissed
    union all select issue_id, dismissed_at is not null, ${raw(DECIDED)} from issue
     where site_id = ${site}::uuid and issue_id = ${id}::uuid and not exists (select from dismissed)`;
}

/** Undoes the dismissal of an issue; an open one stays open. No row: the site has no such issue. */
export function reopenAttention(site: string, id: string, by: string): Query<Pick<Decided, 'issue_id'>> {
  return sql<Pick<Decided, 'issue_id'>>`with reopened as (
      update issue set dismissed_at = null, dismissed_by = null, dismissed_reason = null
       where site_id = ${site}::uuid and issue_id = ${id}::uuid and dismissed_at is not null
      returning *),
    noted as (insert into issue_decision (site_id, issue_id, state, by)
      select site_id, issue_id, 'reopened', ${by} from reopened)
    select issue_id from issue where site_id = ${site}::uuid and issue_id = ${id}::uuid`;
}
