/**
 * Whether a body holds one message, a batch (HL7 v2.5.1 §2.10.3), or several messages that follow each other. The
 * surfaces take one message at a time, since one ACK answers one message.
 */
import type { Fault } from '../../../shared/fault.ts';
import { hl7Fault } from '../../../shared/hl7/error-code.ts';
import type { Message } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';

/** Why a body is not one message: Fault 200 for a batch, 100 at the second MSH; undefined when it is one. */
export function envelopeFault(message: Message): Fault | undefined {
  const first = message.segments.find(({ id }) => id === 'FHS' || id === 'BHS');
  if (first !== undefined) {
    return hl7Fault('200', locate(first), 'batches are not accepted: send each message by itself', 'batch');
  }
  const second = message.named('MSH')[1];
  if (second === undefined) return undefined;
  return hl7Fault('100', locate(second), 'a second MSH: send each message by itself', 'several-messages');
}
