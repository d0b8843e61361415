/** What the gateway's and the sidecar's configuration share: an environment is parsed once, and every problem is named. */
import * as z from 'zod';

import { parseRange } from './ip.ts';

/** An http or https URL without query and fragment; a trailing slash goes. */
export const baseUrl = z
  .string()
  .refine((text) => URL.canParse(text), { error: 'is not a URL', abort: true })
  .refine((text) => /^https?:/.test(text), 'must be http or https')
  .refine((text) => !/[?#]/.test(text), 'must have no query and no fragment')
  .transform((text) => text.replace(/\/+$/, ''));

/**
 * A JSON document in a variable. One pair of single quotes around it goes: a shell and systemd take them away, `docker
 * run --env-file` leaves them.
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

/** IP addresses and CIDR ranges, separated by commas; absent is none. */
export const addressRanges = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter((range) => range !== ''))
  .refine(
    (list) => list.every((range) => parseRange(range) !== undefined),
    'must be IP addresses or CIDR ranges, separated by commas',
  );

/** The variables that hold something; an empty value counts as absent. */
export function givenVariables(env: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => typeof value === 'string' && value.trim() !== ''),
  );
}

/** Not a Fault: nothing a caller did. Names every variable that is missing or wrong, never a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`configuration:\n  ${problems.join('\n  ')}`);
    this.problems = problems;
  }
}

/** What `ConfigError` says of the variables that a schema refused. */
export function problemsOf(given: Readonly<Record<string, unknown>>, error: z.ZodError | undefined): string[] {
  return (error?.issues ?? []).map(({ path, message }) => {
    const name = String(path[0]);
    return given[name] === undefined ? `${name} is missing` : `${name} ${message}`;
  });
}
