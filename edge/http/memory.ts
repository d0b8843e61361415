/**
 * The memory of large requests. A Worker has 128 MB, so few large requests are processed at once. Others wait, then the answer
 * is 503. Small requests reserve nothing.
 */
import { Fault } from '../../shared/fault.ts';
import type { Share } from '../deps.ts';

/**
 * The memory that content needs while it is processed, in bytes: for each byte, and for some bytes more. Text costs a few copies,
 * the parts that separators end cost much more than their text. Measured as resident memory of workerd with a heap of 128 MB
 * (test/contract/memory.test.ts).
 */
const NEEDS = {
  // 2 MiB of `{"url":"u","valueInteger":1},` need 50 MiB, 2 MiB of base64 need 20.
  json: { byte: 10, ending: { ',': 270 } },
  // 1,900 orders with a result each need 18 MiB in 145 kB, a document of 10 MiB needs 90.
  hl7: { byte: 9, ending: { '\r': 5000, '\n': 5000, '~': 500, '|': 60, '^': 60 } },
  // As sent, decoded, and in the page that shows it again.
  form: { byte: 10, ending: {} },
} as const;
export type Content = keyof typeof NEEDS;

const tableOf = (content: Content): Float64Array => {
  const { byte, ending } = NEEDS[content];
  const table = new Float64Array(256).fill(byte);
  for (const [character, need] of Object.entries(ending)) table[character.charCodeAt(0)] = byte + need;
  return table;
};
const TABLES: Readonly<Record<Content, Float64Array>> = {
  json: tableOf('json'),
  hl7: tableOf('hl7'),
  form: tableOf('form'),
};

/** The memory that this content needs. */
export function needOf(content: Content, bytes: Uint8Array): number {
  const table = TABLES[content];
  let need = 0;
  for (const byte of bytes) need += table[byte] ?? 0;
  return need;
}

/** The memory that a message needs if its effects are shown: it is decided up to twice, and the answer needs memory beside it. */
export const needOfShown = (message: Uint8Array): number => 3 * needOf('hl7', message);

/** The answer of the database, its rows, the text of the answer, and a part of that in UTF-8. */
const ANSWER_BYTE = 7;

/** The memory that an answer of the database needs. */
const needOfAnswer = (bytes: number): number => ANSWER_BYTE * bytes;

/** Below it a request reserves nothing: 100 of them fit beside the large ones. */
const SMALL = 512 * 1024;
/** A body below it is read without waiting. */
export const SMALL_BODY = 64 * 1024;

interface Entry {
  /** A site, or the address of an MLLP sender: its requests delay those of others as little as possible. */
  readonly source: string;
  bytes: number;
  /** Only the client's reading of the answer is left. */
  isKept: boolean;
  /** Workers may end a request without running its `finally`: then the entry is dropped after this time. */
  untilMs: number;
}

/** How long a request waits for its body and its work: less than a sender and the sidecar wait for an answer. */
const WAIT_MS = 10_000;
/** The wait for an answer of the database, within the time of a request (store/time-limits.ts). */
const ANSWER_WAIT_MS = 6000;
/** More waiting requests of a source could not be served in time. */
const MAX_WAITING = 32;
/** Each request looks again itself: on Workers one request does not wake another. */
const POLL_MS = 25;
const WAITING_MS = 1000;
/** The time of a body and of the rounds with the database. */
const RUNNING_MS = 60_000;
/** The time in which a client reads a large answer: the largest one needs 280 kB a second. */
export const SENDING_MS = 60_000;
/** After it, the first request in the queue starts before smaller ones, or it would never find enough room. */
const PATIENCE_MS = 2000;

/** The answer to a request that has waited too long. */
export const noMemory = (): Fault =>
  new Fault('unavailable', 'Too many large requests are being processed (MAX_HELD_BYTES). Send the request again.', {
    headers: { 'Retry-After': '5' },
  });

interface PoolLimits {
  readonly maxBytes: number;
  /** A larger request counts as this. The rest is for other sources beside it. */
  readonly ofRequest: number;
  /** All requests of one source beyond its first. */
  readonly ofSource: number;
  /** A source whose clients have yet to read more than this starts nothing. */
  readonly ofKept: number;
}

