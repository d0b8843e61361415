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

/** The most single changes between a misspelt name and the correct one. */
const MAX_CHANGES = 2;
/** Shorter names are too similar to each other: HOST, PORT, HOME. */
const MIN_COMPARED = 6;

/** True if a few inserted, missing, wrong or transposed letters make one name of the other. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > MAX_CHANGES) return false;
  // The fewest changes between the first letters of `a` and the first `j` of `b`, for this letter of `a` and the two before.
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const wrong = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isTransposed = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const transposed = isTransposed ? (before[j - 2] ?? 0) + 1 : wrong;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, wrong, transposed));
    }
    [before, last] = [last, row];
  }
  return (last[b.length] ?? 0) <= MAX_CHANGES;
}

/**
 * The variables that the program does not know but that are nearly the name of one without a value, each with a sentence:
 * `FHIR_SERCH is not a setting: did you mean FHIR_SEARCH?`
 */
export function misspeltOf(
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
): ReadonlyMap<string, string> {
  const missing = known.filter((name) => given[name] === undefined && name.length >= MIN_COMPARED);
  return new Map(
    Object.keys(given).flatMap((name) => {
      const correct = known.includes(name) ? undefined : missing.find((each) => isNear(name.toUpperCase(), each));
      return correct === undefined ? [] : [[name, `${name} is not a setting: did you mean ${correct}?`]];
    }),
  );
}

/** One sentence for each variable that the schema rejected. */
export function problemsOf(given: Readonly<Record<string, unknown>>, error: z.ZodError | undefined): string[] {
  return (error?.issues ?? []).map(({ path, message }) => {
    const name = String(path[0]);
    return given[name] === undefined ? `${name} is missing` : `${path.join(' ')} ${message}`;
  });
}
