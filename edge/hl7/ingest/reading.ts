/**
 * A message as far as it can be read without the database: its text, its header, what it is about and which resources
 * have to be looked up. Never throws for what a sender sent; a message that cannot be read has findings instead.
 */
import { Fault } from '../../../shared/fault.ts';
import { errorsOfFault, type AckError } from '../../../shared/hl7/ack.ts';
import { isUtf8BeyondAscii, type Charset } from '../../../shared/hl7/charset.ts';
import { readHeader, salvageHeader, type Header } from '../../../shared/hl7/header.ts';
import { readMessage, type Message } from '../../../shared/hl7/message.ts';
import type { LookupKeys, MessageIdentity } from '../../store/hl7-snapshot.ts';
import { ruleOf, type EventRule } from '../mapping/tables/events.ts';
import { headerFindings } from '../message/header-findings.ts';
import { senderName } from '../results/order-number.ts';
import { offsetOf } from '../../../shared/hl7/time.ts';
import { lookupOf, outlineOf, type Outline } from '../message/outline.ts';

export interface Reading {
  readonly header: Header;
  readonly message: Message | undefined;
  /** Undefined when the header refuses the message: what it holds is not looked at. */
  readonly outline: Outline | undefined;
  readonly rule: EventRule | undefined;
  readonly lookup: LookupKeys;
  readonly findings: readonly AckError[];
  /** The character set of the message where it names none. */
  readonly assumedCharset: Charset;
}

const NOTHING: LookupKeys = { identifierValues: [], keys: [] };

export function readBytes(bytes: Uint8Array, assumedCharset: Charset): Reading {
  const message = readOrFault(bytes, assumedCharset);
  if (message instanceof Fault) {
    const header = salvageHeader(bytes);
    return { ...UNREAD, header, assumedCharset, findings: errorsOfFault(message) };
  }
  const header = readHeader(message);
  const findings = headerFindings(message, header);
  const { messageType = '', triggerEvent = '', versionId = '' } = header;
  const rule = ruleOf(messageType, triggerEvent);
  if (findings.length > 0 || rule === undefined) return { ...UNREAD, header, message, assumedCharset, findings };
  const sender = senderName(header.sendingApplication, header.sendingFacility);
  const outline = outlineOf(message, { messageType, versionId, rule, sender });
  const lookup = lookupOf(outline, rule, offsetOf(header.dateTime));
  return {
    header,
    message,
    rule,
    outline,
    lookup,
    assumedCharset,
    findings: [...doubtfulCharset(bytes, message), ...outline.findings],
  };
}

/** Names would be stored in other letters: `Müller` as `MÃ¼ller`. Text of a set of one byte a letter is never UTF-8 by chance. */
function doubtfulCharset(bytes: Uint8Array, { charset }: Message): AckError[] {
  if (!/^(?:iso-8859|windows)-/.test(charset) || !isUtf8BeyondAscii(bytes)) return [];
  const message = `the message was read as ${charset}, but its bytes are UTF-8: letters beyond ASCII are probably others`;
  return [{ code: '102', severity: 'W', at: 'MSH^1^18', message, reason: 'charset-doubtful' }];
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

/** Bounded: also a message whose header cannot be read must be storable. */
export function identityOf(header: Header, sha256: string): MessageIdentity {
  const bounded = (text: string | undefined): string => (text ?? '').slice(0, 200).toWellFormed();
  return {
    application: bounded(header.sendingApplication),
    facility: bounded(header.sendingFacility),
    controlId: bounded(header.controlId),
    sha256,
  };
}
