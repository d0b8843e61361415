/** Warnings that a strict key turns into errors (edge/docs/behaviour.md, HL7 v2, Errors and warnings). */
import type { AckError } from '../../../shared/hl7/ack.ts';
import { NO_EVENT, NO_PROCESSING_ID } from './header-findings.ts';

/** A value of another type, a code outside its table, and a message without its event or its processing id. */
const isRefusedWhenStrict = ({ severity, code, reason }: AckError): boolean =>
  severity === 'W' && (code === '102' || code === '103' || reason === NO_EVENT || reason === NO_PROCESSING_ID);

export const refusedWhenStrict = (finding: AckError): AckError =>
  isRefusedWhenStrict(finding) ? { ...finding, severity: 'E' } : finding;
