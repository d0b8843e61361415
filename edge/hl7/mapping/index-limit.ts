/**
 * PostgreSQL limits an index entry to 2,704 bytes, a third of a page. No real identifier or code is near that. A longer one is
 * rejected here with its name, instead of by the database.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import { LIMITS, limitMessage } from '../../limits.ts';
import type { ResourceWrite } from '../../store/resource.ts';

/** System and value, or system and code, together. */
const MAX_ENTRY_BYTES = 2000;

/** One finding for each resource with an identifier or code that is too long for the search. */
export function tooLongEntries(writes: readonly ResourceWrite[]): AckError[] {
  return writes.filter(hasTooLongEntry).map(({ type }): AckError => ({
    code: '102',
    severity: 'E',
    at: 'MSH^1',
    message: `An identifier or code of ${type} is longer than ${MAX_ENTRY_BYTES} bytes.`,
    reason: 'identifier-too-long',
  }));
}

function hasTooLongEntry({ identifiers, tokens }: ResourceWrite): boolean {
  return [...identifiers, ...tokens].some(isTooLongEntry);
}

/** PostgreSQL indexes each part of a name, which takes it longer than all else of a patient. */
export function tooManyNames(writes: readonly ResourceWrite[]): AckError[] {
  const characters = writes.reduce((sum, { search }) => sum + (search?.names.length ?? 0), 0);
  if (characters <= LIMITS['indexed-names'].most) return [];
  const message = limitMessage('indexed-names');
  return [{ code: '207', severity: 'E', at: 'PID^1^5', message, reason: 'too-many-names' }];
}

/** Checks system and value, or system and code. */
export function isTooLongEntry(entry: readonly (string | null)[]): boolean {
  const text = entry.join('');
  // A character needs at most three bytes, or two units need four.
  return text.length * 3 > MAX_ENTRY_BYTES && new TextEncoder().encode(text).length > MAX_ENTRY_BYTES;
}
