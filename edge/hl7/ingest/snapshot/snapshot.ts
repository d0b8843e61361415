/**
 * The data that a decision about a message depends on, as the database had it at one moment. The commit compares it with the
 * current data.
 */
import {
  inOrder,
  readSnapshotRow,
  type CandidateRow,
  type MatchRow,
  type SenderRow,
  type SnapshotRow,
} from '../../../store/hl7-snapshot.ts';
import { bytesOfHex } from '../../../store/hl7.ts';
import { identifierRowOf } from '../../../store/patient-identity.ts';
import type { Found, FoundPatient } from '../../mapping/drafts.ts';
import { selectKey, type MllpKey, type NoKey } from '../sender/select-key.ts';
import { isOpenTo, type Opening } from '../sender/sender.ts';
import { settingsOf, type SenderSettings } from '../sender/settings.ts';

/** The part that also applies to the sender's next message. */
export interface SenderSnapshot {
  readonly settings: SenderSettings;
  /** `senders_state` of the candidates; null if the message names its key. */
  readonly sendersState: string | null;
  /**
   * Other bytes of this sender with the same MSH-10 are stored. A sender that begins again at 1 each day does so with every
   * message.
   */
  readonly isControlIdReused: boolean;
}

export interface Snapshot extends SenderSnapshot {
  readonly seen: Seen | undefined;
  /** In the order of `inOrder`. */
  readonly matches: readonly MatchRow[];
  readonly found: readonly Found[];
  readonly patients: readonly FoundPatient[];
  /** The rows are too large to load, so the list is empty. */
  readonly isExcessive: boolean;
}

/** The same bytes, stored before. */
interface Seen {
  readonly messageId: string;
  /** The answer of the first AA; undefined if the message was never accepted. */
  readonly accepted: { readonly ack: Uint8Array | null } | undefined;
}

/** A snapshot, a key, or the reason why no key fits. Only a key: the row has no data of it, because keys of several sites may fit. */
export type SnapshotAnswer = { readonly snapshot: Snapshot } | { readonly key: MllpKey } | NoKey;

export function snapshotIn(row: SnapshotRow, opening: Opening): SnapshotAnswer {
  const { candidates, senders, ...found } = readSnapshotRow(row);
  if (opening.kind === 'key') {
    const [sender] = senders;
    return sender === undefined ? DELETED : { snapshot: snapshotOf(sender, null, found) };
  }
  const keys = candidates.map(candidateOf);
  const selected = selectKey(
    keys.filter((key) => isOpenTo(opening, key.site)),
    opening.peer,
  );
  if ('refused' in selected) return 'key' in selectKey(keys, opening.peer) ? OUT_OF_SITES : selected;
  const sender = senders.find(({ client_id }) => client_id === selected.key.clientId);
  // PostgreSQL and the gateway may also interpret a range differently.
  return sender === undefined ? selected : { snapshot: snapshotOf(sender, sender.senders_state ?? '', found) };
}

const snapshotOf = (
  sender: SenderRow,
  sendersState: string | null,
  { matches, isExcessive }: Pick<Snapshot, 'matches' | 'isExcessive'>,
): Snapshot => ({
  settings: settingsOf(sender),
  sendersState,
  isControlIdReused: sender.is_control_id_reused,
  ...withMatches(matches),
  isExcessive,
  seen: seenIn(sender),
});

/** The rows of a message that was not stored before. */
export function withMatches(
  matches: readonly MatchRow[],
): Pick<Snapshot, 'seen' | 'matches' | 'found' | 'patients' | 'isExcessive'> {
  const rows = inOrder(matches);
  return {
    seen: undefined,
    isExcessive: false,
    matches: rows,
    found: rows.flatMap(foundIn),
    patients: patientsIn(rows),
  };
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

function seenIn({ seen_id: messageId, is_seen_accepted: isAccepted, accepted_ack: ack }: SenderRow): Seen | undefined {
  if (messageId === null) return undefined;
  return { messageId, accepted: isAccepted ? { ack: ack === null ? null : bytesOfHex(ack) } : undefined };
}

function foundIn({ role, key, contributions, type, id, version, last_updated, meta, body }: MatchRow): Found[] {
  if (role === 'number' || role === 'trait') return [];
  return [{ role, key, contributions, resource: { type, id, version, last_updated, meta, body } }];
}

/** The identifiers and traits of patients, beside their records. */
function patientsIn(matches: readonly MatchRow[]): FoundPatient[] {
  const ids = new Set(matches.filter(({ role }) => role === 'patient').map(({ id }) => id));
  const keysOf = (wanted: MatchRow['role'], patient: string): string[] =>
    matches.filter(({ role, id }) => role === wanted && id === patient).map(({ key }) => key);
  return [...ids].map((id) => ({
    id,
    numbers: keysOf('number', id).map(identifierRowOf),
    traits: keysOf('trait', id),
  }));
}
