/**
 * Whether what is read holds one message, a batch (HL7 v2.5.1 §2.10.3), or several messages that follow each other. One
 * ACK answers one message; a batch over HTTP was cut into its messages before (`batch.ts`).
 */
import type { Fault } from '../../../shared/fault.ts';
import { hl7Fault } from '../../../shared/hl7/error-code.ts';
import type { Message } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';

/** Why a body is not one message: Fault 200 for a batch, 100 at the second MSH; undefined when it is one. */
export function envelopeFault(message: Message): Fault | undefined {
  const first = message.segments.find(({ id }) => id === 'FHS' || id === 'BHS');
  if (first !== undefined) {
    return hl7Fault('200', locate(first), 'batches are taken over HTTP only: send each message by itself', 'batch');
  }
  const second = message.named('MSH')[1];
  if (second === undefined) return undefined;
  return hl7Fault('100', locate(second), 'a second MSH: send each message by itself', 'several-messages');
}
