/**
 * Bounds the bytes of messages that an isolate has in memory at once. A message beyond the bound waits, then its sender is
 * asked to send it again.
 */
import { Fault } from '../../../shared/fault.ts';
import { codingOf } from '../../http/body.ts';

/** Runs `work` as soon as `bytes` more fit. @throws Fault `unavailable` after a wait of ten seconds */
export type Admission = <T>(source: string, bytes: number, work: () => Promise<T>) => Promise<T>;

interface Entry {
  /** A site, or the address of an MLLP sender: its messages delay those of others as little as possible. */
  readonly source: string;
  readonly bytes: number;
  /** Workers may end a request without running its `finally`: then the entry is dropped after this time. */
  untilMs: number;
}

/** Less than a sender and the sidecar wait for an answer. */
const WAIT_MS = 10_000;
/** Each request looks again itself: on Workers one request does not wake another. */
const POLL_MS = 25;
const WAITING_MS = 1000;
/** The time of a body and of the rounds with the database. */
const RUNNING_MS = 60_000;

/** @param maxBytes a larger message runs alone */
export function createAdmission(maxBytes: number, now: () => number): Admission {
  const running = new Set<Entry>();
  // In order of arrival.
  const waiting = new Set<Entry>();

  const mayStart = (entry: Entry): boolean => {
    for (const entries of [running, waiting]) {
      for (const each of entries) if (each.untilMs < now()) entries.delete(each);
    }
    let free = maxBytes;
    const held = new Map<string, number>();
    for (const { source, bytes } of running) {
      free -= bytes;
      held.set(source, (held.get(source) ?? 0) + bytes);
    }
    if (entry.bytes > free) return false;
    // First the source with the fewest bytes, then in order of arrival.
    const heldBy = ({ source }: Entry): number => held.get(source) ?? 0;
    let isBefore = true;
    for (const other of waiting) {
      if (other === entry) isBefore = false;
      else if (other.bytes <= free && heldBy(other) < heldBy(entry) + (isBefore ? 1 : 0)) return false;
    }
    return true;
  };

  return async (source, bytes, work) => {
    const giveUpAt = now() + WAIT_MS;
    const entry: Entry = { source, bytes: Math.min(bytes, maxBytes), untilMs: now() + WAITING_MS };
    waiting.add(entry);
    try {
      while (!mayStart(entry)) {
        if (now() >= giveUpAt) {
          throw new Fault(
            'unavailable',
            'Too many bytes of messages are being processed (HL7_MAX_HELD_BYTES). Send the message again.',
            { headers: { 'Retry-After': '5' } },
          );
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        entry.untilMs = now() + WAITING_MS;
        waiting.add(entry);
      }
    } finally {
      waiting.delete(entry);
    }
    entry.untilMs = now() + RUNNING_MS;
    running.add(entry);
    try {
      return await work();
    } finally {
      running.delete(entry);
    }
  };
}

/** @param maxBytes the bytes of a request that does not declare the length of its content */
export function declaredBytes(request: Request, maxBytes: number): number {
  // A declared length is of the compressed bytes.
  if (codingOf(request) !== 'identity') return maxBytes;
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  return length >= 0 && length < maxBytes ? length : maxBytes;
}
