/**
 * Counts requests for the charts of the console and for /metrics. Counts are added up in memory and written a few seconds
 * later, off the response path, so that however many requests there are, one process writes one statement in that time.
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

/** A message that was answered with an ACK, and who its sender says to be. */
export interface AnsweredMessage {
  readonly outcome: ApplicationCode;
  /** MSH-3 and MSH-4, as they are kept with the message. */
  readonly application: string;
  readonly facility: string;
}

/** Whose a request is, as soon as that is known: counted by site, and in the request's log line. */
export interface Use {
  readonly site: string;
  readonly clientId?: string;
  /** Who of the staff. */
  readonly actor?: string;
  /** Where the status does not tell it: an ACK over MLLP is always 200. */
  readonly outcome?: UsageOutcome;
  /** What was answered beside the status: a token. */
  readonly answers?: readonly Answer[];
  /** Of the public key that the client has authenticated with; empty for a key without one. */
  readonly kid?: string;
  /** A request with messages counts as them, and not at all where none was answered. */
  readonly messages?: readonly AnsweredMessage[];
}

type Growing<Count> = { -readonly [Member in keyof Count]: Count[Member] };

export interface UsageOptions extends Behind {
  /** Upper bounds of the latency histogram, ascending. */
  readonly boundsMs: readonly number[];
  readonly write: (counted: Counted) => Promise<unknown>;
}

/** Beyond it new combinations are dropped until the next write: counts are no record. */
const MAX_COUNTS = 1_000;
/** Of a public key's name: an RFC 7638 thumbprint has 43. */
export const MAX_KID_CHARACTERS = 200;
/** Of a key: who calls itself something else each time leaves room for the others. */
const MAX_SENDERS = 20;

const outcomeOf = (status: number): UsageOutcome => {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'ok';
};

/** Counts one request that was answered, if its site is known. It neither waits nor throws. */
export type CountUse = (use: Use | undefined, status: number, durationMs: number) => void;

/** What is kept by key, `first` where it is new; undefined where there is no room for more. */
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
        // A name that cannot be kept is no name; one that is longer than names are is still told from others.
        const kid = isText(use.kid) ? use.kid.slice(0, MAX_KID_CHARACTERS).toWellFormed() : '';
        const note = entryOf(kids, JSON.stringify([site, clientId, kid]), () => ({ site, clientId, kid, at }));
        if (note !== undefined) note.at = at;
      }
      const of = { site, clientId, surface };
      // A message was heard of only when it was answered: one that nobody stored comes again.
      const heard =
        messages === undefined
          ? [{ application: '', facility: '', what: REQUEST_OUTCOMES[outcome] }]
          : messages.map((message) => ({ ...message, what: MESSAGE_OUTCOMES[message.outcome] }));
      for (const { application, facility, what } of heard) {
        const key = ofKey(of, application, facility, at);
        if (key === undefined) continue;
        key.at = at;
        key[what] += 1;
      }
    },
  };
}

/** @returns a counter for each surface, all of which are written together */
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
