/**
 * The snapshots that an isolate remembers (edge/docs/behaviour.md, HL7 v2, One round trip): settings of senders, and patient
 * records as the database last returned them. A stale snapshot costs one extra round trip, because the commit compares it with
 * the database. It never changes what is stored or answered, and never grants access.
 */
import { keyOfCode, type CodeRow, type CodeRows, type LiveTable, type SentCode } from '../../../store/code-table.ts';
import type { LookupKeys, MatchRow } from '../../../store/hl7-snapshot.ts';
import type { ResourceWrite } from '../../../store/resource.ts';
import type { Opening } from '../sender/sender.ts';
import { createBounded, type Bounds } from '../../../http/bounded.ts';
import { createRecordCache } from './record-cache.ts';
import type { SenderSnapshot } from './snapshot.ts';

const MiB = 1024 * 1024;

/** Patient records: about two thousand of a site, in an isolate of 128 MiB. */
const RECORDS: Bounds = { maxBytes: 16 * MiB, maxOwnerBytes: 4 * MiB, maxAgeMs: 10 * 60_000 };
/** Settings: no patient data, and few. Their owner is the site, or the address that messages come from. */
const SENDERS: Bounds = { maxBytes: 4 * MiB, maxOwnerBytes: MiB / 2, maxAgeMs: 10 * 60_000 };
/** Codes with their rows of code tables: some thousands of a site. */
const CODES: Bounds = { maxBytes: 4 * MiB, maxOwnerBytes: MiB, maxAgeMs: 10 * 60_000 };
/** Most bytes are names of a site's authorities and coding systems. */
const NAME_BYTES = 200;
const SETTINGS_BYTES = 2_000;
/** The memory of rules and of their compiled form, for each character of their JSON. */
const BYTES_OF_JSON = 8;
const SWEEP_MS = 60_000;

export interface SnapshotCache {
  /** The sender of the last message with this opening. */
  readonly sender: (opening: Opening, nowMs: number) => SenderSnapshot | undefined;
  /** The rows that the lookup would find; undefined if a part of it is not in the cache. */
  readonly matches: (site: string, lookup: LookupKeys, nowMs: number) => readonly MatchRow[] | undefined;
  readonly keepSender: (opening: Opening, sender: SenderSnapshot, nowMs: number) => void;
  /** The rows of a code in these versions of tables, which never change; undefined if they are not in the cache. */
  readonly codeRows: (
    site: string,
    tables: readonly LiveTable[],
    code: SentCode,
    nowMs: number,
  ) => readonly CodeRow[] | undefined;
  readonly keepCodes: (site: string, tables: readonly LiveTable[], rows: CodeRows, nowMs: number) => void;
  readonly keepStored: (stored: StoredMessage, nowMs: number) => void;
  /** Drops what is too old. Called once a minute, it keeps nothing longer than a minute past its limit. */
  readonly sweep: (nowMs: number) => void;
}

/** A message that was just committed. */
export interface StoredMessage {
  readonly site: string;
  readonly lookup: LookupKeys;
  /** The rows of its snapshot. */
  readonly before: readonly MatchRow[];
  readonly effects: { readonly writes: readonly ResourceWrite[]; readonly merges: readonly unknown[] };
  /** The rows that its lookup finds now, without contents. */
  readonly rows: readonly MatchRow[];
}

export function createSnapshotCache(): SnapshotCache {
  const senders = createBounded<SenderSnapshot>(SENDERS);
  const rows = createBounded<readonly MatchRow[]>(RECORDS);
  const codes = createBounded<readonly CodeRow[]>(CODES);
  const records = createRecordCache(rows);
  let sweptMs = 0;
  const sweep = (nowMs: number): void => {
    sweptMs = nowMs;
    senders.sweep(nowMs);
    rows.sweep(nowMs);
    codes.sweep(nowMs);
  };

  return {
    sweep,
    sender: (opening, nowMs) => senders.get(ownerOf(opening), keyOf(opening), nowMs),
    matches: records.recall,
    keepSender: (opening, { settings, sendersState, isControlIdReused }, nowMs) => {
      const {
        authorities,
        taught,
        rejected,
        contested,
        shared,
        codeSystems,
        placeholders,
        codeTables,
        hl7_rules: rules,
      } = settings;
      const uris = [...contested.values(), ...shared.values()].reduce((sum, { length }) => sum + length, 0);
      const names = [authorities, taught, rejected, codeSystems, placeholders].reduce(
        (sum, { size }) => sum + size,
        uris + codeTables.reduce((sum, { systems }) => sum + 1 + systems.length, 0),
      );
      const ofRules = rules === null ? 0 : BYTES_OF_JSON * JSON.stringify(rules).length;
      const bytes = SETTINGS_BYTES + NAME_BYTES * names + ofRules + 2 * keyOf(opening).length;
      senders.keep(ownerOf(opening), keyOf(opening), { settings, sendersState, isControlIdReused }, bytes, nowMs);
    },
    codeRows: (site, tables, code, nowMs) => codes.get(site, versionsOf(tables) + keyOfCode(code), nowMs),
    keepCodes: (site, tables, found, nowMs) => {
      const versions = versionsOf(tables);
      for (const [code, ofCode] of found) {
        const key = versions + code;
        const characters = ofCode.flat().reduce((sum, { length }) => sum + length, key.length);
        codes.keep(site, key, ofCode, 200 + 200 * ofCode.length + 2 * characters, nowMs);
      }
    },
    keepStored: ({ site, lookup, ...stored }, nowMs) => {
      if (nowMs - sweptMs >= SWEEP_MS) sweep(nowMs);
      records.keep(site, lookup, withContents(stored), nowMs);
    },
  };
}

/** Equal for equal versions of the same tables. */
export const versionsOf = (tables: readonly LiveTable[]): string =>
  tables.map(({ id, version }) => `${id} ${version}\n`).join('');

const ownerOf = (opening: Opening): string => (opening.kind === 'key' ? opening.site : opening.peer.address);

function keyOf(opening: Opening): string {
  if (opening.kind === 'key') return opening.clientId;
  const { sendingApplication, sendingFacility, tlsSubject } = opening.peer;
  return JSON.stringify([sendingApplication, sendingFacility, tlsSubject]);
}

/**
 * Adds contents to rows: those of the snapshot for the same version, those of this message for the next version. A merge moves
 * rows in the database, so their contents are unknown here.
 */
function withContents({
  rows,
  before,
  effects: { writes, merges },
}: Pick<StoredMessage, 'rows' | 'before' | 'effects'>): MatchRow[] {
  const nameOf = ({ type, id }: { readonly type: string; readonly id: string }): string => `${type} ${id}`;
  const known = new Map(before.filter(({ body }) => body !== '').map((row) => [nameOf(row), row]));
  const written = new Map(merges.length > 0 ? [] : writes.map((write) => [nameOf(write), write]));
  return rows.map((row) => {
    const was = known.get(nameOf(row));
    const next = row.version === (was?.version ?? 0) + 1 ? written.get(nameOf(row)) : undefined;
    const content = was?.version === row.version ? was : next;
    return content === undefined ? row : { ...row, meta: content.meta, body: content.body };
  });
}
