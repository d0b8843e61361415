/**
 * HTTP answers of the HL7 surface: the status never contradicts the ACK in the body (edge/docs/behaviour.md, HL7 v2).
 * `ingest/answer.ts` builds the ACK of a message that was read.
 */
import type { Fault } from '../../../shared/fault.ts';
import { errorsOfFault } from '../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../shared/hl7/error-code.ts';
import { NO_HEADER, type Header } from '../../../shared/hl7/header.ts';
import { FAULT_STATUS } from '../../http/fault-status.ts';
import { challengeOf } from '../../oauth/bearer.ts';
import { ackBytes } from '../ingest/answer.ts';
import type { Ingested } from '../ingest/ingest.ts';

/** Media types of a message; the answer has the same. */
export const MEDIA_TYPES: readonly string[] = ['text/plain', 'application/hl7-v2', 'x-application/hl7-v2+er7'];

/** The media type of a request; undefined for another one. */
export function mediaTypeOf(request: Request): string | undefined {
  const type = (request.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase();
  return MEDIA_TYPES.find((known) => known === type);
}

const STATUS: Readonly<Record<ApplicationCode, number>> = { AA: 200, AE: 422, AR: 422 };

/** 200 for AA, 422 for AE and AR, 400 for a message without a readable MSH. */
export const statusOf = ({ outcome, header }: Pick<Ingested, 'outcome' | 'header'>): number =>
  header.segment === undefined ? FAULT_STATUS.malformed : STATUS[outcome];

/** The answer to a processed message. */
export function replyTo(ingested: Ingested, type: string): Response {
  const { ack, header } = ingested;
  const status = statusOf(ingested);
  // MSH-15 and MSH-16 asked for no ACK.
  if (ack === null) return new Response(null, { status: status === 200 ? 204 : status });
  return new Response(bodyOf(ack), {
    status,
    headers: { 'Content-Type': `${type}; charset=${header.charset}`, ...NO_STORE },
  });
}

export const NO_STORE = { 'Cache-Control': 'no-store' } as const;

/** A separate buffer, as web platforms accept it as a body. */
const bodyOf = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;

/**
 * The answer to a request that failed before its message was processed. It has an ACK if the sender can fix the cause. It has
 * none if the same message must be sent again.
 *
 * @param header NO_HEADER if it was not read
 */
export function replyToFault(
  fault: Fault,
  type: string,
  nowMs: number,
  requestId: string,
  header: Header = NO_HEADER,
): Response {
  const status = FAULT_STATUS[fault.kind];
  const headers = { ...challengeOf(fault), ...NO_STORE };
  if (WITHOUT_ACK.has(fault.kind))
    return new Response(`${fault.message}\n`, {
      status,
      headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' },
    });
  return new Response(bodyOf(ackBytes(header, 'AR', errorsOfFault(fault), requestId, nowMs)), {
    status,
    headers: { ...headers, 'Content-Type': `${type}; charset=${header.charset}` },
  });
}

const WITHOUT_ACK: ReadonlySet<Fault['kind']> = new Set(['unavailable', 'not-found', 'method-not-allowed']);
