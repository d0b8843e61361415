/** Text that can be stored: PostgreSQL, JSON in UTF-8 and FHIR reject NUL and half a surrogate pair. */

export const isText = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/** True if every text in a JSON value can be stored, member names included. */
export function holdsTextOnly(value: unknown): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, below]) => isText(name) && holdsTextOnly(below));
}
