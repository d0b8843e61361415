/**
 * Checks whether a body has one message, a batch (HL7 v2.5.1 §2.10.3), several messages without an envelope, or a part of a message
 * (§2.10.2). One ACK answers one message; a batch over HTTP was split into its messages before (`http/batch.ts`).
 */
import type { Fault } from '../../../shared/fault.ts';
import { hl7Fault } from '../../../shared/hl7/error-code.ts';
import type { Message } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { isValued } from '../mapping/datatypes/text.ts';

/** @returns Fault 200 for a batch, 100 at the second MSH or a continuation pointer; undefined for one message */
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
  if (second !== undefined) {
    return hl7Fault('100', locate(second), 'This is a second MSH. Send each message separately.', 'several-messages');
  }
  const dsc = message.first('DSC');
  if (dsc === undefined || !isValued(dsc, 1)) return undefined;
  const text = 'DSC-1 says that another message continues this one. Send the message in one piece.';
  return hl7Fault('100', locate(dsc, 1), text, 'message-fragment');
}
