/**
 * The ACK of a message: MSH, MSA and one ERR per fault (HL7 v2.5.1 §2.13.1, §2.15.5, §2.15.8). It uses the sender's
 * delimiters, character set and version. `ack-mode.ts` decides its code.
 */
import { Fault } from '../fault.ts';
import type { AcknowledgmentCode } from './ack-mode.ts';
import { encodingCharacters } from './delimiters.ts';
import { encodeLossy } from './encode.ts';
import { ERROR_CODES, isErrorCode, type ErrorCode } from './error-code.ts';
import { type ErrorReason, isErrorReason } from './error-reason.ts';
import type { Syntax } from './escapes.ts';
import type { Header } from './header.ts';
import { rawAt } from './value.ts';
import { writeField, writeSegment } from './write.ts';

/** ERR-4, table 0516: error, warning, information. */
export type Severity = 'E' | 'W' | 'I';

export interface AckError {
  /** ERR-3. */
  readonly code: ErrorCode;
  readonly severity: Severity;
  /** ERR-8, without patient data. */
  readonly message: string;
  /** ERR-2, `PID^1^5^1^2`. */
  readonly at?: string;
  /** ERR-5. */
  readonly reason?: ErrorReason;
  /** ERR-7: for support, such as a request id. */
  readonly diagnostics?: string;
}

export interface AckRequest {
  /** The header of the message that is answered. */
  readonly header: Header;
  readonly code: AcknowledgmentCode;
  readonly errors?: readonly AckError[];
  /** MSH-10 of the ACK: unique among all ACKs of the gateway, at most 20 characters (§2.15.9.10). */
  readonly ackControlId: string;
  /** MSH-7 of the ACK. */
  readonly at: Date;
}

export interface Ack {
  /** MSA-1 as sent. It is AR or CR if the message has no control id to echo. */
  readonly code: AcknowledgmentCode;
  readonly text: string;
  /** The text in the sender's character set. */
  readonly bytes: Uint8Array;
}

/** A longer list does not help, and a hostile message must not cause a large answer. */
export const MAX_ERR_SEGMENTS = 100;

const NO_CONTROL_ID: AckError = {
  code: '101',
  severity: 'E',
  message: 'MSH-10 (message control id) is missing or does not parse',
  at: 'MSH^1^10',
  reason: 'no-control-id',
};

/** Builds the ACK, with errors first, then warnings, then information. */
export function buildAck({ header, code, errors = [], ackControlId, at }: AckRequest): Ack {
  const hasControlId = header.controlId !== undefined;
  const sent = hasControlId ? code : rejectionOf(code);
  const all =
    hasControlId || errors.some((error) => error.at === NO_CONTROL_ID.at) ? errors : [...errors, NO_CONTROL_ID];
  const listed = bounded(bySeverity(all));
  const syntax: Syntax = { delimiters: header.delimiters, charset: header.charset };

  const segments = [
    writeMsh(header, syntax, ackControlId, at),
    writeMsa(header, syntax, sent, listed),
    ...(isBefore25(header) ? writeOldErr(listed, syntax) : listed.map((error) => writeErr(error, syntax))),
  ];
  const text = segments.map((segment) => `${segment}\r`).join('');
  return { code: sent, text, bytes: inCharset(text, header) };
}

/**
 * The errors in a Fault: one per issue, with the Fault's code as ERR-5. ERR-3 is 207 for a Fault without issues and for an
 * issue whose code is not in table 0357.
 */
export function errorsOfFault(fault: Fault, severity: Severity = 'E'): AckError[] {
  const reason = fault.code !== undefined && isErrorReason(fault.code) ? { reason: fault.code } : {};
  if (fault.issues.length === 0) return [{ code: '207', severity, message: fault.message, ...reason }];
  return fault.issues.map(({ code, message, at }) => ({
    code: isErrorCode(code) ? code : '207',
    severity,
    message,
    ...reason,
    ...(at !== undefined && { at }),
  }));
}

const rejectionOf = (code: AcknowledgmentCode): AcknowledgmentCode => (code.startsWith('C') ? 'CR' : 'AR');

const ORDER: readonly Severity[] = ['E', 'W', 'I'];

