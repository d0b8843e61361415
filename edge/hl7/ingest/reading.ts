/**
 * A message as far as it can be read without the database: its text, its header, what it is about and which resources
 * have to be looked up. Never throws for what a sender sent; a message that cannot be read has findings instead.
 */
import { Fault } from '../../../shared/fault.ts';
import { errorsOfFault, type AckError } from '../../../shared/hl7/ack.ts';
import type { Charset } from '../../../shared/hl7/charset.ts';
import type { ErrorCode } from '../../../shared/hl7/error-code.ts';
import { isErrorCode } from '../../../shared/hl7/error-code.ts';
import { missingHeaderFields, readHeader, salvageHeader, type Header } from '../../../shared/hl7/header.ts';
import { readMessage, type Message } from '../../../shared/hl7/message.ts';
import type { LookupKeys } from '../../store/hl7.ts';
import { envelopeFault } from '../message/envelope.ts';
import { MESSAGE_TYPES, VERSIONS, type EventRule } from '../message/events.ts';
import { lookupOf, outlineOf, type Outline } from '../message/outline.ts';

export interface Reading {
  readonly header: Header;
  readonly message: Message | undefined;
  /** Undefined when the header refuses the message: what it holds is not looked at. */
  readonly outline: Outline | undefined;
  readonly rule: EventRule | undefined;
  readonly lookup: LookupKeys;
  readonly findings: readonly AckError[];
}

const NOTHING: LookupKeys = { identifierValues: [], keys: [] };

/** @param charset of a message that names none */
export function readBytes(bytes: Uint8Array, charset: Charset): Reading {
  const message = readOrFault(bytes, charset);
  if (message instanceof Fault) {
    const header = salvageHeader(bytes);
    return { ...UNREAD, header, findings: errorsOfFault(message) };
  }
  const header = readHeader(message);
  const findings = headerFindings(message, header);
  const rule = ruleOf(header);
  if (findings.length > 0 || rule === undefined) return { ...UNREAD, header, message, findings };
  const outline = outlineOf(message, header.messageType ?? '', rule);
  return { header, message, rule, outline, lookup: lookupOf(outline), findings: outline.findings };
}

const UNREAD = { message: undefined, outline: undefined, rule: undefined, lookup: NOTHING } as const;

function readOrFault(bytes: Uint8Array, charset: Charset): Message | Fault {
  try {
    return readMessage(bytes, { defaultCharset: charset });
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

const ruleOf = ({ messageType, triggerEvent }: Header): EventRule | undefined =>
  MESSAGE_TYPES.get(messageType ?? '')?.get(triggerEvent ?? '');

/** What the header alone refuses: envelope, required fields, type, event, version. All of it at once. */
function headerFindings(message: Message, header: Header): AckError[] {
  const envelope = envelopeFault(message);
  if (envelope !== undefined) return errorsOfFault(envelope);
  const missing = missingHeaderFields(header).map(({ code, message: sentence, at }): AckError => {
    const known: ErrorCode = isErrorCode(code) ? code : '101';
    return {
      code: known,
      severity: 'E',
      message: sentence,
      reason: 'required-field-missing',
      ...(at !== undefined && { at }),
    };
  });
  const { messageType, triggerEvent, versionId } = header;
  const events = MESSAGE_TYPES.get(messageType ?? '');
  const refuse = (code: ErrorCode, at: string, sentence: string, reason: string): AckError[] => [
    { code, severity: 'E', at, message: sentence, reason },
  ];
  return [
    ...missing,
    ...(messageType !== undefined && events === undefined
      ? refuse(
          '200',
          'MSH^1^9^1^1',
          'messages of this type are not supported: ADT, ORU and MDM are',
          'unsupported-type',
        )
      : []),
    ...(events !== undefined && triggerEvent !== undefined && !events.has(triggerEvent)
      ? refuse('201', 'MSH^1^9^1^2', `this event of ${messageType ?? ''} is not supported`, 'unsupported-event')
      : []),
    ...(versionId !== undefined && !VERSIONS.has(versionId)
      ? refuse('203', 'MSH^1^12', 'this version of HL7 is not supported: 2.2 to 2.8 are', 'unsupported-version')
      : []),
  ];
}

/** MSH-11 against the setting of the key or the site. */
export function processingFindings(header: Header, accepted: ReadonlySet<string>): AckError[] {
  const { processingId } = header;
  if (processingId === undefined || accepted.has(processingId)) return [];
  const message = `processing id is not accepted here: ${[...accepted].join(', ')} is`;
  return [{ code: '202', severity: 'E', at: 'MSH^1^11', message, reason: 'unsupported-processing-id' }];
}
