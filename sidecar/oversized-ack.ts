/** The only ACK that the sidecar writes itself: AR for a frame over the edge's limit. */
import { randomBytes } from 'node:crypto';

import { ackDecision } from '../shared/hl7/ack-mode.ts';
import { buildAck } from '../shared/hl7/ack.ts';
import { salvageHeader } from '../shared/hl7/header.ts';

/** MSH-10 of an ACK has at most 20 characters (HL7 v2.5.1 §2.15.9.10): a letter and 72 random bits. */
const ackControlId = (): string => `S${randomBytes(9).toString('hex')}`;

/**
 * @param head the frame's first bytes, long enough for MSH
 * @returns undefined if the sender wants no acknowledgement of rejected messages
 */
export function answerOversized(head: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const header = salvageHeader(head);
  const { send } = ackDecision(header, 'AR');
  if (send === undefined) return undefined;
  const message = `the message is larger than MLLP_MAX_FRAME_BYTES (${maxBytes} bytes)`;
  return buildAck({
    header,
    code: send,
    errors: [{ code: '207', severity: 'E', message, reason: 'too-large' }],
    ackControlId: ackControlId(),
    at: new Date(),
  }).bytes;
}
