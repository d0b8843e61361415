/** The answer to a batch or a file of batches: the same with the ACKs to its messages, in their order (HL7 v2.5.1 §2.10.3). */
import { encodingCharacters } from '../../../shared/hl7/delimiters.ts';
import { encodeLossy } from '../../../shared/hl7/encode.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { rawAt } from '../../../shared/hl7/value.ts';
import { ackControlId } from '../ingest/answer.ts';
import type { Ingested } from '../ingest/ingest.ts';
import type { BatchHeaders } from './batch.ts';
import { NO_STORE } from './reply.ts';

/**
 * 200 if every message is AA, else 422. So a client that checks only the status never misses a rejected message.
 *
 * @param ingested the messages of all batches, in their order
 */
export function replyToBatch(
  { file, batches }: BatchHeaders,
  ingested: readonly Ingested[],
  type: string,
  nowMs: number,
): Response {
  const line = (header: Header, text: string): Uint8Array => encodeLossy(`${text}\r`, header.charset);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { header, messages } of batches) {
    const acks = ingested.slice(from, from + messages).flatMap(({ ack }) => (ack === null ? [] : [ack]));
    const trailer = `BTS${header.delimiters.field}${acks.length}`;
    parts.push(line(header, envelopeHeader('BHS', header, nowMs)), ...acks, line(header, trailer));
    from += messages;
  }
  if (file !== undefined) {
    parts.unshift(line(file, envelopeHeader('FHS', file, nowMs)));
    parts.push(line(file, `FTS${file.delimiters.field}${batches.length}`));
  }
  const isAccepted = ingested.every(({ outcome }) => outcome === 'AA');
  const charsets = new Set(ingested.map((each) => each.header.charset));
  const charset = charsets.size === 1 ? `; charset=${[...charsets][0] ?? ''}` : '';
  return new Response(new Blob(parts.map((part) => Uint8Array.from(part))), {
    status: isAccepted ? 200 : 422,
    headers: { 'Content-Type': `${type}${charset}`, ...NO_STORE },
  });
}

/** Fields 3 to 6 are swapped, field 12 is the control id of the answered batch or file. They are copied as sent. */
function envelopeHeader(name: 'FHS' | 'BHS', { segment, delimiters }: Header, nowMs: number): string {
  const copied = (field: number): string => (segment === undefined ? '' : (rawAt(segment, field) ?? ''));
  const time = `${new Date(nowMs).toISOString().replaceAll(/[-:TZ]/g, '')}+0000`;
  return [
    name,
    encodingCharacters(delimiters),
    ...[5, 6, 3, 4].map(copied),
    time,
    '',
    '',
    '',
    ackControlId(nowMs),
    copied(11),
  ].join(delimiters.field);
}
