/** Parses environment variables for the gateway and the sidecar: once, and reporting every problem by its name. */
import * as z from 'zod';

import { parseRange } from './ip.ts';
import { withoutFinalSlashes } from './final-slashes.ts';

/** An http or https URL without query and fragment; trailing slashes are removed. */
export const baseUrl = z
  .string()
  .refine((text) => URL.canParse(text), { error: 'must be a URL', abort: true })
  .refine((text) => /^https?:/.test(text), 'must begin with http:// or https://')
  .refine((text) => !/[?#]/.test(text), 'must have no query and no fragment')
  .transform(withoutFinalSlashes);

/**
 * A JSON document in a variable. A pair of single quotes around it is removed: a shell and systemd remove it, but
 * `docker run --env-file` keeps it.
 */
export const jsonText = z.string().transform((text, context) => {
  try {
    const value: unknown = JSON.parse(text.trim().replace(/^'(.*)'$/s, '$1'));
    return value;
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' });
    return z.NEVER;
  }
});

/** IP addresses and CIDR ranges, separated by commas; absent means an empty list. */
export const addressRanges = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter((range) => range !== ''))
  .refine(
    (list) => list.every((range) => parseRange(range) !== undefined),
    'must be IP addresses or CIDR ranges, separated by commas',
  );

/** The variables with a value; an empty value counts as absent. */
export function givenVariables(env: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => typeof value === 'string' && value.trim() !== ''),
  );
}

/** A wrong configuration. It names every variable that is missing or wrong, never a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`configuration:\n  ${problems.join('\n  ')}`);
    this.problems = problems;
  }
}

/** One sentence for each variable that the schema rejected. */
export function problemsOf(given: Readonly<Record<string, unknown>>, error: z.ZodError | undefined): string[] {
  return (error?.issues ?? []).map(({ path, message }) => {
    const name = String(path[0]);
    return given[name] === undefined ? `${name} is missing` : `${name} ${message}`;
  });
}
