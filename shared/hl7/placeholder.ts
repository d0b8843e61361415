/** Values that senders write where they have no identifier. */

/** Words in the place of an identifier, in capitals. */
export const PLACEHOLDER_TEXTS: ReadonlySet<string> = new Set([
  'UNKNOWN',
  'UNK',
  'NONE',
  'NULL',
  'N/A',
  'NA',
  'TEMP',
  'TEST',
]);

/** Social security numbers that are entered if the real one is unknown, in the form of that number. */
export const HYPHENATED_PLACEHOLDER = /^(?:(\d)\1\1-\1\1-\1{4}|123-45-6789|987-65-4321)$/;

/** One digit repeated, and ascending or descending digits. Real medical record numbers have these shapes too. */
export const DOUBTFUL_NUMBER = /^(?:9{3,}|([1-8])\1{3,}|123456789|987654321)$/;
