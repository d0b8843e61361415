/**
 * The snapshot that a message is decided by, as the database returns it (`hl7_load`, `hl7_matches` and `hl7_sender` in
 * migrations/functions).
 */
import type { AuditAction } from '../audit-actions.ts';
import type { Query } from '../deps.ts';
import type { Hl7KeyRecord } from '../members/api-key.ts';
import type { SenderRule } from '../members/sender-rules.ts';
import { codeParams, readCodeRows, type CodeRows, type LiveTable, type SentCode } from './code-table.ts';
import type { StoredResource } from './resource.ts';

/** Identifies a message of its sender. With the hash it distinguishes a retransmission from a reused control id. */
export interface MessageIdentity {
  /** MSH-3.1, MSH-4.1 and MSH-10; empty if absent. */
  readonly application: string;
  readonly facility: string;
  readonly controlId: string;
  /** The hash of the raw bytes, base64url. */
  readonly sha256: string;
}

/** Each key once. */
export interface LookupKeys {
  readonly identifierValues: readonly string[];
  readonly keys: readonly { readonly type: string; readonly key: string }[];
}

/** The columns of a site that concern its messages. */
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
  readonly code_tables: readonly LiveTable[];
}

export type UrisByName = Readonly<Record<string, string>>;

/** The URIs of namespaces in the messages of a key (migrations/functions/hl7_authorities.sql). */
interface StoredAuthorities {
  readonly taught: UrisByName;
  /** Namespaces whose URI an administrator confirmed. */
  readonly confirmed: readonly string[];
  readonly contested: Readonly<Record<string, readonly string[]>>;
  readonly shared: Readonly<Record<string, readonly string[]>>;
  /** `[namespace, URI]` pairs that an administrator rejected. */
  readonly rejected: readonly (readonly [namespace: string, uri: string])[];
}

/** The live rules of an API key (api_key.hl7_rules). */
export interface LiveRules {
  readonly version: number;
  readonly rules: readonly SenderRule[];
}

/** An API key with its settings, and what is stored of the message. */
export interface SenderRow {
  readonly site_id: string;
  readonly client_id: string;
  readonly allowed_scopes: readonly string[];
  readonly key: Hl7KeyRecord & { readonly hl7_rules: LiveRules | null };
  readonly site: SiteSettings;
  readonly authorities: StoredAuthorities;
  /** Changes with any of the settings (`hl7_settings_state`). */
  readonly settings_state: string;
  /** Changes with the candidates of the same row; null or `''` without candidates. */
  readonly senders_state: string | null;
  /** The stored message with the same bytes. */
  readonly seen_id: string | null;
  /** One of its attempts was AA. */
  readonly is_seen_accepted: boolean;
  /** The ACK of the first AA, hexadecimal; null if the sender asked for none. */
  readonly accepted_ack: string | null;
  /** Other bytes with the same MSH-3, MSH-4 and MSH-10 are stored. */
  readonly is_control_id_reused: boolean;
}

/** The limit of `hl7_matches` for one value: at this number there may be more. */
export const MAX_FOUND_PATIENTS = 100;

export interface MatchRow extends StoredResource {
  readonly role: 'patient' | 'identity' | 'result' | 'number' | 'trait';
  readonly key: string;
  readonly contributions: string | null;
  /** The positions of the keys that found it, from 1; null without a key. */
  readonly asked: readonly number[] | null;
  /** Equal for the same version of the row with the same precedences. */
  readonly state: string;
}

/** For `commitMessage`, which compares them. */
export const statesOf = (rows: readonly Pick<MatchRow, 'state'>[]): readonly string[] =>
  rows.map(({ state }) => state).sort();

/** An API key that an MLLP message may belong to, or that nearly fits. */
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
  /** The operator assigned them to another site. */
  readonly is_foreign: boolean;
}

const ROLES: readonly MatchRow['role'][] = ['trait', 'result', 'patient', 'number', 'identity'];

/** One order for equal rows, so that the decision does not depend on their source. */
export function inOrder(rows: readonly MatchRow[]): MatchRow[] {
  const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
  return rows.toSorted(
    (a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || compare(a.id, b.id) || compare(a.key, b.key),
  );
}

/** The opening of the transaction (`hl7_open`), and the lookup of the message. */
export interface SnapshotQuery {
  readonly opening: readonly string[];
  /** The site of the opening; undefined for an address. */
  readonly site?: string | undefined;
  readonly identity: MessageIdentity;
  readonly lookup: LookupKeys;
  /** Codes to look up in live code tables. */
  readonly codes: readonly SentCode[];
  /** The action for the audit if a person sees what is found; else null. */
  readonly shown: AuditAction | null;
}

/** JSON lists; null for none. The matches are `excess` if they are too large (hl7_matches_json.sql). */
export interface SnapshotRow {
  readonly candidates: string | null;
  readonly senders: string | null;
  readonly matches: string | null;
  /** JSON `{ tables, rows }`; null without codes or live tables. Only a load has it. */
  readonly codes?: string | null;
}

export const loadSnapshot = ({ opening, site, identity, lookup, codes, shown }: SnapshotQuery): Query<SnapshotRow> => ({
  text: 'select candidates, senders, matches, codes from hl7_load($1, $2, $3, $4, $5, $6, $7, $8)',
  params: [opening, JSON.stringify(identity), ...lookupParams(lookup), shown, ...codeParams(codes)],
  ...(shown === null ? { reads: true } : { notes: true }),
  ...(site !== undefined && { site }),
});

/** The arguments of `hl7_matches`, without the site. */
export const lookupParams = ({ identifierValues, keys }: LookupKeys) => [
  identifierValues,
  keys.map(({ type }) => type),
  keys.map(({ key }) => key),
];

export function readSnapshotRow({ candidates, senders, matches }: SnapshotRow): {
  readonly candidates: readonly CandidateRow[];
  readonly senders: readonly SenderRow[];
  readonly matches: readonly MatchRow[];
  readonly isExcessive: boolean;
} {
  const listOf = (text: string | null): unknown => (text === null ? [] : JSON.parse(text));
  const isExcessive = matches === 'excess';
  return {
    candidates: listOf(candidates) as CandidateRow[],
    senders: listOf(senders) as SenderRow[],
    matches: isExcessive ? [] : (listOf(matches) as MatchRow[]),
    isExcessive,
  };
}

/** The tables and rows of a load; undefined if no codes were looked up. */
export function readLoadedCodes(
  { codes: found }: SnapshotRow,
  codes: readonly SentCode[],
): { readonly tables: readonly LiveTable[]; readonly rows: CodeRows } | undefined {
  if (typeof found !== 'string') return undefined;
  const { tables, rows } = JSON.parse(found) as { readonly tables: readonly LiveTable[]; readonly rows: unknown };
  return { tables, rows: readCodeRows(codes, rows) };
}
