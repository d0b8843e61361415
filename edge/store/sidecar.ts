/** The MLLP sidecars that called lately. They serve every site, so this is the one thing here that is no site's. */
import type { Query } from '../deps.ts';
import { instantOf, raw, read, sql } from './sql.ts';

/** @param issuer the `iss` of the sidecar's token; cheap enough for every call, written at most once in 30 s */
export function noteSidecar(issuer: string): Query {
  return sql`select sidecar_note(${issuer})`;
}

export interface SidecarRow {
  readonly issuer: string;
  readonly first_seen: string;
  readonly last_seen: string;
}

export function sidecarsSeen(): Query<SidecarRow> {
  return read<SidecarRow>`select issuer, ${raw(instantOf('first_seen', 'second'))} as first_seen,
      ${raw(instantOf('last_seen', 'second'))} as last_seen
    from sidecar_seen where last_seen > now() - interval '7 days' order by last_seen desc limit 50`;
}
