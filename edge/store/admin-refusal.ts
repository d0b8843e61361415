/** Refusals as administrators search them; they are written by edge/store/refusal.ts. */
import type { Query } from '../deps.ts';
import type { RefusalRow } from './refusal.ts';
import { instantOf, raw, read } from './sql.ts';

export interface RefusalFilter {
  /** '' for those of every key. */
  readonly clientId: string;
  /** `token` or `mllp`, '' for both. */
  readonly surface: string;
  /** Which check refused, '' for any. */
  readonly code: string;
  /** Part of the reason, the source address or the request id, in any case. */
  readonly text: string;
}

export interface FoundRefusal extends RefusalRow {
  readonly client_id: string;
  readonly key_name: string;
}

/** @param before the last refusal_id of the page before, or null */
export function findRefusals(
  site: string,
  { clientId, surface, code, text }: RefusalFilter,
  before: string | null,
  limit: number,
): Query<FoundRefusal> {
  return read<FoundRefusal>`select r.refusal_id, ${raw(instantOf('r.at'))} as at,
      r.surface, r.request_id, r.source_address, r.code, r.reason, r.client_id, k.name as key_name
    from refusal r join api_key k on k.site_id = r.site_id and k.client_id = r.client_id
    where r.site_id = ${site}::uuid and r.at > (
        select case when s.legal_hold then '-infinity' else now() - make_interval(days => s.keep_attempts_days) end
          from site s where s.site_id = ${site}::uuid)
      and (${clientId} = '' or r.client_id = ${clientId}) and (${surface} = '' or r.surface = ${surface})
      and (${code} = '' or r.code = ${code})
      and (${text} = '' or strpos(lower(concat_ws(' ', r.reason, r.source_address, r.request_id)), lower(${text})) > 0)
      and (${before}::uuid is null or r.refusal_id < ${before}::uuid)
    order by r.refusal_id desc limit ${limit}::int`;
}
