/** Texts for what zod finds in a request or a configuration, like those of the other findings: `must be a list`. */
import type { z } from 'zod';

const TYPE_NAMES: Readonly<Partial<Record<string, string>>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

/** An error map for `parse`: the text of a finding for which the schema has none. */
export const findingText: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return 'is required';
      const type = TYPE_NAMES[issue.expected];
      return type === undefined ? undefined : `must be ${type}`;
    }
    case 'invalid_value':
      return `must be one of ${issue.values.filter((value) => value !== '').join(', ')}`;
    case 'too_small':
      return issue.minimum === 1 && issue.origin in COUNTED
        ? 'is empty'
        : bound(issue.origin, `at least ${issue.minimum}`);
    case 'too_big':
      return bound(issue.origin, `at most ${issue.maximum}`);
    default:
      return undefined;
  }
};
const COUNTED: Readonly<Partial<Record<string, string>>> = { string: 'characters', array: 'entries' };

function bound(origin: string, limit: string): string {
  const counted = COUNTED[origin];
  return counted === undefined ? `must be ${limit}` : `must have ${limit} ${counted}`;
}
