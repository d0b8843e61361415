/**
 * Whose a message is, with which settings, whether it was seen, and which resources it speaks of. It reads; nothing is
 * decided here but which key an MLLP message is of (`select-key.ts`).
 */
import type { Header } from '../../../../shared/hl7/header.ts';
import { plainAddress } from '../../../../shared/ip.ts';
import type { Database, Query, Results } from '../../../deps.ts';
import { assertCaller, callerArguments, type CallerIdentity } from '../../../store/api-key.ts';
import { type AuditAction, type AuditBy, noteAudit } from '../../../store/audit.ts';
import { enterSite } from '../../../store/in-site.ts';
import {
  bytesOfHex,
  CANDIDATES,
  type CandidateRow,
  inOrder,
  matchesOf,
  mllpSenders,
  senderIn,
  sendersOf,
  shownMatchesOf,
  type FoundRows,
  type LookupKeys,
  type MatchRow,
  type MessageIdentity,
  type SenderChoice,
  type SenderRow,
} from '../../../store/hl7.ts';
import { numberRowOf } from '../../../store/patient-identity.ts';
import type { Found, FoundPatient } from '../../mapping/drafts.ts';
import { selectKey, type MllpKey, type MllpPeer, type NoKey } from './select-key.ts';
import { settingsOf, type SenderSettings } from './settings.ts';

/** As what somebody is shown what is found for a message, and of which stored one. */
export interface Shown {
  readonly action: AuditAction;
  readonly messageId: string | null;
}

/** Who sends, as far as it is known before the message is looked at. */
export type Sender =
  /** The bearer of an access token. */
  | { readonly kind: 'caller'; readonly caller: CallerIdentity }
  /** A key that somebody names for a message of its, whatever its status. */
  | {
      readonly kind: 'key';
      readonly site: string;
      readonly clientId: string;
      /** Who asks for the message to be processed; null where it is only looked at. */
      readonly by: AuditBy | null;
      /** Null where nobody is shown what is found. */
      readonly shown: Shown | null;
    }
  /** Whoever this address and the header may be (MLLP), as the sidecar of this name says. */
  | {
      readonly kind: 'address';
      readonly address: string;
      /** Of the certificate that it showed. */
      readonly tlsSubject: string | undefined;
      readonly sidecar: string;
      /** For which the sidecar speaks; undefined: all. */
      readonly sites?: readonly string[] | undefined;
    };

/** The same bytes, stored before. */
export interface Seen {
  readonly messageId: string;
  /** What the first attempt that was AA answered; undefined where they have been refused so far. */
  readonly accepted: { readonly ack: Uint8Array | null } | undefined;
}

/** The same as an argument of `writeMessage`; null for whoever names a key, whose messages are never guessed. */
type Words = readonly string[];

/**
 * How a batch about a message begins, with whom it may be of. By name: the check of an access token, or which site it is.
 * By address: the keys that it may be of; so each batch sees whether the one that was chosen still is the one.
 */
export type Door =
  | {
      readonly kind: 'name';
      readonly opening: Query;
      readonly words: Words | null;
      readonly choice: Exclude<SenderChoice, typeof CANDIDATES>;
    }
  | {
      readonly kind: 'address';
      readonly opening: Query<CandidateRow>;
      readonly words: Words;
      readonly choice: typeof CANDIDATES;
      readonly peer: MllpPeer;
      /** For which the sidecar speaks; undefined: all. */
      readonly sites: readonly string[] | undefined;
    };

/** Whether a message that comes by this door may be of the site. */
export const isOpenTo = (door: Door, site: string): boolean =>
  door.kind === 'name' || door.sites === undefined || door.sites.includes(site);

/** What is known of the key that a message is of, whichever message it is. */
export interface KnownSender {
  readonly settings: SenderSettings;
  /** What `mllpSenders` found when the key was chosen; null where the message names its key. */
  readonly sendersState: string | null;
  /** Other bytes of this sender with the same MSH-10 are stored. Who begins anew at 1 each day does so with every message. */
  readonly isControlIdReused: boolean;
}

export interface FoundSender extends KnownSender {
  readonly door: Door;
  readonly seen: Seen | undefined;
  /** What was found in the database; its states must still hold when the effects are stored. */
  readonly matches: readonly MatchRow[];
  readonly found: readonly Found[];
  readonly patients: readonly FoundPatient[];
}

/** A message as far as it was read. */
export interface SoughtMessage {
  readonly header: Header;
  readonly identity: MessageIdentity;
  readonly lookup: LookupKeys;
}

/** @param header of the message as it is read by UTF-8, where nothing else is known */
export function doorOf(sender: Sender, { header, identity }: Pick<SoughtMessage, 'header' | 'identity'>): Door {
  if (sender.kind === 'key') return doorByName(enterSite(sender.site), null, sender);
  if (sender.kind === 'caller') {
    const words = callerArguments(sender.caller).flat();
    return doorByName(assertCaller(sender.caller), words, sender.caller);
  }
  const { address, tlsSubject = '', sites } = sender;
  const { sendingApplication = '', sendingFacility = '' } = header;
  const words = [plainAddress(address), identity.application, identity.facility, tlsSubject] as const;
  return {
    kind: 'address',
    opening: mllpSenders(...words),
    words,
    choice: CANDIDATES,
    peer: { address, sendingApplication, sendingFacility, tlsSubject },
    sites,
  };
}

const doorByName = (
  opening: Query,
  words: Words | null,
  { site, clientId }: { readonly site: string; readonly clientId: string },
): Door => ({
  kind: 'name',
  opening,
  words,
  choice: { site, clientId },
});

