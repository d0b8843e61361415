/**
 * Splits a batch or a file of batches (HL7 v2.5.1 §2.10.3) into its messages, byte for byte. Each message is processed as if it
 * were sent alone. A malformed batch is rejected completely, before any message is processed.
 */
import { Fault } from '../../../shared/fault.ts';
import { latin1 } from '../../../shared/hl7/charset.ts';
import { hl7Fault } from '../../../shared/hl7/error-code.ts';
import { salvageHeader, type Header } from '../../../shared/hl7/header.ts';

/**
 * The messages are processed in their order, because several may be about one patient. Each needs one or two round trips to the
 * database. So 100 messages take a few seconds, and at most about 200 of the 1,000 requests that a Worker may make.
 */
export const MAX_BATCH_MESSAGES = 100;

const ENVELOPE: ReadonlySet<string> = new Set(['FHS', 'BHS', 'BTS', 'FTS']);

/** The first segment, after a byte order mark, white space or the start of a frame. */
function startOf(bytes: Uint8Array): number {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at += 1;
  return at;
}

/** Checks for a batch. A batch has one byte per character. */
export function isBatch(bytes: Uint8Array): boolean {
  const at = startOf(bytes);
  return /^[FB]HS[^A-Z0-9]/.test(latin1(bytes.subarray(at, at + 4)));
}

/**
 * The messages of a batch, in order.
 *
 * @returns Fault 100 or 101 for an incomplete batch, segments outside of messages, or a wrong count; 207 `too-large` for
 *   more than 100 messages
 */
export function messagesOf(bytes: Uint8Array): Uint8Array[] | Fault {
  try {
    return cut(bytes);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

function cut(bytes: Uint8Array): Uint8Array[] {
  const messages: Uint8Array[] = [];
  /** Start of the current message. */
  let from = -1;
  /** Open FHS and BHS. */
  const open: string[] = [];
  const counts = { messages: 0, batches: 0 };

  const end = (at: number): void => {
    if (from >= 0) messages.push(bytes.subarray(from, at));
    from = -1;
  };

  for (const { at, id, line } of linesOf(bytes)) {
    if (id === 'MSH') {
      end(at);
      from = at;
      counts.messages += 1;
      if (messages.length >= MAX_BATCH_MESSAGES) throw tooMany();
    } else if (ENVELOPE.has(id)) {
      end(at);
      follow(id, line, open, counts);
    } else if (from < 0) {
      throw broken('100', `${/^[A-Z][A-Z0-9]{2}$/.test(id) ? id : '???'}^1`, 'A segment is outside of any message.');
    }
  }
  end(bytes.length);
  const unended = open.at(-1);
  if (unended !== undefined) throw incomplete(unended);
  return messages;
}

/** The headers of a complete batch or file, for its answer. */
export interface BatchHeaders {
  /** FHS; undefined without a file. */
  readonly file: Header | undefined;
  /** In their order, with the number of their messages. Messages outside of batches have the header of their file. */
  readonly batches: readonly { readonly header: Header; readonly messages: number }[];
}

export function headersOf(bytes: Uint8Array): BatchHeaders {
  let file: Header | undefined;
  const batches: { header: Header; messages: number; isOpen: boolean }[] = [];
  for (const { at, id } of linesOf(bytes)) {
    const last = batches.at(-1);
    if (id === 'FHS') file = salvageHeader(bytes.subarray(at));
    else if (id === 'BHS') batches.push({ header: salvageHeader(bytes.subarray(at)), messages: 0, isOpen: true });
    else if (id === 'BTS' && last !== undefined) last.isOpen = false;
    else if (id === 'MSH' && last?.isOpen === true) last.messages += 1;
    else if (id === 'MSH' && file !== undefined) batches.push({ header: file, messages: 1, isOpen: true });
  }
  return { file, batches };
}

function* linesOf(bytes: Uint8Array): Generator<{ at: number; id: string; line: string }> {
  for (let at = startOf(bytes); at < bytes.length;) {
    let to = at;
    while (to < bytes.length && bytes[to] !== 0x0d && bytes[to] !== 0x0a) to += 1;
    const isBlank = bytes.subarray(at, to).every((byte) => byte <= 0x20 || byte === 0x1c);
    // A trailer is short; of other lines only the name counts.
    const line = latin1(bytes.subarray(at, Math.min(to, at + 64)));
    if (!isBlank) yield { at, id: /^[A-Z][A-Z0-9]{2}(?![A-Z0-9])/.exec(line)?.[0] ?? '', line };
    at = to + 1;
  }
}

/** Checks one segment of the envelope: a trailer needs its header and the right count. */
function follow(id: string, line: string, open: string[], counts: { messages: number; batches: number }): void {
  if (id === 'FHS' || id === 'BHS') {
    if (open.includes(id) || (id === 'FHS' && open.length > 0))
      throw broken('100', `${id}^1`, `${id} is inside another ${id}.`);
    open.push(id);
    if (id === 'BHS') Object.assign(counts, { messages: 0, batches: counts.batches + 1 });
    return;
  }
  const begun = id === 'BTS' ? 'BHS' : 'FHS';
  if (id === 'FTS' && open.at(-1) === 'BHS') throw incomplete('BHS');
  if (open.at(-1) !== begun) throw broken('100', `${id}^1`, `${id} has no ${begun} before it.`);
  open.pop();
  const said = (line.split(line.charAt(3))[1] ?? '').trim();
  // A file may have messages without a batch around them, which FTS-1 does not count.
  const there = id === 'BTS' ? counts.messages : counts.batches;
  if (!/^\d+$/.test(said) || (id === 'FTS' && there === 0) || Number(said) === there) return;
  const [what, whole] = id === 'BTS' ? ['messages', 'batch'] : ['batches', 'file'];
  throw broken('100', `${id}^1^1`, `${id}-1 counts ${Number(said)} ${what}, but the ${whole} has ${there}.`);
}

const broken = (code: '100' | '101', at: string, message: string) =>
  hl7Fault(code, at, `${message} No message of the batch was processed.`, 'broken-batch');

function incomplete(header: string) {
  const trailer = header === 'FHS' ? 'FTS' : 'BTS';
  return broken('101', `${trailer}^1`, `The batch has no ${trailer}. It may be incomplete.`);
}

const tooMany = () =>
  hl7Fault(
    '207',
    'BHS^1',
    `A batch may have ${MAX_BATCH_MESSAGES} messages. Send several batches.`,
    'batch-too-long',
    'too-large',
  );
