/**
 * Checks whether a body has one message, a batch (HL7 v2.5.1 §2.10.3), or several messages without an envelope. One ACK answers
 * one message; a batch over HTTP was split into its messages before (`http/batch.ts`).
 */
import type { Fault } from '../../../shared/fault.ts';
import { hl7Fault } from '../../../shared/hl7/error-code.ts';
import type { Message } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';

/** @returns Fault 200 for a batch, 100 at the second MSH; undefined for one message */
export function envelopeFault(message: Message): Fault | undefined {
  const first = message.segments.find(({ id }) => id === 'FHS' || id === 'BHS');
  if (first !== undefined) {
    return hl7Fault(
      '200',
      locate(first),
      'Batches are accepted over HTTP only. Send each message separately.',
      'batch',
    );
  }
  const second = message.named('MSH')[1];
  if (second === undefined) return undefined;
  return hl7Fault('100', locate(second), 'This is a second MSH. Send each message separately.', 'several-messages');
}
