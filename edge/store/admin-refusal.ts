/** The log of rejected and failed requests as administrators search it; edge/store/refusal.ts writes it. */
import type { Query } from '../deps.ts';
import { AUTHENTICATED_REFUSALS } from '../refusals.ts';
import { instantOf, raw, read } from './sql.ts';
import type { UsageSurface } from './usage.ts';

export interface RefusalFilter {
  /** '' for every key. */
  readonly clientId: string;
  /** One of USAGE_SURFACES, '' for all. */
  readonly surface: string;
  /** An HTTP status or MSA-1; its first digit and `xx`; '' for any. */
  readonly answer: string;
  /** The check that rejected, '' for any. */
  readonly code: string;
  /** Part of the reason or the source address, in any case; or a complete request id, whose time does not matter. */
  readonly text: string;
  /** Instants, '' for open. A row of a quarter of an hour matches if a part of it is in between. */
  readonly from: string;
  readonly to: string;
  /** Only requests that the key's private key or its access token authenticated. */
  readonly isAuthenticated: boolean;
}

export const ANY_REFUSAL: RefusalFilter = {
  clientId: '',
  surface: '',
  answer: '',
  code: '',
  text: '',
  from: '',
  to: '',
  isAuthenticated: false,
};

/** `failed` is an error of the gateway (5xx). */
export const outcomeOf = ({ answer }: Pick<FoundRefusal, 'answer'>): 'refused' | 'failed' =>
  answer.startsWith('5') ? 'failed' : 'refused';

/** All requests of one key, surface, answer and reason. */
export interface FoundRefusal {
  /** Computed from the key, surface, answer, code and reason. */
  readonly id: string;
  readonly client_id: string;
  readonly key_name: string;
  readonly surface: UsageSurface;
  readonly answer: string;
  readonly code: string;
  readonly reason: string;
  readonly requests: number;
  readonly first_at: string;
  readonly last_at: string;
  /** `last_at` to the microsecond, for the cursor. */
  readonly place: string;
  /** The id that the filter names, else the id of the last request. */
  readonly request_id: string;
  /** The filter names a request id. */
  readonly is_by_request_id: boolean;
  readonly source_address: string;
  /** JSON: `[{ since, requests }]`, the newest 24 quarters of an hour. */
  readonly quarters: string;
  /** MAX_ROWS were read, so older rows may be missing. */
  readonly is_cut: boolean;
}

/** Only so many rows are read, the newest, because the time of a request is limited. */
export const MAX_ROWS = 20_000;
const MAX_QUARTERS = 24;
/** Only so many rows of one request id are read: a proxy may give all requests one id. */
const MAX_OF_ID = 1_000;

/**
 * Requests by their reason, the reason of the last one first. A text that is a stored request id finds only its rows.
 *
 * @param after `place` and `id` of the last one of the page before, or null
 */
export function findRefusals(
  site: string,
  { clientId, surface, answer, code, text, from, to, isAuthenticated }: RefusalFilter,
  after: readonly string[] | null,
  limit: number,
): Query<FoundRefusal> {
  const [start, end] = [from === '' ? null : from, to === '' ? null : to];
  return read<FoundRefusal>`with kept as (
      select case when s.legal_hold then '-infinity' else now() - make_interval(days => s.keep_attempts_days) end as since
        from site s where s.site_id = ${site}::uuid
    ), named as materialized (
      select r.* from refusal_here r
       where r.site_id = ${site}::uuid and r.request_ids @> array[${text}] and r.since >= (select k.since from kept k)
       order by r.since desc limit ${MAX_OF_ID}::int
    ), newest as (
      select r.* from refusal r
       where r.site_id = ${site}::uuid and (${clientId} = '' or r.client_id = ${clientId})
         and r.since >= coalesce(${start}::timestamptz - interval '15 minutes', '-infinity')
         and r.since >= (select k.since from kept k)
         and (${end}::timestamptz is null or r.since < ${end}::timestamptz)
         and (not ${isAuthenticated}::boolean or r.surface in ('fhir', 'hl7')
              or (r.surface = 'token' and r.code = any(${AUTHENTICATED_REFUSALS}::text[])))
         and not exists (select from named)
       order by r.since desc limit ${MAX_ROWS}::int
    ), meant as (
      select n.*, md5(concat_ws(' ', n.client_id, n.surface, n.answer, n.code, n.reason_key))::uuid as id
        from (
          select d.*, ${text} as request_id, true as is_by_request_id from named d
           where ${clientId} = '' or d.client_id = ${clientId}
          union all
          select w.*, w.request_ids[1], false from newest w
           where (${start}::timestamptz is null or w.last_at >= ${start}::timestamptz)
             and (${end}::timestamptz is null or w.first_at < ${end}::timestamptz)
             and (${text} = '' or strpos(lower(concat_ws(' ', w.reason, w.source_address)), lower(${text})) > 0)) n
       where (${surface} = '' or n.surface = ${surface}) and (${code} = '' or n.code = ${code})
         and (${answer} = '' or n.answer like replace(${answer}, 'xx', '__'))
    ), grouped as (
      select m.id, m.client_id, m.surface, m.answer, m.code, m.reason, least(sum(m.requests), 2147483647)::int as requests,
             min(m.first_at) as first_at, max(m.last_at) as last_at,
             (array_agg(m.request_id order by m.last_at desc))[1] as request_id, bool_or(m.is_by_request_id) as is_by_request_id,
             (array_agg(m.source_address order by m.last_at desc))[1] as source_address
        from meant m group by 1, 2, 3, 4, 5, 6
      having ${after?.[0] ?? null}::timestamptz is null
          or (max(m.last_at), m.id) < (${after?.[0] ?? null}::timestamptz, ${after?.[1] ?? null}::uuid)
       order by max(m.last_at) desc, m.id desc limit ${limit}::int
    )
    select g.id, g.client_id, k.name as key_name, g.surface, g.answer, g.code, g.reason, g.requests, g.request_id,
           g.is_by_request_id, g.source_address, ${raw(instantOf('g.first_at'))} as first_at, ${raw(instantOf('g.last_at'))} as last_at,
           ${raw(instantOf('g.last_at', 'microsecond'))} as place,
           (select json_agg(json_build_object('since', ${raw(instantOf('q.since'))}, 'requests', q.requests) order by q.since desc)
              from (select m.since, m.requests from meant m where m.id = g.id order by m.since desc
                     limit ${MAX_QUARTERS}::int) q)::text as quarters,
           (select count(*) from newest) >= ${MAX_ROWS}::int as is_cut
      from grouped g join api_key k on k.site_id = ${site}::uuid and k.client_id = g.client_id
     order by g.last_at desc, g.id desc`;
}