function createPool({ maxBytes, ofRequest, ofSource, ofKept }: PoolLimits, now: () => number) {
  const running = new Set<Entry>();
  // In order of arrival, with the time of it.
  const waiting = new Map<Entry, number>();

  const mayStart = (entry: Entry): boolean => {
    for (const each of running) if (each.untilMs < now()) running.delete(each);
    for (const each of waiting.keys()) if (each.untilMs < now()) waiting.delete(each);
    let free = maxBytes;
    const held = new Map<string, number>();
    const kept = new Map<string, number>();
    for (const { source, bytes, isKept } of running) {
      free -= bytes;
      held.set(source, (held.get(source) ?? 0) + bytes);
      if (isKept) kept.set(source, (kept.get(source) ?? 0) + bytes);
    }
    const heldBy = ({ source }: Entry): number => held.get(source) ?? 0;
    const isOverShare = (each: Entry): boolean =>
      (heldBy(each) > 0 && heldBy(each) + each.bytes > ofSource) || (kept.get(each.source) ?? 0) > ofKept;
    if (entry.bytes > free || isOverShare(entry)) return false;
    // First the source with the fewest bytes, then in order of arrival.
    let isBefore = true;
    for (const [other, since] of waiting) {
      if (other === entry) isBefore = false;
      else if (!isOverShare(other) && (other.bytes <= free || now() - since > PATIENCE_MS)) {
        if (heldBy(other) < heldBy(entry) + (isBefore ? 1 : 0)) return false;
      }
    }
    return true;
  };

  /** Without waiting. */
  const add = (source: string, bytes: number): Entry => {
    const entry = { source, bytes, isKept: false, untilMs: now() + RUNNING_MS };
    running.add(entry);
    return entry;
  };

  return {
    add,
    /** @throws Fault `unavailable` after `waitMs`, or if too many requests of the source wait */
    async enter(source: string, bytes: number, waitMs: number): Promise<Entry> {
      const since = now();
      const wanted = { source, bytes: Math.min(bytes, ofRequest), isKept: false, untilMs: since + WAITING_MS };
      if ([...waiting.keys()].filter((each) => each.source === source).length >= MAX_WAITING) throw noMemory();
      waiting.set(wanted, since);
      try {
        while (!mayStart(wanted)) {
          if (now() >= since + waitMs) throw noMemory();
          await new Promise((resolve) => setTimeout(resolve, POLL_MS));
          wanted.untilMs = now() + WAITING_MS;
          if (!waiting.has(wanted)) waiting.set(wanted, since);
        }
      } finally {
        waiting.delete(wanted);
      }
      return add(source, wanted.bytes);
    },
    leave: (entry: Entry): void => void running.delete(entry),
  };
}

/** The part of the memory for bodies that arrive: of 64 MiB, two messages of 10 MiB. */
const READING = 20 / 64;

/**
 * @param maxBytes MAX_HELD_BYTES
 * @param connections to the database; an answer that waits occupies one. The request that has the memory may need another one,
 *   so few answers may wait
 * @returns makes the share of a request
 */
export function createMemory(maxBytes: number, now: () => number, connections = Infinity): () => Share {
  /** The sources of the answers that wait. */
  const waitingAnswers = new Set<{ readonly source: string }>();
  const mayAnswerWait = (source: string): boolean =>
    waitingAnswers.size < Math.floor(connections / 2) &&
    [...waitingAnswers].filter((each) => each.source === source).length < Math.max(1, Math.floor(connections / 4));
  const forBodies = maxBytes * READING;
  const reading = createPool(
    { maxBytes: forBodies, ofRequest: forBodies / 2, ofSource: forBodies / 2, ofKept: Infinity },
    now,
  );
  const forWork = maxBytes - forBodies;
  // A client that reads slowly keeps at most the rest from others.
  const working = createPool(
    { maxBytes: forWork, ofRequest: forWork * (3 / 4), ofSource: Infinity, ofKept: forWork / 8 },
    now,
  );

  return () => {
    let entry: Entry | undefined;
    let waitedMs = 0;
    const enter = async (pool: typeof working, source: string, bytes: number): Promise<Entry> => {
      const began = now();
      try {
        return await pool.enter(source, bytes, WAIT_MS - waitedMs);
      } finally {
        waitedMs += now() - began;
      }
    };
    const leave = (): void => {
      if (entry !== undefined && !entry.isKept) working.leave(entry);
      entry = undefined;
    };
    /** A request that waits holds nothing, so that two requests never wait for each other. */
    const replaceBy = async (bytes: number, larger: () => Promise<Entry>): Promise<void> => {
      if (bytes <= Math.max(SMALL, entry?.bytes ?? 0)) return;
      leave();
      entry = await larger();
    };
    return {
      async read(source, read) {
        let arriving: Entry | undefined;
        const end = (): void => {
          if (arriving !== undefined) reading.leave(arriving);
        };
        try {
          return await read(async (bytes) => {
            if (bytes <= Math.max(SMALL_BODY, arriving?.bytes ?? 0)) return;
            end();
            arriving = await enter(reading, source, bytes);
          });
        } finally {
          end();
        }
      },
      reserve: (source, bytes) => replaceBy(bytes, () => enter(working, source, bytes)),
      async reserveAnswer(source, bytes) {
        const need = needOfAnswer(bytes);
        await replaceBy(need, async () => {
          if (!mayAnswerWait(source)) return working.enter(source, need, 0);
          const place = { source };
          waitingAnswers.add(place);
          return working.enter(source, need, ANSWER_WAIT_MS).finally(() => waitingAnswers.delete(place));
        });
      },
      addAnswer(source, bytes) {
        const need = needOfAnswer(bytes);
        if (need <= Math.max(SMALL, entry?.bytes ?? 0)) return;
        leave();
        entry = working.add(source, need);
      },
      keep(bytes) {
        const kept = entry;
        if (kept === undefined) return undefined;
        kept.bytes = Math.min(kept.bytes, bytes);
        kept.isKept = true;
        kept.untilMs = now() + SENDING_MS;
        return { release: () => working.leave(kept) };
      },
      end: leave,
    };
  };
}
