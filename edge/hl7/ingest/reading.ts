/**
 * Reads a message without the database: its text, header, outline and lookup. Never throws for a sender's fault: a message that
 * cannot be read has findings instead.
 */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import { Fault } from '../../../shared/fault.ts';
import { errorsOfFault, type AckError } from '../../../shared/hl7/ack.ts';
import { isUtf8BeyondAscii, type Charset } from '../../../shared/hl7/charset.ts';
import { readHeader, salvageHeader, type Header } from '../../../shared/hl7/header.ts';
import { readMessage, type Message } from '../../../shared/hl7/message.ts';
import type { LiveRules, LookupKeys, MessageIdentity } from '../../store/hl7-snapshot.ts';
import { ruleOf, type EventRule } from '../mapping/tables/events.ts';
import { continuationFindings, eventFindings, headerFindings, withEvent } from '../message/header-findings.ts';
import { senderName } from '../results/order-number.ts';
import { offsetOf } from '../../../shared/hl7/time.ts';
import { lookupOf, outlineOf, type Outline } from '../message/outline.ts';
import { applyRules, type Ruled } from '../rules/apply.ts';
import type { CutDocument } from './cut-documents.ts';

export interface Reading {
  readonly header: Header;
  readonly message: Message | undefined;
  /** Undefined if the header is rejected: the other segments are not read. */
  readonly outline: Outline | undefined;
  readonly rule: EventRule | undefined;
  readonly lookup: LookupKeys;
  readonly findings: readonly AckError[];
  /** The message before the rules of its key changed it. */
  readonly opened: Opened;
  /** The version of these rules; null without rules. */
  readonly rulesVersion: number | null;
  /** The message as the rules changed it, or their verdict; undefined if they did nothing. */
  readonly ruled: Ruled | undefined;
}

const NOTHING: LookupKeys = { identifierValues: [], keys: [] };

/** A message whose header is read, before its key is known. */
export interface Opened {
  /** The character set of a message that names none. */
  readonly assumedCharset: Charset;
  readonly header: Header;
  /** Undefined if the bytes cannot be read. */
  readonly sent: Message | undefined;
  readonly findings: readonly AckError[];
  /** Undefined if the header is rejected. */
  readonly rule: EventRule | undefined;
}

/** @param documents the tokens in the bytes (cut-documents.ts) */
export function openBytes(
  bytes: Uint8Array,
  assumedCharset: Charset,
  documents: readonly Pick<CutDocument, 'token'>[] = [],
): Opened {
  const sent = readOrFault(bytes, assumedCharset, new Set(documents.map(({ token }) => token)));
  if (sent instanceof Fault) {
    const findings = errorsOfFault(sent);
    return { assumedCharset, header: salvageHeader(bytes), sent: undefined, findings, rule: undefined };
  }
  const sentHeader = readHeader(sent);
  const header = withEvent(sentHeader, sent);
  const findings = headerFindings(sent, header);
  const { messageType = '', triggerEvent = '' } = header;
  const rule = ruleOf(messageType, triggerEvent);
  if (findings.length > 0 || rule === undefined) return { assumedCharset, header, sent, findings, rule: undefined };
  return {
    assumedCharset,
    header,
    sent,
    rule,
    findings: [...eventFindings(sentHeader, header), ...doubtfulCharset(bytes, sent), ...continuationFindings(sent)],
  };
}

/** @param rules the live rules of the message's key */
export function readOpened(opened: Opened, rules: LiveRules | null = null): Reading {
  const { header, sent, findings, rule } = opened;
  const by = { opened, header, rulesVersion: rules?.version ?? null };
  const unread = { ...by, message: sent, outline: undefined, rule: undefined, lookup: NOTHING };
  if (sent === undefined || rule === undefined) return { ...unread, ruled: undefined, findings };
  const ruled = rules === null ? undefined : ruledOf(sent, header, rule, rules);
  const ended = ruled && findingOf(ruled);
  if (ended !== undefined) return { ...unread, ruled, findings: [ended] };
  const message = ruled?.message ?? sent;
  const { messageType = '', versionId = '' } = header;
  const sender = senderName(header.sendingApplication, header.sendingFacility);
  const outline = outlineOf(message, { messageType, versionId, rule, sender });
  const lookup = lookupOf(outline, rule, offsetOf(header.dateTime));
  return { ...by, message, ruled, rule, outline, lookup, findings: [...findings, ...outline.findings] };
}

/** @returns undefined if no rule changes anything */
function ruledOf(message: Message, header: Header, rule: EventRule, rules: LiveRules): Ruled | undefined {
  const { messageType = '', triggerEvent = '', sendingApplication = '', sendingFacility = '' } = header;
  const kind = { messageType, triggerEvent, rule, application: sendingApplication, facility: sendingFacility };
  const ruled = applyRules(message, rules.rules, kind);
  return ruled.message !== message || ruled.verdict !== undefined || ruled.tooCostly ? ruled : undefined;
}

/** The finding of a message that its key's rules keep from being mapped. */
function findingOf({ verdict, tooCostly }: Ruled): AckError | undefined {
  const at = 'MSH^1';
  if (tooCostly) {
    return { code: '207', severity: 'E', at, message: ERROR_REASONS['rules-too-costly'], reason: 'rules-too-costly' };
  }
  switch (verdict?.kind) {
    case undefined:
      return undefined;
    case 'reject':
      return { code: '207', severity: 'E', at, message: verdict.text, reason: 'rule-rejected' };
    case 'ignore': {
      const message = `Rule ${verdict.rule} of the API key ignores this message. It was stored and has no effect.`;
      return { code: '0', severity: 'I', at, message, reason: 'rule-ignored' };
    }
  }
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
