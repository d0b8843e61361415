/**
 * Counts requests for the console's traffic page and /metrics. Counts are added in memory and written every few seconds in
 * the background, so that one process writes one statement in that time.
 */
import type { ApplicationCode } from '../../shared/hl7/error-code.ts';
import { isText } from '../../shared/text.ts';
import type {
  Answer,
  AnswerCount,
  Counted,
  KeyCount,
  KidNote,
  UsageCount,
  UsageOutcome,
  UsageSurface,
} from '../store/usage.ts';
import { type Behind, COLLECT_MS, writeBehind } from './write-behind.ts';

/** A message that got an ACK, and its sender according to MSH. */
export interface AnsweredMessage {
  readonly outcome: ApplicationCode;
  /** MSH-3 and MSH-4, as stored with the message. */
  readonly application: string;
  readonly facility: string;
}

/** The client of a request, for counting by site and for the request's log line. */
export interface Use {
  readonly site: string;
  readonly clientId?: string;
  /** A member of staff. */
  readonly actor?: string;
  /** Set if the status does not show it: an ACK over MLLP always has status 200. */
  readonly outcome?: UsageOutcome;
  /** Issued results besides the status: a token. */
  readonly answers?: readonly Answer[];
  /** The public key that authenticated the client; empty for a key without a kid. */
  readonly kid?: string;
  /** A request with messages is counted by its messages, and not at all if none was answered. */
  readonly messages?: readonly AnsweredMessage[];
}

type Growing<Count> = { -readonly [Member in keyof Count]: Count[Member] };

export interface UsageOptions extends Behind {
  /** The upper bounds of the latency histogram, ascending. */
  readonly boundsMs: readonly number[];
  readonly write: (counted: Counted) => Promise<unknown>;
}

/** Further combinations are dropped until the next write: counts are not exact. */
const MAX_COUNTS = 1_000;
/** For a public key's kid: an RFC 7638 thumbprint has 43. */
export const MAX_KID_CHARACTERS = 200;
/** Per key: a sender that keeps changing its name must leave room for others. */
const MAX_SENDERS = 20;

const outcomeOf = (status: number): UsageOutcome => {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'ok';
};

/** Counts an answered request if its site is known. It neither waits nor throws. */
export type CountUse = (use: Use | undefined, status: number, durationMs: number) => void;

/** The entry of a key, added as `first` if new; undefined if there is no room. */
function entryOf<Entry>(entries: Map<string, Entry>, key: string, first: () => Entry): Entry | undefined {
  const known = entries.get(key);
  if (known !== undefined || entries.size >= MAX_COUNTS) return known;
  const made = first();
  entries.set(key, made);
  return made;
}

const MESSAGE_OUTCOMES = { AA: 'accepted', AE: 'refused', AR: 'rejected' } as const;
const REQUEST_OUTCOMES = { ok: 'accepted', refused: 'refused', failed: 'rejected' } as const;

function tally(boundsMs: readonly number[]) {
  const counts = new Map<string, Growing<UsageCount> & { readonly latency: number[] }>();
  const answers = new Map<string, Growing<AnswerCount>>();
  const keys = new Map<string, Growing<KeyCount>>();
  const kids = new Map<string, Growing<KidNote>>();
  const senders = new Map<string, number>();

  const ofKey = (
    of: Pick<KeyCount, 'site' | 'clientId' | 'surface'>,
    application: string,
    facility: string,
    at: number,
  ): Growing<KeyCount> | undefined => {
    const key = `${of.site} ${of.surface} ${of.clientId}`;
    const named = application + facility === '' ? key : JSON.stringify([key, application, facility]);
    const isNew = !keys.has(named);
    if (isNew && (senders.get(key) ?? 0) >= MAX_SENDERS && application + facility !== '') return ofKey(of, '', '', at);
    if (isNew) senders.set(key, (senders.get(key) ?? 0) + 1);
    return entryOf(keys, named, () => ({ ...of, application, facility, at, accepted: 0, refused: 0, rejected: 0 }));
  };

  return {
    collected: (): Counted => ({
      counts: [...counts.values()],
      answers: [...answers.values()],
      keys: [...keys.values()],
      kids: [...kids.values()],
    }),
    add(surface: UsageSurface, use: Use, status: number, durationMs: number, at: number): void {
      const { site, clientId, answers: more = [], messages, outcome = outcomeOf(status) } = use;
      const count = entryOf(counts, `${site} ${surface} ${outcome}`, () => {
        const latency = Array.from({ length: boundsMs.length + 1 }, () => 0);
        return { site, at, surface, outcome, requests: 0, durationMs: 0, latency };
      });
      if (count !== undefined) {
        const found = boundsMs.findIndex((bound) => durationMs <= bound);
        const step = found < 0 ? boundsMs.length : found;
        count.requests += 1;
        count.durationMs += durationMs;
        count.latency[step] = (count.latency[step] ?? 0) + 1;
      }
      for (const answer of [`${status}` as const, ...more, ...(messages ?? []).map((message) => message.outcome)]) {
        const counted = entryOf(answers, `${site} ${surface} ${answer}`, () => ({ site, surface, answer, answers: 0 }));
        if (counted !== undefined) counted.answers += 1;
      }
      if (clientId === undefined) return;
      if (use.kid !== undefined) {
        // A kid that cannot be stored counts as empty; a longer kid is shortened, which still distinguishes it.
        const kid = isText(use.kid) ? use.kid.slice(0, MAX_KID_CHARACTERS).toWellFormed() : '';
        const note = entryOf(kids, JSON.stringify([site, clientId, kid]), () => ({ site, clientId, kid, at }));
        if (note !== undefined) note.at = at;
      }
      const of = { site, clientId, surface };
      // A message without an ACK does not count: its sender will send it again.
      const answered =
        messages === undefined
          ? [{ application: '', facility: '', what: REQUEST_OUTCOMES[outcome] }]
          : messages.map((message) => ({ ...message, what: MESSAGE_OUTCOMES[message.outcome] }));
      for (const { application, facility, what } of answered) {
        const key = ofKey(of, application, facility, at);
        if (key === undefined) continue;
        key.at = at;
        key[what] += 1;
      }
    },
  };
}

/** @returns a counter for each surface; all are written together */
export function createUsage({ boundsMs, write, ...behind }: UsageOptions): (surface: UsageSurface) => CountUse {
  let tallied = tally(boundsMs);
  const wake = writeBehind(behind, { firstMs: COLLECT_MS, collectMs: COLLECT_MS }, async () => {
    const collected = tallied.collected();
    tallied = tally(boundsMs);
    await write(collected);
  });

  return (surface) => (use, status, durationMs) => {
    if (use === undefined) return;
    tallied.add(surface, use, status, durationMs, behind.now());
    wake();
  };
}
