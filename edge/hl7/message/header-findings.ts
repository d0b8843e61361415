/** What the header alone refuses: envelope, required fields, type, event, version, processing id (HL7 v2.5.1 §2.15.9). */
import { errorsOfFault, type AckError } from '../../../shared/hl7/ack.ts';
import { isErrorCode, type ErrorCode } from '../../../shared/hl7/error-code.ts';
import { missingHeaderFields, type Header } from '../../../shared/hl7/header.ts';
import type { Message } from '../../../shared/hl7/message.ts';
import { envelopeFault } from './envelope.ts';
import { MESSAGE_TYPES, VERSIONS } from './events.ts';

/** All of it at once, but nothing of the fields where the body is not one message. */
export function headerFindings(message: Message, header: Header): AckError[] {
  const envelope = envelopeFault(message);
  if (envelope !== undefined) return errorsOfFault(envelope);
  return [...missingFields(header), ...unsupported(header)];
}

function missingFields(header: Header): AckError[] {
  return missingHeaderFields(header).map(({ code, message, at }) => ({
    code: isErrorCode(code) ? code : '101',
    severity: 'E',
    message,
    reason: 'required-field-missing',
    ...(at !== undefined && { at }),
  }));
}

const refused = (code: ErrorCode, at: string, message: string, reason: string): AckError => ({
  code,
  severity: 'E',
  at,
  message,
  reason,
});

function unsupported({ messageType, triggerEvent, versionId }: Header): AckError[] {
  const findings: AckError[] = [];
  const events = MESSAGE_TYPES.get(messageType ?? '');
  if (messageType !== undefined && events === undefined) {
    const message = 'messages of this type are not supported: ADT, ORU and MDM are';
    findings.push(refused('200', 'MSH^1^9^1^1', message, 'unsupported-type'));
  }
  if (events !== undefined && triggerEvent !== undefined && !events.has(triggerEvent)) {
    const message = `this event of ${messageType ?? ''} is not supported`;
    findings.push(refused('201', 'MSH^1^9^1^2', message, 'unsupported-event'));
  }
  if (versionId !== undefined && !VERSIONS.has(versionId)) {
    const message = 'this version of HL7 is not supported: 2.2 to 2.8 are';
    findings.push(refused('203', 'MSH^1^12', message, 'unsupported-version'));
  }
  return findings;
}

/** MSH-11 against the setting of the key or the site. */
export function processingFindings({ processingId }: Header, accepted: ReadonlySet<string>): AckError[] {
  if (processingId === undefined || accepted.has(processingId)) return [];
  const message = `processing id is not accepted here: ${[...accepted].join(', ')} is`;
  return [refused('202', 'MSH^1^11', message, 'unsupported-processing-id')];
}
