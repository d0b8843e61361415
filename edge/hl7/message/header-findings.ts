/** Errors of the header alone: envelope, required fields, type, event, version, processing id (HL7 v2.5.1 §2.15.9). */
import { errorsOfFault, type AckError } from '../../../shared/hl7/ack.ts';
import { isErrorCode, type ErrorCode } from '../../../shared/hl7/error-code.ts';
import { ERROR_REASONS, type ErrorReason } from '../../../shared/hl7/error-reason.ts';
import { missingHeaderFields, type Header } from '../../../shared/hl7/header.ts';
import type { Message } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import type { KeyRecord } from '../../members/api-key.ts';
import { fieldText, isValued } from '../mapping/datatypes/text.ts';
import { envelopeFault } from './envelope.ts';
import { isAcknowledgment } from '../../../shared/hl7/ack-mode.ts';
import { isMappedType, isQuery, ruleOf, usualEventOf, VERSIONS } from '../mapping/tables/events.ts';

/**
 * Type and event in capitals. A message without an event has the one in EVN-1, else the usual one of its type.
 *
 * @param header as sent
 */
export function withEvent(header: Header, message: Message): Header {
  const messageType = header.messageType?.toUpperCase();
  const [recorded] = message.named('EVN').map((evn) => fieldText(evn, 1)?.toUpperCase());
  const usual = recorded !== undefined && /^[A-Z]\d\d$/.test(recorded) ? recorded : usualEventOf(messageType ?? '');
  return { ...header, messageType, triggerEvent: header.triggerEvent?.toUpperCase() ?? usual };
}

/** @param sent the header before `withEvent` */
export function eventFindings(sent: Header, { messageType, triggerEvent }: Header): AckError[] {
  if (sent.triggerEvent !== undefined || triggerEvent === undefined) return [];
  const message = `MSH-9.2 (trigger event) is empty. The message was processed as ${messageType}^${triggerEvent}.`;
  return [{ code: '101', severity: 'W', at: 'MSH^1^9^1^2', message, reason: NO_EVENT }];
}

export const NO_EVENT = 'no-event';

/** All errors at once. If the body is not one message, its fields are not checked. An acknowledgement is only stored. */
export function headerFindings(message: Message, header: Header): AckError[] {
  const envelope = envelopeFault(message);
  if (envelope !== undefined) return errorsOfFault(envelope);
  if (isAcknowledgment(header)) return [];
  const part = continuationFindings(message).filter(({ severity }) => severity === 'E');
  return [...missingFields(header), ...unsupported(header), ...part];
}

/**
 * MSH-14 names the message that this one continues (HL7 v2.5.1 §2.10.2). Senders of complete messages fill it too, so a message that
 * begins with its patient is processed.
 */
export function continuationFindings(message: Message): AckError[] {
  const msh = message.first('MSH');
  if (msh === undefined || !isValued(msh, 14)) return [];
  const isPart = message.first('PID') === undefined;
  const advice = isPart ? 'Send the message in one piece.' : 'It was processed as a complete message.';
  const text = `MSH-14 says that this message continues another one. ${advice}`;
  const severity = isPart ? 'E' : 'W';
  return [{ code: '100', severity, at: locate(msh, 14), message: text, reason: 'message-fragment' }];
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

const refused = (code: ErrorCode, at: string, message: string, reason: ErrorReason): AckError => ({
  code,
  severity: 'E',
  at,
  message,
  reason,
});

function unsupported({ messageType, triggerEvent, versionId }: Header): AckError[] {
  const findings: AckError[] = [];
  const isMapped = messageType !== undefined && isMappedType(messageType);
  if (isMapped && triggerEvent !== undefined && ruleOf(messageType, triggerEvent) === undefined) {
    const message = `This event of ${messageType} is not supported.`;
    findings.push(refused('201', 'MSH^1^9^1^2', message, 'unsupported-event'));
  }
  if (versionId !== undefined && !VERSIONS.has(versionId)) {
    const message = 'This version of HL7 is not supported. Send 2.2 to 2.8.2.';
    findings.push(refused('203', 'MSH^1^12', message, 'unsupported-version'));
  }
  return findings;
}

/** The settings of the key and the site that concern a header. */
export interface HeaderSettings {
  /** Accepted MSH-11; the first is the default. */
  readonly processingIds: ReadonlySet<string>;
  readonly hl7_unsupported_types: KeyRecord['hl7_unsupported_types'];
}

export const NO_PROCESSING_ID = 'no-processing-id';

/** MSH-9.1 and MSH-11 against the settings. */
export function settingFindings(header: Header, settings: HeaderSettings): AckError[] {
  const types = typeFindings(header, settings);
  return isAcknowledgment(header) ? types : [...types, ...processingFindings(header, settings)];
}

function typeFindings({ messageType }: Header, { hl7_unsupported_types: unsupported }: HeaderSettings): AckError[] {
  if (messageType === undefined || isMappedType(messageType)) return [];
  const at = 'MSH^1^9^1^1';
  if (isQuery(messageType)) {
    return [refused('200', at, 'Queries are not answered. Search with the FHIR API.', 'unsupported-type')];
  }
  if (unsupported === 'keep' || isAcknowledgment({ messageType })) {
    return [{ code: '200', severity: 'I', at, message: ERROR_REASONS['type-not-mapped'], reason: 'type-not-mapped' }];
  }
  const message = 'Messages of this type are not supported. Send ADT, ORU, OUL, MDM, PPR, ORM or OML.';
  return [refused('200', at, message, 'unsupported-type')];
}

function processingFindings({ segment, processingId }: Header, { processingIds }: HeaderSettings): AckError[] {
  const at = 'MSH^1^11';
  const [usual = 'P'] = processingIds;
  // A header that could not be read has no further errors.
  if (processingId === undefined && segment?.id !== 'MSH') return [];
  if (processingId === undefined) {
    const message = `MSH-11 (processing id) is empty. The message was processed as ${usual}.`;
    return [{ code: '101', severity: 'W', at, message, reason: NO_PROCESSING_ID }];
  }
  if (processingIds.has(processingId)) return [];
  const message = `This processing id is not accepted. Send ${[...processingIds].join(' or ')}.`;
  return [refused('202', at, message, 'unsupported-processing-id')];
}
