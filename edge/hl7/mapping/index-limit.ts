/**
 * Identifiers and codes are entries of an index, which PostgreSQL bounds (2,704 bytes, that is a third of a page). None
 * that means anything comes near; one that does must be refused by its name rather than by the database.
 */
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ResourceWrite } from '../../store/resource.ts';

/** System and value, or system and code, together. */
const MAX_ENTRY_BYTES = 2000;

/** One finding for each resource with an identifier or code that is too long to be searched for. */
export function tooLongEntries(writes: readonly ResourceWrite[]): AckError[] {
  return writes.filter(hasTooLongEntry).map(({ type }): AckError => ({
    code: '102',
    severity: 'E',
    at: 'MSH^1',
    message: `an identifier or code of ${type} is longer than ${MAX_ENTRY_BYTES} bytes`,
    reason: 'identifier-too-long',
  }));
}

function hasTooLongEntry({ identifiers, tokens }: ResourceWrite): boolean {
  return [...identifiers, ...tokens].some(isTooLongEntry);
}

/** Whether system and value, or system and code, fit no entry. */
export function isTooLongEntry(entry: readonly (string | null)[]): boolean {
  const text = entry.join('');
  // A character is three bytes at most, or two units of four.
  return text.length * 3 > MAX_ENTRY_BYTES && new TextEncoder().encode(text).length > MAX_ENTRY_BYTES;
}
