/** Faults of the parameters of a request: each names its parameter, and all are reported at once. */
import { Fault, type Issue } from '../../../shared/fault.ts';

/** A parameter's name and value, URL-decoded, in the order given. */
export type Pair = readonly [name: string, value: string];

/** A part of a request that cannot be used: 400, naming it. @param at FHIRPath, or `http.` and a parameter or header */
export const malformedAt = (at: string, message: string, code = 'value'): Fault =>
  new Fault('malformed', message, { issues: [{ code, message, at }] });

/** A parameter or header that cannot be used as it was given. */
export const badParameter = (name: string, message: string, code = 'value'): Fault =>
  malformedAt(`http.${name}`, message, code);

/** A message repeats only such a name: any other could be a message itself, or data of a patient. */
export const isRepeatable = (name: string): boolean => /^[\w:.-]{1,64}$/.test(name);

/** A parameter that is rejected or, with `handling=lenient`, left out. */
export function unsupported(name: string, supported: readonly string[]): Issue {
  const known = supported.length === 0 ? '' : `; supported: ${supported.join(', ')}`;
  if (!isRepeatable(name)) {
    const message = `the URL has a parameter whose name is empty, too long or not of letters, digits, _ - . and :${known}`;
    return { code: 'not-supported', message };
  }
  const [base = ''] = name.split(':');
  const what =
    base !== name && supported.includes(base)
      ? `the modifier of ${name} is not supported`
      : `${name} is not a parameter that can be used here`;
  return { code: 'not-supported', message: what + known, at: `http.${name}` };
}

/** All faults of all parameters at once. */
export function collect<T>(items: readonly T[], use: (item: T) => void): void {
  const issues: Issue[] = [];
  for (const item of items) {
    try {
      use(item);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      issues.push(...error.issues);
    }
  }
  if (issues.length > 0) throw new Fault('malformed', 'the parameters cannot be used', { issues });
}
