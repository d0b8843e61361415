/** The MLLP sidecars that called lately. They serve every site, so this is the one thing here that is no site's. */
import type { SidecarState } from '../../shared/mllp-contract.ts';
import type { Query } from '../deps.ts';
import { instantOf, raw, read, sql } from './sql.ts';

/**
 * @param issuer the `iss` of the sidecar's token; cheap enough for every call, written at most once in 30 s
 * @param clockSeconds how far its clock is behind ours
 * @param state what it says of itself; undefined leaves what it said before
 */
export function noteSidecar(issuer: string, clockSeconds: number, state?: SidecarState): Query {
  return sql`select sidecar_heard(${issuer}, ${clockSeconds}::integer, ${state?.version ?? null}, ${state?.connections ?? null}::integer)`;
}

/** A sidecar that is not let in. */
export interface TurnedAway {
  readonly reason: 'clock' | 'unknown-key';
  /** Its `iss`, which is its own only where its key is known; else empty. */
  readonly name: string;
  /** Of a key that is not known, where it is such as a key of ours could have. */
  readonly kid: string | null;
  /** How far its clock is behind ours; null where it does not matter. */
  readonly clockSeconds: number | null;
}

export function noteTurnedAway({ reason, name, kid, clockSeconds }: TurnedAway, sourceAddress: string): Query {
  return sql`select sidecar_turned_away(${reason}, ${name}, ${kid}, ${clockSeconds}::integer, ${sourceAddress})`;
}

export interface SidecarRow {
  readonly issuer: string;
  readonly first_seen: string;
  readonly last_seen: string;
  /** How far its clock is behind ours; null where an older release noted it. */
  readonly clock_seconds: number | null;
  /** What it says of itself; null where it has said nothing lately. */
  readonly version: string | null;
  readonly connections: number | null;
}

/** SQL: what it said no longer than five minutes before it was last heard of, else null: another release may say nothing. */
const said = (column: string): string => `case when told_at > last_seen - interval '5 minutes' then ${column} end`;

export function sidecarsSeen(): Query<SidecarRow> {
  return read<SidecarRow>`select issuer, clock_seconds, ${raw(instantOf('first_seen', 'second'))} as first_seen,
      ${raw(instantOf('last_seen', 'second'))} as last_seen, ${raw(said('version'))} as version, ${raw(said('connections'))} as connections
    from sidecar_seen where last_seen > now() - interval '7 days' order by last_seen desc limit 50`;
}

export interface TurnedAwayRow {
  readonly reason: TurnedAway['reason'];
  readonly name: string;
  readonly kid: string | null;
  readonly clock_seconds: number | null;
  readonly source_address: string;
  readonly at: string;
}

/** Those of the last quarter of an hour, in which a sidecar has asked sixty times. */
export function sidecarsTurnedAway(): Query<TurnedAwayRow> {
  return read<TurnedAwayRow>`select reason, name, kid, clock_seconds, source_address, ${raw(instantOf('at', 'second'))} as at
    from sidecar_refused where at > now() - interval '15 minutes' order by at desc limit 50`;
}
