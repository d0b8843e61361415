/**
 * The reason of a rejected message in the list of requests: table 0357's code and the texts of its ERR segments. These have no
 * patient data (HL7 v2.5.1 §2.15.5.8).
 */
import type { Fault, Issue } from '../../../shared/fault.ts';

/** More sentences do not help, and each combination is a separate row. */
const MAX_SENTENCES = 3;

/** `PID^1^3^1` as `PID-3`; undefined for another text. */
function fieldOf(at: string | undefined): string | undefined {
  const [, segment, field] = /^([A-Z][A-Z0-9]{2})(?:\^\d+(?:\^(\d+))?)?/.exec(at ?? '') ?? [];
  if (segment === undefined) return undefined;
  return field === undefined ? segment : `${segment}-${field}`;
}

function sentenceOf({ message, at }: Issue): string {
  const field = fieldOf(at);
  const text = field === undefined || message.includes(field) ? message : `${field}: ${message}`;
  return text.endsWith('.') ? text : `${text}.`;
}

/** @param errors the first one first */
export function refusalReason(errors: readonly Issue[]): { readonly code: string; readonly reason: string } {
  const sentences = [...new Set(errors.map(sentenceOf))];
  const more = sentences.length > MAX_SENTENCES ? ` And ${sentences.length - MAX_SENTENCES} more.` : '';
  return { code: errors[0]?.code ?? '207', reason: sentences.slice(0, MAX_SENTENCES).join(' ') + more };
}

/** @param fault undefined for a bug of the gateway */
export function refusalOfFault(fault: Fault | undefined): { readonly code: string; readonly reason: string } {
  if (fault === undefined) return { code: 'exception', reason: 'The gateway failed.' };
  const { kind, code = kind, issues, message } = fault;
  return issues.length > 0 ? refusalReason(issues) : { code, reason: message };
}
