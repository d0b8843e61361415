/** What a key that is strict refuses and others only warn of (edge/docs/behaviour.md, HL7 v2). */
import type { AckError } from '../../../shared/hl7/ack.ts';
import { NO_PROCESSING_ID } from './header-findings.ts';

/** A value of another type, a code that is in no table, and a message that does not say what it is for. */
const isRefusedWhenStrict = ({ severity, code, reason }: AckError): boolean =>
  severity === 'W' && (code === '102' || code === '103' || reason === NO_PROCESSING_ID);

/** The finding as a strict key has it. */
export const refusedWhenStrict = (finding: AckError): AckError =>
  isRefusedWhenStrict(finding) ? { ...finding, severity: 'E' } : finding;