function bySeverity(errors: readonly AckError[]): AckError[] {
  return ORDER.flatMap((severity) => errors.filter((error) => error.severity === severity));
}

function bounded(errors: readonly AckError[]): readonly AckError[] {
  if (errors.length <= MAX_ERR_SEGMENTS) return errors;
  const kept = errors.slice(0, MAX_ERR_SEGMENTS - 1);
  const message = `${errors.length - kept.length} more findings are not listed`;
  return [...kept, { code: '207', severity: 'I', message, reason: 'more-findings' }];
}

// Copied fields stay raw: they are already escaped with these delimiters.
function writeMsh(header: Header, syntax: Syntax, ackControlId: string, at: Date): string {
  const isMessage = header.segment?.id === 'MSH';
  const copied = (field: number): string => rawOf(header, field);
  const structure = isBefore25(header) ? [] : ['ACK'];
  const type = header.triggerEvent === undefined ? 'ACK' : [['ACK', header.triggerEvent, ...structure]];
  const { field } = header.delimiters;
  const fields = [
    'MSH',
    encodingCharacters(header.delimiters),
    copied(5),
    copied(6),
    copied(3),
    copied(4),
    timestamp(at),
    '',
    writeField(type, syntax),
    writeField(ackControlId, syntax),
    (isMessage && copied(11)) || 'P',
    (isMessage && copied(12)) || '2.5.1',
  ];
  // MSH-13 to MSH-17 stay empty: an ACK requests no acknowledgement.
  const charset = isMessage ? copied(18) : '';
  return (charset === '' ? fields : [...fields, '', '', '', '', '', charset]).join(field);
}

function writeMsa(header: Header, syntax: Syntax, code: AcknowledgmentCode, errors: readonly AckError[]): string {
  // MSA-3 is for receivers without ERR-8: versions before 2.5, and most screens.
  const sentence = errors.find(({ severity }) => severity === 'E')?.message;
  const echoed = header.controlId === undefined ? '' : rawOf(header, header.segment?.id === 'MSH' ? 10 : 11);
  const { field } = syntax.delimiters;
  const start = ['MSA', code, echoed].join(field);
  return sentence === undefined ? start : start + field + writeField(sentence, syntax);
}

function writeErr({ code, severity, message, at, reason, diagnostics }: AckError, syntax: Syntax): string {
  return writeSegment(
    'ERR',
    [
      undefined, // ERR-2 replaced ERR-1.
      at === undefined ? undefined : [at.split('^')],
      [[code, ERROR_CODES[code], 'HL70357']],
      severity,
      reason === undefined ? undefined : [[reason, undefined, 'L']],
      undefined,
      diagnostics,
      message,
    ],
    syntax,
  );
}

/** Version 2.5 added ERR-2 to ERR-8 and the structure in MSH-9; strict readers of older versions reject them. */
const isBefore25 = ({ versionId = '' }: Header): boolean => /^2\.[0-4](?:\.|$)/.test(versionId);

/**
 * ERR before version 2.5: one segment, with a repetition of ERR-1 for each error (ELD: segment, sequence, field, code;
 * HL7 v2.3 §2.24.6). It has no severity, so warnings are left out: a reader would take them for errors.
 */
function writeOldErr(errors: readonly AckError[], syntax: Syntax): string[] {
  const places = errors
    .filter(({ severity }) => severity === 'E')
    .map(({ code, at = '' }) => {
      const [segment, sequence, field] = at.split('^');
      return [segment, sequence, field, [code, ERROR_CODES[code], 'HL70357']];
    });
  return places.length === 0 ? [] : [writeSegment('ERR', [places], syntax)];
}

const rawOf = (header: Header, field: number): string =>
  header.segment === undefined ? '' : (rawAt(header.segment, field) ?? '');

/** `20260102030405.678+0000` (§2.A.22). */
function timestamp(at: Date): string {
  return `${at.toISOString().replaceAll(/[-:TZ]/g, '')}+0000`;
}

function inCharset(text: string, header: Header): Uint8Array {
  // The receiver needs a mark for the byte order of two-byte characters.
  const marked = header.charset === 'utf-16le' || header.charset === 'utf-16be' ? `\ufeff${text}` : text;
  return encodeLossy(marked, header.charset);
}
