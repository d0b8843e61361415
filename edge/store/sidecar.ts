/** The MLLP sidecars that called lately. They serve every site, so only this module here belongs to no site. */
import type { ConnectionRecord, SidecarState } from '../../shared/mllp-contract.ts';
import type { Query } from '../deps.ts';
import { instantOf, raw, read, sql } from './sql.ts';

/**
 * @param issuer the `iss` of the sidecar's token; cheap enough for every call, written at most once in 30 s
 * @param clockSeconds how far its clock is behind the gateway's
 * @param state the values that it reports; undefined keeps the earlier values
 */
export function noteSidecar(issuer: string, clockSeconds: number, state?: SidecarState): Query {
  return sql`select sidecar_note(${issuer}, ${clockSeconds}::integer, ${state?.version ?? null}, ${state?.connections ?? null}::integer)`;
}

/** A record of connections, with the keys that their messages belong to. */
export interface OwnedConnections extends Omit<ConnectionRecord, 'senders'> {
  /** `senders`: MSH-3 and MSH-4 as text. */
  readonly owners: readonly { readonly site: string; readonly clientId: string; readonly senders: readonly string[] }[];
}

/** @param sites those that the sidecar's key may speak for; undefined for all */
export function noteConnections(
  issuer: string,
  run: string,
  sites: readonly string[] | undefined,
  records: readonly OwnedConnections[],
): Query {
  return sql`select mllp_connections_note(${issuer}, ${run}::uuid, ${sites ?? null}::uuid[], ${JSON.stringify(records)}::json)`;
}

/** A sidecar that was rejected. */
export interface RejectedSidecar {
  readonly reason: 'clock' | 'unknown-key';
  /** Its `iss` if its key is known; else empty, because the name is not verified. */
  readonly name: string;
  /** The id of an unknown key, if the gateway could have a key with this id. */
  readonly kid: string | null;
  /** How far its clock is behind the gateway's; null if it does not matter. */
  readonly clockSeconds: number | null;
}

export function noteRejectedSidecar(
  { reason, name, kid, clockSeconds }: RejectedSidecar,
  sourceAddress: string,
): Query {
  return sql`select sidecar_refusal_note(${reason}, ${name}, ${kid}, ${clockSeconds}::integer, ${sourceAddress})`;
}

export interface SidecarRow {
  readonly issuer: string;
  readonly first_seen: string;
  readonly last_seen: string;
  /** How far its clock is behind the gateway's; null if an older release noted it. */
  readonly clock_seconds: number | null;
  /** The version that it reports; null if it has reported nothing lately. */
  readonly version: string | null;
  readonly connections: number | null;
}

/**
 * SQL: a value that it reported at most five minutes before its last call, else null: another release may report
 * nothing.
 */
const said = (column: string): string => `case when reported_at > last_seen - interval '5 minutes' then ${column} end`;

export function sidecarsSeen(): Query<SidecarRow> {
  return read<SidecarRow>`select issuer, clock_seconds, ${raw(instantOf('first_seen', 'second'))} as first_seen,
      ${raw(instantOf('last_seen', 'second'))} as last_seen, ${raw(said('version'))} as version, ${raw(said('connections'))} as connections
    from sidecar_seen where last_seen > now() - interval '7 days' order by last_seen desc limit 50`;
}

export interface RejectedSidecarRow {
  readonly reason: RejectedSidecar['reason'];
  readonly name: string;
  readonly kid: string | null;
  readonly clock_seconds: number | null;
  readonly source_address: string;
  readonly at: string;
}

/** Those of the last quarter of an hour, in which a sidecar has asked sixty times. */
export function rejectedSidecars(): Query<RejectedSidecarRow> {
  return read<RejectedSidecarRow>`select reason, name, kid, clock_seconds, source_address, ${raw(instantOf('at', 'second'))} as at
    from sidecar_refused where at > now() - interval '15 minutes' order by at desc limit 50`;
}
