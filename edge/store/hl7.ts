/**
 * HL7 messages in the database (`hl7_known`, `hl7_take` and `hl7_write` in migrations/functions): what a message finds, and the message
 * with all its effects. The statements of an API key that sends messages are here too.
 */
import type { AckError } from '../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../shared/hl7/error-code.ts';
import type { Param, Query } from '../deps.ts';
import type { NewAttention } from './attention.ts';
import { type AuditAction, type auditEntry, auditLine } from './audit.ts';
import type { ResultRow } from './hl7-result.ts';
import type { MessageKey } from './message-key.ts';
import type { ResourceWrite, StoredResource } from './resource.ts';
import type { IdentityCheck, UnsupportedTypes } from './sender-choice.ts';
import { instantOf, read, sql } from './sql.ts';
import type { UnnamedName } from './unnamed-name.ts';

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

/** A key, the settings that hold for its messages, and whether this one was seen. */
export interface SenderRow {
  readonly site_id: string;
  readonly client_id: string;
  readonly allowed_scopes: readonly string[];
  /** IANA name. */
  readonly time_zone: string | null;
  /** JSON object: namespace to system URI. */
  readonly assigning_authorities: string;
  /** JSON object: namespace to the URI that messages of this key taught. */
  readonly taught_authorities: string;
  /** JSON list of `[namespace, URI]`: what an administrator said the namespace does not stand for. */
  readonly rejected_authorities: string;
  /** Of all that settles how messages of the key are read (`hl7_settings_state`). */
  readonly settings_state: string;
  /** Of what `mllpSenders` found in the same batch; null, or `''`, where it was not asked. */
  readonly senders_state: string | null;
  readonly default_charset: string | null;
  readonly processing_ids: readonly string[];
  readonly hl7_default_authority: string | null;
  readonly hl7_identity_check: IdentityCheck;
  readonly hl7_strict: boolean;
  readonly hl7_unsupported_types: UnsupportedTypes;
  readonly hl7_accept_ack: boolean;
  readonly hl7_information: boolean;
  /** JSON object: name of a coding system to its URI. */
  readonly code_systems: string;
  readonly identifying_types: readonly string[];
  readonly placeholders: readonly string[];
  /** YYYY-MM-DD */
  readonly placeholder_birth_dates: readonly string[];
  readonly us_core: boolean;
  /** Of the same bytes, when they are stored. */
  readonly seen_id: string | null;
  /** An attempt at them was AA. */
  readonly is_seen_accepted: boolean;
  /** Of the first attempt that was, hexadecimal; null where the sender asked for none. */
  readonly accepted_ack: string | null;
  /** Other bytes with the same MSH-3, MSH-4 and MSH-10 are stored. */
  readonly is_control_id_reused: boolean;
}

/** `hl7_known` finds no more patients by one value: where it finds as many, there may be others. */
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

/** What all of these rows together are told by, for `takeMessage`. */
export const statesOf = (rows: readonly Pick<MatchRow, 'state'>[]): readonly string[] =>
  rows.map(({ state }) => state).sort();

/** The reason, in a message's errors, that the gateway itself is to blame. */
export const FAILED = 'gateway-failed';

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

/**
 * Of all sites. Where those that may be meant are of one, what follows in the batch is about that site, and about these
 * keys as `CANDIDATES`.
 */
export function mllpSenders(
  sourceAddress: string,
  application: string,
  facility: string,
  tlsSubject: string,
): Query<CandidateRow> {
  return read<CandidateRow>`select site_id, client_id, status, protocols, allowed_ips, hl7_sender_application,
      hl7_sender_facility, tls_subject, is_own, is_foreign
    from mllp_candidates(${sourceAddress}, ${application}, ${facility}, ${tlsSubject})`;
}

/** Which keys of the batch's site a query is about: one that is known, or those that `mllpSenders` found. */
export type SenderChoice = { readonly site: string; readonly clientId: string } | typeof CANDIDATES;
export const CANDIDATES = 'candidates';

/** What became of a message that `takeMessage` was asked to take. */
export type TakeOutcome = 'stored' | 'seen' | 'retry';

/** A statement that asks for nothing unless `takeMessage`, before it in the batch, came to one of these. */
const behind = (outcomes: readonly TakeOutcome[] | undefined): string =>
  outcomes === undefined ? '' : ` where current_setting('gateway.message', true) in ('${outcomes.join("', '")}')`;

/** The keys with their settings, and what is known of the message itself: `senderIn` reads it. */
export function sendersOf(
  choice: SenderChoice,
  { application, facility, controlId, sha256 }: MessageIdentity,
  outcomes?: readonly TakeOutcome[],
): Query<{ readonly sender: string }> {
  const { site, clientId } = choice === CANDIDATES ? { site: null, clientId: null } : choice;
  const text = `select hl7_sender($1::uuid, $2, $3, $4, $5, $6) as sender${behind(outcomes)}`;
  return { text, params: [site, clientId, application, facility, controlId, sha256], reads: true };
}

