/**
 * What an isolate believes of the next message (edge/docs/behaviour.md, HL7 v2, One round trip): the settings of its key and what is
 * stored of its patients, as it saw them last, or that nothing is. A message that is decided by that is stored in one round
 * trip where it is still so, and comes back with what is so where it is not. Nothing here is ever an answer.
 */
import type { ResourceWrite } from '../../../store/resource.ts';
import type { MatchRow } from '../../../store/hl7.ts';
import {
  readMatches,
  type Door,
  type FoundSender,
  type KnownSender,
  type SoughtMessage,
} from '../sender/find-sender.ts';
import { createBounded, type Bounds } from './bounded.ts';
import { createChartMemory } from './record-cache.ts';

const MiB = 1024 * 1024;

/** Records of patients: some two thousand of a site, in an isolate that has 128 MiB. */
const CHARTS: Bounds = { maxBytes: 16 * MiB, maxOwnerBytes: 4 * MiB, maxAgeMs: 10 * 60_000 };
/** Settings: no data of patients, and few. Their owner is the site, or the address that messages come from. */
const SENDERS: Bounds = { maxBytes: 4 * MiB, maxOwnerBytes: MiB / 2, maxAgeMs: 10 * 60_000 };
/** Names of a site's authorities and coding systems are the most of it. */
const NAME_BYTES = 200;
const SETTINGS_BYTES = 2_000;
const SWEEP_MS = 60_000;

export interface Guesses {
  /** Whose messages the door has let in before. */
  readonly senderBehind: (door: Door, nowMs: number) => KnownSender | undefined;
  /** What would be found for a message; undefined where nothing can be guessed. */
  readonly foundFor: (
    known: KnownSender,
    door: Door,
    message: Pick<SoughtMessage, 'lookup'>,
    nowMs: number,
  ) => FoundSender | undefined;
  readonly learnSender: (door: Door, known: KnownSender, nowMs: number) => void;
  readonly learnStored: (stored: StoredMessage, nowMs: number) => void;
  /** Lets go of what is too old; nothing is kept longer than a minute past its time where this is called once a minute. */
  readonly sweep: (nowMs: number) => void;
}

/** A message that was stored, by what was found for it. */
export interface StoredMessage {
  readonly found: Pick<FoundSender, 'settings' | 'matches'>;
  readonly message: Pick<SoughtMessage, 'lookup'>;
  readonly effects: { readonly writes: readonly ResourceWrite[]; readonly merges: readonly unknown[] };
  /** What its look-up finds now, without contents. */
  readonly rows: readonly MatchRow[];
}

export function createGuesses(): Guesses {
  const senders = createBounded<KnownSender>(SENDERS);
  const memory = createBounded<readonly MatchRow[]>(CHARTS);
  const charts = createChartMemory(memory);
  let sweptMs = 0;
  const sweep = (nowMs: number): void => {
    sweptMs = nowMs;
    senders.sweep(nowMs);
    memory.sweep(nowMs);
  };

  return {
    sweep,
    senderBehind: (door, nowMs) => senders.get(ownerOf(door), keyOf(door), nowMs),
    foundFor: (known, door, { lookup }, nowMs) => {
      const rows = charts.recall(known.settings.site, lookup, nowMs);
      if (rows === undefined) return undefined;
      return { ...known, door, seen: undefined, ...readMatches(rows) };
    },
    learnSender: (door, { settings, sendersState, isControlIdReused }, nowMs) => {
      const { authorities, taught, rejected, codeSystems, placeholders } = settings;
      const names = [authorities, taught, rejected, codeSystems, placeholders].reduce((sum, { size }) => sum + size, 0);
      const bytes = SETTINGS_BYTES + NAME_BYTES * names + 2 * keyOf(door).length;
      senders.keep(ownerOf(door), keyOf(door), { settings, sendersState, isControlIdReused }, bytes, nowMs);
    },
    learnStored: ({ found, message, effects, rows }, nowMs) => {
      if (nowMs - sweptMs >= SWEEP_MS) sweep(nowMs);
      charts.learn(found.settings.site, message.lookup, withContents(rows, found.matches, effects), nowMs);
    },
  };
}

const ownerOf = (door: Door): string => (door.kind === 'name' ? door.choice.site : door.peer.address);

function keyOf(door: Door): string {
  if (door.kind === 'name') return door.choice.clientId;
  const { sendingApplication, sendingFacility, tlsSubject } = door.peer;
  return JSON.stringify([sendingApplication, sendingFacility, tlsSubject]);
}

/**
 * Rows with the contents that they have: as they were found, where the version is the same, or as this message wrote them,
 * where it is the next one. What a merge has moved the database wrote itself, so that nobody here knows how it reads.
 */
function withContents(
  rows: readonly MatchRow[],
  before: readonly MatchRow[],
  { writes, merges }: StoredMessage['effects'],
): MatchRow[] {
  const nameOf = ({ type, id }: { readonly type: string; readonly id: string }): string => `${type} ${id}`;
  const known = new Map(before.filter(({ body }) => body !== '').map((row) => [nameOf(row), row]));
  const written = new Map(merges.length > 0 ? [] : writes.map((write) => [nameOf(write), write]));
  return rows.map((row) => {
    const was = known.get(nameOf(row));
    const isNext = row.version === (was?.version ?? 0) + 1;
    const content = was?.version === row.version ? was : isNext ? written.get(nameOf(row)) : undefined;
    return content === undefined ? row : { ...row, meta: content.meta, body: content.body };
  });
}
