/**
 * Reads a message without the database: its text, header, outline and lookup. Never throws for a sender's fault: a message that
 * cannot be read has findings instead.
 */
import { Fault } from '../../../shared/fault.ts';
import { errorsOfFault, type AckError } from '../../../shared/hl7/ack.ts';
import { isUtf8BeyondAscii, type Charset } from '../../../shared/hl7/charset.ts';
import { readHeader, salvageHeader, type Header } from '../../../shared/hl7/header.ts';
import { readMessage, type Message } from '../../../shared/hl7/message.ts';
import type { LookupKeys, MessageIdentity } from '../../store/hl7-snapshot.ts';
import { ruleOf, type EventRule } from '../mapping/tables/events.ts';
import { eventFindings, headerFindings, withEvent } from '../message/header-findings.ts';
import { senderName } from '../results/order-number.ts';
import { offsetOf } from '../../../shared/hl7/time.ts';
import { lookupOf, outlineOf, type Outline } from '../message/outline.ts';
import type { CutDocument } from './cut-documents.ts';

export interface Reading {
  readonly header: Header;
  readonly message: Message | undefined;
  /** Undefined if the header is rejected: the other segments are not read. */
  readonly outline: Outline | undefined;
  readonly rule: EventRule | undefined;
  readonly lookup: LookupKeys;
  readonly findings: readonly AckError[];
  /** The character set of a message that names none. */
  readonly assumedCharset: Charset;
}

const NOTHING: LookupKeys = { identifierValues: [], keys: [] };

/** @param documents the tokens in the bytes (cut-documents.ts) */
export function readBytes(
  bytes: Uint8Array,
  assumedCharset: Charset,
  documents: readonly Pick<CutDocument, 'token'>[] = [],
): Reading {
  const message = readOrFault(bytes, assumedCharset, new Set(documents.map(({ token }) => token)));
  if (message instanceof Fault) {
    const header = salvageHeader(bytes);
    return { ...UNREAD, header, assumedCharset, findings: errorsOfFault(message) };
  }
  const sent = readHeader(message);
  const header = withEvent(sent, message);
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
    findings: [...eventFindings(sent, header), ...doubtfulCharset(bytes, message), ...outline.findings],
  };
}

/**
 * Names would be stored with other letters: `Müller` as `MÃ¼ller`. Text in a single-byte character set is never valid UTF-8 by
 * chance.
 */
function doubtfulCharset(bytes: Uint8Array, { charset }: Message): AckError[] {
  if (!/^(?:iso-8859|windows)-/.test(charset) || !isUtf8BeyondAscii(bytes)) return [];
  const message = `The message was read as ${charset}, but its bytes are UTF-8. Set MSH-18 to UNICODE UTF-8.`;
  return [{ code: '102', severity: 'W', at: 'MSH^1^18', message, reason: 'charset-doubtful' }];
}

const UNREAD = { message: undefined, outline: undefined, rule: undefined, lookup: NOTHING } as const;

function readOrFault(bytes: Uint8Array, charset: Charset, documents: ReadonlySet<string>): Message | Fault {
  try {
    return readMessage(bytes, { defaultCharset: charset, documents });
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** Truncated: a message with an unreadable header must be storable too. */
export function identityOf(header: Header, sha256: string): MessageIdentity {
  const bounded = (text: string | undefined): string => (text ?? '').slice(0, 200).toWellFormed();
  return {
    application: bounded(header.sendingApplication),
    facility: bounded(header.sendingFacility),
    controlId: bounded(header.controlId),
    sha256,
  };
}