/** A row of `sendersOf`. */
export const senderIn = ({ sender }: { readonly sender: string }): SenderRow => JSON.parse(sender) as SenderRow;

/** What a site has for a message: `inOrder` puts it in order. @param site null: that of the keys that `mllpSenders` found */
export function matchesOf(site: string | null, lookup: LookupKeys, outcomes?: readonly TakeOutcome[]): Query<MatchRow> {
  // What was stored is not told again to whoever stored it.
  const told = (column: string): string =>
    outcomes === undefined
      ? `m.${column}`
      : `case current_setting('gateway.message') when 'stored' then '' else m.${column} end as ${column}`;
  const text = `select m.role, m.key, m.type, m.id, m.version, ${instantOf('m.last_updated')} as last_updated,
      ${told('meta')}, ${told('body')}, m.contributions, m.asked, m.state
    from hl7_known(coalesce($1::uuid, nullif(current_setting('gateway.site', true), '')::uuid), $2::text[], $3::text[], $4::text[]) m${behind(outcomes)}`;
  return { text, params: [site, ...lookupParams(lookup)], reads: true };
}

const ROLES: readonly MatchRow['role'][] = ['trait', 'result', 'patient', 'number', 'identity'];

/** One order for the same rows, so that what is decided by them is the same wherever they were found. */
export function inOrder(rows: readonly MatchRow[]): MatchRow[] {
  const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
  return rows.toSorted(
    (a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || compare(a.id, b.id) || compare(a.key, b.key),
  );
}

/** The same for people of a site, who are shown what was found: it is noted for the audit. */
export function shownMatchesOf(site: string, lookup: LookupKeys, action: AuditAction): Query<MatchRow> {
  const { text, params } = matchesOf(site, lookup);
  return {
    text: `with m as materialized (${text}), noted as materialized (
      select audit_note(array_agg(${auditLine(action, 'r')})) as done
        from m s join resource r on r.site_id = $1::uuid and r.type = s.type and r.id = s.id)
    select m.* from m cross join noted where noted.done`,
    params,
  };
}

/** Whether the key has sent a message of one of these hashes. */
export function wasSent(
  { site, clientId }: { readonly site: string; readonly clientId: string },
  { application, facility, controlId }: MessageIdentity,
  hashes: readonly string[],
): Query<{ readonly was_sent: boolean }> {
  return sql<{ was_sent: boolean }>`select exists (select from hl7_message m
    where m.site_id = ${site}::uuid and m.client_id = ${clientId} and m.sending_application = ${application}
      and m.sending_facility = ${facility} and m.control_id = ${controlId} and m.sha256 = any (${hashes}::text[])) as was_sent`;
}

const lookupParams = ({ identifierValues, keys }: LookupKeys) => [
  identifierValues,
  keys.map(({ type }) => type),
  keys.map(({ key }) => key),
];

/** Why a message is processed; all but `received` are about one that is stored. */
export type AttemptReason =
  | 'received' // it came for the first time
  | 'resent' // its sender sent the same bytes again after they had been refused
  | 'replayed' // an administrator asked for it
  | 'forced' // an administrator asked for it although newer data exist
  | 'retried'; // by the gateway itself, after a fault of its own

export interface NewMessage extends MessageIdentity {
  readonly messageId: string;
  readonly clientId: string;
  readonly source: 'http' | 'mllp';
  readonly sourceAddress: string;
  /** Null without a certificate. */
  readonly tlsSubject: string | null;
  readonly requestId: string;
  /** MSH-9 as far as it was read: `ADT^A01`. */
  readonly type: string;
  readonly outcome: ApplicationCode;
  readonly errors: readonly AckError[];
  readonly why: AttemptReason;
  /** Who asked for a replay; null where nobody did. */
  readonly actor: string | null;
  /** Why, in the words of who asked for it. */
  readonly comment: string | null;
  /** The job that it is a part of. */
  readonly jobId: string | null;
  /** A fault of ours kept it from being processed. */
  readonly hasFailed: boolean;
  /** Of the row that `sendersOf` found. */
  readonly settings: string;
  /** Of the same row, where the key was chosen among what `mllpSenders` found; else null. */
  readonly senders: string | null;
  /** Of a message that is received: what `sendersOf` said. Else null. */
  readonly isControlIdReused: boolean | null;
  readonly audit: ReturnType<typeof auditEntry>;
  /** What it is found by. */
  readonly keys: readonly MessageKey[];
  /** Since it was received, in milliseconds. */
  readonly elapsedMs: number;
}

export interface MessageEffects {
  readonly results: readonly ResultRow[];
  readonly writes: readonly ResourceWrite[];
  readonly identities: readonly { readonly type: string; readonly key: string; readonly id: string }[];
  readonly merges: readonly { readonly from: string; readonly to: string }[];
  /** Of two resources that merges make one, the id of the one that goes and of the one that stays. */
  readonly met: readonly { readonly gone: string; readonly kept: string }[];
  readonly orders: readonly { readonly type: string; readonly id: string; readonly fields: string }[];
  /** Numbers that a message only listed with a patient, and that another has now. */
  readonly moved: readonly { readonly patient: string; readonly domain: string; readonly value: string }[];
  readonly aliases: readonly NewAlias[];
  readonly attention: readonly NewAttention[];
  /** Each once. */
  readonly unnamed: readonly UnnamedName[];
}

/** For which URI a namespace in a key's messages seems to stand. */
export interface NewAlias {
  /** As of `nameKey`. */
  readonly namespace: string;
  readonly uri: string;
  /** The message sent both; else charts suggest it. */
  readonly isTaught: boolean;
}

export interface TakenRow {
  readonly outcome: TakeOutcome;
  readonly decided: ApplicationCode | null;
  /** Hexadecimal. */
  readonly ack: string | null;
}

/** A message with all that it is stored by. */
export interface Taking {
  readonly site: string;
  readonly message: NewMessage;
  readonly raw: Uint8Array;
  readonly ack: Uint8Array | null;
  readonly lookup: LookupKeys;
  /** Of the rows that `matchesOf` found; `retry` comes back when they, or what the message rests on, have passed. */
  readonly states: readonly string[];
  readonly effects: MessageEffects;
}

/** The arguments of `hl7_take`. */
function takeParams({ site, message, raw, ack, lookup, states, effects }: Taking): Param[] {
  const { writes: resources, results, identities, merges, met, orders, moved, aliases, attention, unnamed } = effects;
  const made = { resources, results, identities, merges, met, orders, moved, aliases, attention, unnamed };
  return [site, JSON.stringify(message), raw, ack, ...lookupParams(lookup), states, JSON.stringify(made)];
}

const onceWhereReceived = ({ message }: Taking): { readonly once?: true } =>
  message.why === 'received' ? { once: true } : {};

/** Stores a message and its effects, or nothing. What follows in the batch asks for the rest by what became of it. */
export const takeMessage = (taking: Taking): Query<TakenRow> => ({
  text: `select s.outcome, s.decided, encode(s.ack, 'hex') as ack, set_config('gateway.message', s.outcome, true) as told
    from hl7_take($1::uuid, $2::json, $3::bytea, $4::bytea, $5::text[], $6::text[], $7::text[], $8::text[], $9::json) s`,
  params: takeParams(taking),
  ...onceWhereReceived(taking),
});

/** What became of a message, with what there is where that is something else than what it was decided by. */
export interface WrittenMessageRow extends TakenRow {
  /** JSON lists; null where there are none, or nobody asked. */
  readonly candidates: string | null;
  readonly senders: string | null;
  readonly matches: string | null;
}

/** What is found of a message's sender and of whom it is about. */
export interface FoundRows {
  readonly candidates: readonly CandidateRow[];
  readonly senders: readonly { readonly sender: string }[];
  readonly matches: readonly MatchRow[];
}

/**
 * As `takeMessage` behind its door, and what there is where it was not taken, in one statement.
 *
 * @param opening as `p_opening` of hl7_write
 * @param isLearnt what the look-up finds is told of a message that was stored, too
 */
export const writeMessage = (
  opening: readonly string[],
  taking: Taking,
  isLearnt: boolean,
): Query<WrittenMessageRow> => ({
  text: 'select * from hl7_write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)',
  params: [opening, ...takeParams(taking), isLearnt],
  whole: true,
  site: taking.site,
  ...onceWhereReceived(taking),
});

/** The lists of a row of `writeMessage`, which are what the function made. */
export function foundRowsOf({ candidates, senders, matches }: WrittenMessageRow): FoundRows {
  const listOf = (text: string | null): unknown => (text === null ? [] : JSON.parse(text));
  return {
    candidates: listOf(candidates) as CandidateRow[],
    senders: (listOf(senders) as string[]).map((sender) => ({ sender })),
    matches: listOf(matches) as MatchRow[],
  };
}

export interface StoredMessageRow {
  readonly client_id: string;
  readonly source: 'http' | 'mllp';
  readonly source_address: string;
  /** Hexadecimal; null: kept no longer. */
  readonly raw: string | null;
}

/** A stored message, for replay. */
export function storedMessage(site: string, messageId: string): Query<StoredMessageRow> {
  return read<StoredMessageRow>`select client_id, source, source_address, encode(raw, 'hex') as raw
    from hl7_message where site_id = ${site}::uuid and message_id = ${messageId}::uuid`;
}

/** Where MLLP messages may come from: the Allowed IPs of all keys that take them, and for `*` what is their site's. */
export function allowedIps(): Query<{ readonly range: string }> {
  return read<{ range: string }>`select range from mllp_ranges()`;
}

/** The bytes of a hexadecimal column. */
export function bytesOfHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}
