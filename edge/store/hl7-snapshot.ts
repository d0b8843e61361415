/**
 * The snapshot that a message is decided by, as the database returns it (`hl7_load`, `hl7_matches` and `hl7_sender` in
 * migrations/functions).
 */
import type { AuditAction } from '../audit-actions.ts';
import type { Query } from '../deps.ts';
import type { Hl7KeyRecord } from '../members/api-key.ts';
import type { StoredResource } from './resource.ts';

/** What tells a message from others of its sender; with the hash, a retransmission from a reused control id. */
export interface MessageIdentity {
  /** MSH-3.1, MSH-4.1 and MSH-10; empty when absent. */
  readonly application: string;
  readonly facility: string;
  readonly controlId: string;
  /** Of the raw bytes, base64url. */
  readonly sha256: string;
}

/** None twice. */
export interface LookupKeys {
  readonly identifierValues: readonly string[];
  readonly keys: readonly { readonly type: string; readonly key: string }[];
}

/** The columns of a site that say how its messages are read. */
interface SiteSettings {
  /** IANA name. */
  readonly time_zone: string | null;
  readonly default_charset: string | null;
  readonly processing_ids: readonly string[];
  readonly assigning_authorities: UrisByName;
  readonly code_systems: UrisByName;
  readonly identifying_types: readonly string[];
  readonly placeholders: readonly string[];
  /** YYYY-MM-DD */
  readonly placeholder_birth_dates: readonly string[];
  readonly us_core: boolean;
}

export type UrisByName = Readonly<Record<string, string>>;

/** What namespaces stand for in the messages of a key (migrations/functions/hl7_authorities.sql). */
interface StoredAuthorities {
  readonly taught: UrisByName;
  /** `[namespace, URI]`: an administrator rejected that the namespace stands for the URI. */
  readonly rejected: readonly (readonly [namespace: string, uri: string])[];
}

/** A key, the settings that hold for its messages, and whether this one was seen. */
export interface SenderRow {
  readonly site_id: string;
  readonly client_id: string;
  readonly allowed_scopes: readonly string[];
  readonly key: Hl7KeyRecord;
  readonly site: SiteSettings;
  readonly authorities: StoredAuthorities;
  /** Of all that settles how messages of the key are read (`hl7_settings_state`). */
  readonly settings_state: string;
  /** Of the candidates in the same row; null, or `''`, where none were asked for. */
  readonly senders_state: string | null;
  /** Of the same bytes, when they are stored. */
  readonly seen_id: string | null;
  /** An attempt at them was AA. */
  readonly is_seen_accepted: boolean;
  /** Of the first attempt that was, hexadecimal; null where the sender asked for none. */
  readonly accepted_ack: string | null;
  /** Other bytes with the same MSH-3, MSH-4 and MSH-10 are stored. */
  readonly is_control_id_reused: boolean;
}

/** `hl7_matches` finds no more patients by one value: where it finds as many, there may be others. */
export const MAX_FOUND_PATIENTS = 100;

export interface MatchRow extends StoredResource {
  readonly role: 'patient' | 'identity' | 'result' | 'number' | 'trait';
  readonly key: string;
  readonly contributions: string | null;
  /** Which of the keys found it, from 1; null for what was found otherwise. */
  readonly asked: readonly number[] | null;
  /** The same for the same row, in the same version, with the same account of who said what of it. */
  readonly state: string;
}

/** What all of these rows together are told by, for `commitMessage`. */
export const statesOf = (rows: readonly Pick<MatchRow, 'state'>[]): readonly string[] =>
  rows.map(({ state }) => state).sort();

/** A key that an MLLP message may be of, or one that nearly fits, as far as it takes to choose. */
export interface CandidateRow {
  readonly site_id: string;
  readonly client_id: string;
  readonly status: 'active' | 'disabled';
  readonly protocols: readonly string[];
  readonly allowed_ips: readonly string[];
  readonly hl7_sender_application: string | null;
  readonly hl7_sender_facility: string | null;
  readonly tls_subject: string | null;
  /** The operator assigned such senders (address, MSH-3, MSH-4, certificate) to the key's site. */
  readonly is_own: boolean;
  /** And to another one. */
  readonly is_foreign: boolean;
}

const ROLES: readonly MatchRow['role'][] = ['trait', 'result', 'patient', 'number', 'identity'];

/** One order for the same rows, so that what is decided by them is the same wherever they were found. */
export function inOrder(rows: readonly MatchRow[]): MatchRow[] {
  const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
  return rows.toSorted(
    (a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || compare(a.id, b.id) || compare(a.key, b.key),
  );
}

/** How the transaction begins (`hl7_open`), and what the message names. */
export interface SnapshotQuery {
  readonly opening: readonly string[];
  /** The site of the opening, where one is named. */
  readonly site?: string | undefined;
  readonly identity: MessageIdentity;
  readonly lookup: LookupKeys;
  /** The action for the audit where a person is shown what is found; else null. */
  readonly shown: AuditAction | null;
}

/** JSON lists; null for none. */
export interface SnapshotRow {
  readonly candidates: string | null;
  readonly senders: string | null;
  readonly matches: string | null;
}

export const loadSnapshot = ({ opening, site, identity, lookup, shown }: SnapshotQuery): Query<SnapshotRow> => ({
  text: 'select candidates, senders, matches from hl7_load($1, $2, $3, $4, $5, $6)',
  params: [opening, JSON.stringify(identity), ...lookupParams(lookup), shown],
  ...(shown === null ? { reads: true } : { notes: true }),
  ...(site !== undefined && { site }),
});

/** The arguments of `hl7_matches`, without the site. */
export const lookupParams = ({ identifierValues, keys }: LookupKeys) => [
  identifierValues,
  keys.map(({ type }) => type),
  keys.map(({ key }) => key),
];

/** The lists of a row, as the functions make them. */
export function readSnapshotRow({ candidates, senders, matches }: SnapshotRow): {
  readonly candidates: readonly CandidateRow[];
  readonly senders: readonly SenderRow[];
  readonly matches: readonly MatchRow[];
} {
  const listOf = (text: string | null): unknown => (text === null ? [] : JSON.parse(text));
  return {
    candidates: listOf(candidates) as CandidateRow[],
    senders: listOf(senders) as SenderRow[],
    matches: listOf(matches) as MatchRow[],
  };
}
