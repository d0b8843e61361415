/** What the gateway's and the sidecar's configuration share: an environment is parsed once, and every problem is named. */
import { z } from 'zod';

/** An http or https URL without query and fragment; a trailing slash goes. */
export const baseUrl = z
  .string()
  .refine((text) => URL.canParse(text), { error: 'is not a URL', abort: true })
  .refine((text) => /^https?:/.test(text), 'must be http or https')
  .refine((text) => !/[?#]/.test(text), 'must have no query and no fragment')
  .transform((text) => text.replace(/\/+$/, ''));

/** A JSON document in a variable. */
export const jsonText = z.string().transform((text, context) => {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' });
    return z.NEVER;
  }
});

/** The variables that hold something; an empty value counts as absent. */
export function givenVariables(env: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => typeof value === 'string' && value.trim() !== ''),
  );
}
