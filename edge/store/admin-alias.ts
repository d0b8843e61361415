/** The URIs of namespaces in the messages of a key: those from the messages, and the decisions of administrators. */
import type { Query } from '../deps.ts';
import { instantOf, raw, read, sql } from './sql.ts';

export const ALIAS_STATES = ['taught', 'shown', 'confirmed', 'rejected'] as const;
/**
 * `taught`: a message sent both, and the URI is used if it is the only one. `shown`: it is not used, since an
 * administrator confirmed another one, or since only patient records suggest it. `confirmed`, `rejected`: an administrator decided.
 */
export type AliasState = (typeof ALIAS_STATES)[number];
export type AliasDecision = 'confirmed' | 'rejected';

/** Identifies an alias of a site. */
export interface AliasId {
  readonly clientId: string;
  /** In capitals. */
  readonly namespace: string;
  readonly uri: string;
}

export interface AliasRow {
  readonly client_id: string;
  readonly key_name: string;
  readonly namespace: string;
  readonly uri: string;
  readonly state: AliasState;
  readonly first_message: string;
  readonly created_at: string;
  readonly decided_at: string | null;
  readonly decided_by: string | null;
  /** The namespace's URI in the site's settings, which applies to every key. */
  readonly named_uri: string | null;
  /** A JSON array of `{ state, at, by }`, the newest first, twenty at most. */
  readonly decisions: string;
}

/**
 * Lists the aliases of a site, by key, namespace and URI.
 *
 * @param states any of these
 * @param namespace in capitals; '' for all
 * @param after client, namespace and URI of the last one of the page before, or null
 */
export function listAliases(
  site: string,
  states: readonly AliasState[],
  namespace: string,
  after: readonly string[] | null,
  limit: number,
): Query<AliasRow> {
  return read<AliasRow>`select a.client_id, k.name as key_name, a.namespace, a.uri, a.state, a.first_message,
      ${raw(instantOf('a.created_at'))} as created_at, ${raw(instantOf('a.decided_at'))} as decided_at, a.decided_by,
      n.value as named_uri, d.decisions
    from authority_alias a
    join api_key k on k.site_id = a.site_id and k.client_id = a.client_id
    join site s on s.site_id = a.site_id
    left join lateral (
      select e.value from jsonb_each_text(s.assigning_authorities) e where upper(trim(e.key)) = a.namespace limit 1) n on true
   cross join lateral (
     select coalesce(json_agg(json_build_object('state', x.state, 'at', ${raw(instantOf('x.at'))}, 'by', x.by)
              order by x.at desc), '[]')::text as decisions
       from (select * from authority_alias_decision y
              where y.site_id = a.site_id and y.client_id = a.client_id and y.namespace = a.namespace and y.uri = a.uri
              order by y.at desc limit 20) x) d
   where a.site_id = ${site}::uuid and a.state = any (${states}::text[])
     and (${namespace} = '' or a.namespace = ${namespace})
     and (${after?.[0] ?? null}::text is null or (a.client_id, a.namespace, a.uri)
       > (${after?.[0] ?? null}::text, ${after?.[1] ?? null}::text, ${after?.[2] ?? null}::text))
   order by a.client_id, a.namespace, a.uri limit ${limit}::int`;
}

export interface DecidedRow {
  readonly state: AliasState;
  readonly decided_at: string;
  readonly decided_by: string;
}

/**
 * Decides; no row where the site has no such alias. Deciding the same again changes nothing.
 *
 * @param by the person's name, for the history
 * @param never type codes (table 0203) that identify no patient
 */
export function decideAlias(
  site: string,
  { clientId, namespace, uri }: AliasId,
  decision: AliasDecision,
  by: string,
  never: readonly string[],
): Query<DecidedRow> {
  return sql<DecidedRow>`select d.state, ${raw(instantOf('d.decided_at'))} as decided_at, d.decided_by
    from authority_alias_decide(${site}::uuid, ${clientId}, ${namespace}, ${uri}, ${decision}, ${by}, ${never}::text[]) d`;
}
