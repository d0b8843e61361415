/**
 * The first of a message's two round trips: whose it is, with which settings, whether it was seen, and which resources
 * it speaks of. It reads; nothing is decided here but which key an MLLP message is of (`select-key.ts`).
 */
import type { Header } from '../../../shared/hl7/header.ts';
import { plainAddress } from '../../../shared/ip.ts';
import type { Database, Query } from '../../deps.ts';
import { assertCaller, type CallerIdentity } from '../../store/api-key.ts';
import { type AuditAction, type AuditBy, noteAudit } from '../../store/audit.ts';
import { enterSite } from '../../store/in-site.ts';
import {
  bytesOfHex,
  CANDIDATES,
  type CandidateRow,
  EMPTY_STATE,
  matchesOf,
  mllpSenders,
  senderIn,
  sendersOf,
  shownMatchesOf,
  type LookupKeys,
  type MatchRow,
  type MessageIdentity,
  type SenderChoice,
  type SenderRow,
} from '../../store/hl7.ts';
import { numberRowOf } from '../../store/patient-identity.ts';
import type { Found, FoundPatient } from '../mapping/drafts.ts';
import { selectKey, type MllpKey, type NoKey } from './select-key.ts';
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
    };

/** The same bytes, stored before. */
export interface Seen {
  readonly messageId: string;
  /** What the first attempt that was AA answered; undefined where they have been refused so far. */
  readonly accepted: { readonly ack: Uint8Array | null } | undefined;
}

export interface FoundSender {
  readonly settings: SenderSettings;
  readonly seen: Seen | undefined;
  /** Other bytes of this sender with the same MSH-10 are stored. */
  readonly isControlIdReused: boolean;
  readonly found: readonly Found[];
  readonly patients: readonly FoundPatient[];
  /** Of what was found; it must still hold when the effects are stored. */
  readonly state: string;
  /** What the next batch about it begins with: the check of the caller, or which site it is. */
  readonly opening: Query;
}

/** A message as far as it was read. */
export interface SoughtMessage {
  readonly header: Header;
  readonly identity: MessageIdentity;
  readonly lookup: LookupKeys;
}

/** @throws Fault `unauthenticated` for a caller whose key is disabled, `unavailable` when the database cannot be reached */
export async function findSender(
  database: Database,
  sender: Sender,
  message: SoughtMessage,
): Promise<FoundSender | NoKey> {
  if (sender.kind === 'address') return findByAddress(database, sender, message);
  if (sender.kind === 'caller') {
    return findKnown(database, assertCaller(sender.caller), sender.caller, message, null);
  }
  return findKnown(database, enterSite(sender.site), sender, message, sender.shown);
}

/**
 * By its Client ID.
 *
 * @param opening of the same site
 * @param shown as what somebody is shown what is found
 */
async function findKnown(
  database: Database,
  opening: Query,
  key: { readonly site: string; readonly clientId: string },
  { identity, lookup }: SoughtMessage,
  shown: Shown | null,
): Promise<FoundSender | NoKey> {
  const choice: SenderChoice = { site: key.site, clientId: key.clientId };
  const matching = shown === null ? matchesOf(key.site, lookup) : shownMatchesOf(key.site, lookup, shown.action);
  const noted = shown?.messageId ? [noteAudit(shown.action, 'Hl7Message', shown.messageId)] : [];
  const [, [row], matches] = await database.batch([opening, sendersOf(choice, identity), matching, ...noted]);
  return row === undefined ? DELETED : foundSender(senderIn(row), matches, opening);
}

const DELETED: NoKey = { refused: 'no-key', reason: 'there is no such API key', explainTo: [] };

async function findByAddress(
  database: Database,
  { address, tlsSubject = '' }: Extract<Sender, { kind: 'address' }>,
  message: SoughtMessage,
): Promise<FoundSender | NoKey> {
  const { header, identity, lookup } = message;
  const [candidates, rows, matches] = await database.batch([
    mllpSenders(plainAddress(address), identity.application, identity.facility, tlsSubject),
    sendersOf(CANDIDATES, identity),
    matchesOf(null, lookup),
  ]);
  const selected = selectKey(candidates.map(candidateOf), {
    address,
    sendingApplication: header.sendingApplication ?? '',
    sendingFacility: header.sendingFacility ?? '',
    tlsSubject,
  });
  if ('refused' in selected) return selected;
  const { site, clientId } = selected.key;
  const opening = enterSite(site);
  const row = rows.map(senderIn).find((candidate) => candidate.client_id === clientId);
  if (row !== undefined) return foundSender(row, matches, opening);
  // Keys of several sites may be meant, or PostgreSQL reads a range otherwise than we do: ask again, by name.
  return findKnown(database, opening, { site, clientId }, message, null);
}

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

function foundSender(row: SenderRow, matches: readonly MatchRow[], opening: Query): FoundSender {
  return {
    settings: settingsOf(row),
    seen: seenIn(row),
    isControlIdReused: row.is_control_id_reused,
    found: matches.flatMap(foundIn),
    patients: patientsIn(matches),
    state: matches.find(({ role }) => role === 'state')?.key ?? EMPTY_STATE,
    opening,
  };
}

function seenIn({ seen_id: messageId, is_seen_accepted: isAccepted, accepted_ack: ack }: SenderRow): Seen | undefined {
  if (messageId === null) return undefined;
  return { messageId, accepted: isAccepted ? { ack: ack === null ? null : bytesOfHex(ack) } : undefined };
}

function foundIn({ role, key, contributions, type, id, version, last_updated, meta, body }: MatchRow): Found[] {
  if (role === 'number' || role === 'trait' || role === 'state') return [];
  return [{ role, key, contributions, resource: { type, id, version, last_updated, meta, body } }];
}

/** What is known of patients beside their records. */
function patientsIn(matches: readonly MatchRow[]): FoundPatient[] {
  const ids = new Set(matches.filter(({ role }) => role === 'patient').map(({ id }) => id));
  const keysOf = (wanted: MatchRow['role'], patient: string): string[] =>
    matches.filter(({ role, id }) => role === wanted && id === patient).map(({ key }) => key);
  return [...ids].map((id) => ({ id, numbers: keysOf('number', id).map(numberRowOf), traits: keysOf('trait', id) }));
}
