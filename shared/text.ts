/** Text that can be kept: no text of PostgreSQL, JSON in UTF-8 or FHIR can hold NUL or half of a surrogate pair. */

export const isText = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

/** Whether that holds for every text in a value of JSON, names of members included. */
export function holdsTextOnly(value: unknown): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, below]) => isText(name) && holdsTextOnly(below));
}
