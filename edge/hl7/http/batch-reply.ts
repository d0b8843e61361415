/** The answer to a batch: a batch of the ACKs to its messages, in their order (HL7 v2.5.1 §2.10.3). */
import { encodingCharacters } from '../../../shared/hl7/delimiters.ts';
import { encodeLossy } from '../../../shared/hl7/encode.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { rawAt } from '../../../shared/hl7/value.ts';
import { ackControlId } from '../ingest/answer.ts';
import type { Ingested } from '../ingest/ingest.ts';
import { NO_STORE } from './reply.ts';

/**
 * 200 if every message is AA, else 422. So a client that checks only the status never misses a rejected message.
 *
 * @param header the batch's or file's
 */
export function replyToBatch(header: Header, ingested: readonly Ingested[], type: string, nowMs: number): Response {
  const acks = ingested.map(({ ack }) => ack).filter((ack) => ack !== null);
  const { field } = header.delimiters;
  const start = encodeLossy(`${batchHeader(header, nowMs)}\r`, header.charset);
  const end = encodeLossy(`BTS${field}${acks.length}\r`, header.charset);
  const isAccepted = ingested.every(({ outcome }) => outcome === 'AA');
  const charsets = new Set(ingested.map((each) => each.header.charset));
  const charset = charsets.size === 1 ? `; charset=${[...charsets][0] ?? ''}` : '';
  return new Response(new Blob([start, ...acks, end].map((part) => Uint8Array.from(part))), {
    status: isAccepted ? 200 : 422,
    headers: { 'Content-Type': `${type}${charset}`, ...NO_STORE },
  });
}

/** BHS-3 to BHS-6 are swapped, BHS-12 is the control id of the answered batch. Both are copied as sent. */
function batchHeader({ segment, delimiters }: Header, nowMs: number): string {
  const copied = (field: number): string => (segment === undefined ? '' : (rawAt(segment, field) ?? ''));
  const time = `${new Date(nowMs).toISOString().replaceAll(/[-:TZ]/g, '')}+0000`;
  return [
    'BHS',
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