/** Null: that of the keys that the message may be of. */
export const siteOf = (door: Door): string | null => (door.kind === 'name' ? door.choice.site : null);

/** A batch behind a door. @returns whom the message may be of, and what the queries found */
export async function throughDoor<const Queries extends readonly Query[]>(
  database: Database,
  door: Door,
  queries: Queries,
): Promise<{ readonly candidates: readonly CandidateRow[]; readonly results: Results<Queries> }> {
  if (door.kind === 'name') {
    const [, ...results] = await database.batch([door.opening, ...queries] as const);
    return { candidates: [], results };
  }
  const [candidates, ...results] = await database.batch([door.opening, ...queries] as const);
  return { candidates, results };
}

/** @throws Fault `unauthenticated` for a caller whose key is disabled, `unavailable` when the database cannot be reached */
export function findSender(database: Database, sender: Sender, message: SoughtMessage): Promise<FoundSender | NoKey> {
  return findBehind(database, doorOf(sender, message), message, sender.kind === 'key' ? sender.shown : null);
}

/** @param shown as what somebody is shown what is found */
async function findBehind(
  database: Database,
  door: Door,
  message: SoughtMessage,
  shown: Shown | null,
): Promise<FoundSender | NoKey> {
  const { identity, lookup } = message;
  const isShown = shown !== null && door.kind === 'name';
  const matching = isShown ? shownMatchesOf(door.choice.site, lookup, shown.action) : matchesOf(siteOf(door), lookup);
  const noted = shown?.messageId ? [noteAudit(shown.action, 'Hl7Message', shown.messageId)] : [];
  const { candidates, results } = await throughDoor(database, door, [
    sendersOf(door.choice, identity),
    matching,
    ...noted,
  ]);
  const [senders, matches] = results;
  return senderFrom(database, door, message, { candidates, senders, matches });
}

/** Which key a message is of, and all that was found for it. Another round trip where keys of several sites may be meant. */
export async function senderFrom(
  database: Database,
  door: Door,
  message: SoughtMessage,
  { candidates, senders, matches }: FoundRows,
): Promise<FoundSender | NoKey> {
  const rows = senders.map(senderIn);
  if (door.kind === 'name') {
    const [row] = rows;
    return row === undefined ? DELETED : foundSender(row, matches, door);
  }
  const keys = candidates.map(candidateOf);
  const selected = selectKey(
    keys.filter((key) => isOpenTo(door, key.site)),
    door.peer,
  );
  if ('refused' in selected) return 'key' in selectKey(keys, door.peer) ? OUT_OF_SITES : selected;
  const { site, clientId } = selected.key;
  const row = rows.find((candidate) => candidate.client_id === clientId);
  if (row !== undefined) return foundSender(row, matches, door);
  // Keys of several sites may be meant, or PostgreSQL reads a range otherwise than we do: ask again, by name.
  return findBehind(database, doorByName(enterSite(site), null, selected.key), message, null);
}

const OUT_OF_SITES: NoKey = {
  refused: 'no-key',
  reason: 'MLLP_SIDECAR_KEYS does not register the sidecar’s key for the site of this sender (sites)',
  explainTo: [],
};

const DELETED: NoKey = { refused: 'no-key', reason: 'there is no such API key', explainTo: [] };

const candidateOf = (row: CandidateRow): MllpKey => ({
  clientId: row.client_id,
  site: row.site_id,
  status: row.status,
  protocols: row.protocols,
  allowedIps: row.allowed_ips,
  senderApplication: row.hl7_sender_application,
  senderFacility: row.hl7_sender_facility,
  tlsSubject: row.tls_subject,
  isOwn: row.is_own,
  isForeign: row.is_foreign,
});

function foundSender(row: SenderRow, matches: readonly MatchRow[], door: Door): FoundSender {
  return {
    settings: settingsOf(row),
    sendersState: door.kind === 'address' ? (row.senders_state ?? '') : null,
    door,
    seen: seenIn(row),
    isControlIdReused: row.is_control_id_reused,
    ...readMatches(matches),
  };
}

/** What rows say, however they were come by. */
export function readMatches(matches: readonly MatchRow[]): Pick<FoundSender, 'matches' | 'found' | 'patients'> {
  const rows = inOrder(matches);
  return { matches: rows, found: rows.flatMap(foundIn), patients: patientsIn(rows) };
}

function seenIn({ seen_id: messageId, is_seen_accepted: isAccepted, accepted_ack: ack }: SenderRow): Seen | undefined {
  if (messageId === null) return undefined;
  return { messageId, accepted: isAccepted ? { ack: ack === null ? null : bytesOfHex(ack) } : undefined };
}

function foundIn({ role, key, contributions, type, id, version, last_updated, meta, body }: MatchRow): Found[] {
  if (role === 'number' || role === 'trait') return [];
  return [{ role, key, contributions, resource: { type, id, version, last_updated, meta, body } }];
}

/** What is known of patients beside their records. */
function patientsIn(matches: readonly MatchRow[]): FoundPatient[] {
  const ids = new Set(matches.filter(({ role }) => role === 'patient').map(({ id }) => id));
  const keysOf = (wanted: MatchRow['role'], patient: string): string[] =>
    matches.filter(({ role, id }) => role === wanted && id === patient).map(({ key }) => key);
  return [...ids].map((id) => ({ id, numbers: keysOf('number', id).map(numberRowOf), traits: keysOf('trait', id) }));
}
