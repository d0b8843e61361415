/**
 * HL7 table 0357 (message error condition codes), the acknowledgement code of each, and a Fault with such a code (HL7
 * v2.5.1 §2.15.5.3, ERR-3).
 */
import { Fault, type FaultKind } from '../fault.ts';
import type { ErrorReason } from './error-reason.ts';

/** Code to the display text of the table. */
export const ERROR_CODES = {
  '0': 'Message accepted',
  '100': 'Segment sequence error',
  '101': 'Required field missing',
  '102': 'Data type error',
  '103': 'Table value not found',
  '200': 'Unsupported message type',
  '201': 'Unsupported event code',
  '202': 'Unsupported processing id',
  '203': 'Unsupported version id',
  '204': 'Unknown key identifier',
  '205': 'Duplicate key identifier',
  '206': 'Application record locked',
  '207': 'Application internal error',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** MSA-1 in original mode (table 0008). */
export type ApplicationCode = 'AA' | 'AE' | 'AR';

// AR: another system or a setting must change. Every other error is in the content: AE.
const REJECTED: ReadonlySet<string> = new Set(['200', '201', '202', '203', '206']);

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

/**
 * MSA-1 for a list of errors: AR if one of them rejects the message as such, else AE; AA without errors.
 *
 * @param codes table 0357 codes with severity E; warnings do not count
 */
export function applicationCodeFor(codes: readonly string[]): ApplicationCode {
  if (codes.some((code) => REJECTED.has(code))) return 'AR';
  return codes.length > 0 ? 'AE' : 'AA';
}

/**
 * A Fault with one located HL7 issue.
 *
 * @param code table 0357
 * @param at ERR-2 form, `PID^1^5^1^2`
 * @param message becomes ERR-8; without patient data
 * @param reason becomes ERR-5
 */
export function hl7Fault(
  code: ErrorCode,
  at: string,
  message: string,
  reason: ErrorReason,
  kind: FaultKind = 'invalid',
): Fault {
  return new Fault(kind, message, { code: reason, issues: [{ code, message, at }] });
}
