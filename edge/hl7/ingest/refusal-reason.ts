/**
 * Why a message was refused, in the words of the log of requests: table 0357's code, and the sentences of its ERR segments,
 * which hold no patient data (HL7 v2.5.1 §2.15.5.8).
 */
import type { Fault, Issue } from '../../../shared/fault.ts';

/** More make no reason clearer, and each combination is one of its own. */
const MAX_SENTENCES = 3;

/** `PID^1^3^1` as people write it: `PID-3`; undefined for what is no field. */
function fieldOf(at: string | undefined): string | undefined {
  const [, segment, field] = /^([A-Z][A-Z0-9]{2})(?:\^\d+(?:\^(\d+))?)?/.exec(at ?? '') ?? [];
  if (segment === undefined) return undefined;
  return field === undefined ? segment : `${segment}-${field}`;
}

function sentenceOf({ message, at }: Issue): string {
  const field = fieldOf(at);
  return field === undefined || message.includes(field) ? message : `${field}: ${message}`;
}

/** @param errors what it was refused for, the first one first */
export function refusalReason(errors: readonly Issue[]): { readonly code: string; readonly reason: string } {
  const sentences = [...new Set(errors.map(sentenceOf))];
  const more = sentences.length > MAX_SENTENCES ? `; and ${sentences.length - MAX_SENTENCES} more` : '';
  return { code: errors[0]?.code ?? '207', reason: sentences.slice(0, MAX_SENTENCES).join('; ') + more };
}

/** @param fault undefined for a bug of ours */
export function refusalOfFault(fault: Fault | undefined): { readonly code: string; readonly reason: string } {
  if (fault === undefined) return { code: 'exception', reason: 'a fault of the gateway' };
  const { kind, code = kind, issues, message } = fault;
  return issues.length > 0 ? refusalReason(issues) : { code, reason: message };
}
