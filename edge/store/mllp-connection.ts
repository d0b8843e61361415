/** Connections of MLLP senders as the sidecars report them (migrations/functions/mllp_connections_note.sql). */
import type { Query } from '../deps.ts';
import { instantOf, raw, read } from './sql.ts';

/** The connections of a key from one source address. */
export interface SourceRow {
  readonly client_id: string;
  readonly source_address: string;
  /** From its newest record, as the next three members. */
  readonly sidecar: string;
  readonly is_tls: boolean;
  readonly tls_subject: string;
  readonly senders: readonly string[];
  /** The open connections; 0 if its sidecar has not reported them for five minutes. */
  readonly open: number;
  readonly open_since: string | null;
  readonly closed_at: string | null;
  /** Why the last closed connection ended. */
  readonly reason: string | null;
}

/** Keys with more source addresses than this show the newest. */
const MAX_SOURCES = 1_000;

const OPEN = `(c.closed_at is null and c.reported_at > now() - interval '5 minutes')`;

/** The newest first. */
export function connectionSources(site: string): Query<SourceRow> {
  return read<SourceRow>`select client_id, source_address, (newest).sidecar, (newest).is_tls, (newest).tls_subject, (newest).senders,
      least(open, 2147483647)::int as open, ${raw(instantOf('open_since'))} as open_since,
      ${raw(instantOf('closed_at'))} as closed_at, reason
    from (select c.client_id, c.source_address,
                 coalesce(sum(c.connections) filter (where ${raw(OPEN)}), 0) as open,
                 min(c.opened_at) filter (where ${raw(OPEN)}) as open_since,
                 max(coalesce(c.closed_at, c.reported_at)) filter (where not ${raw(OPEN)}) as closed_at,
                 (array_agg(coalesce(c.reason, 'sidecar-silent') order by coalesce(c.closed_at, c.reported_at) desc)
                   filter (where not ${raw(OPEN)}))[1] as reason,
                 (array_agg(c order by c.closed_at is null desc, c.closed_at desc))[1] as newest
            from mllp_connection c where c.site_id = ${site}::uuid group by 1, 2
           order by open_since desc nulls last, closed_at desc nulls last limit ${MAX_SOURCES}::integer) s`;
}

export interface ConnectionRow {
  readonly sidecar: string;
  readonly source_address: string;
  readonly is_tls: boolean;
  readonly tls_subject: string;
  readonly senders: readonly string[];
  readonly has_sent: boolean;
  readonly connections: number;
  readonly opened_at: string;
  readonly closed_at: string | null;
  readonly reason: string | null;
}

/** The connections of a key in the last 24 hours, the open ones first, then those that closed last. */
export function connectionsOf(site: string, clientId: string): Query<ConnectionRow> {
  return read<ConnectionRow>`select c.sidecar, c.source_address, c.is_tls, c.tls_subject, c.senders, c.has_sent, c.connections,
      ${raw(instantOf('c.opened_at'))} as opened_at,
      ${raw(instantOf(`(case when ${OPEN} then null else coalesce(c.closed_at, c.reported_at) end)`))} as closed_at,
      case when ${raw(OPEN)} then null else coalesce(c.reason, 'sidecar-silent') end as reason
    from mllp_connection c
   where c.site_id = ${site}::uuid and c.client_id = ${clientId}
     and (c.closed_at is null or c.closed_at > now() - interval '24 hours')
   order by ${raw(OPEN)} desc, coalesce(c.closed_at, c.reported_at) desc limit 400`;
}
