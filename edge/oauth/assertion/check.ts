/** A rule for one part of an assertion, its header or its claims, as a pure function. */
import type { JsonObject } from '../../../shared/json.ts';
import type { Reason, RefusalCode } from '../../refusals.ts';

export interface Check<Context> {
  readonly code: RefusalCode;
  /** For the workbench. */
  readonly title: string;
  /** @returns the reason for a rejection, or undefined */
  readonly check: (part: JsonObject, context: Context) => string | undefined;
}

/** The first rule that the part breaks. */
export function firstBroken<Context>(
  checks: readonly Check<Context>[],
  part: JsonObject,
  context: Context,
): Reason | undefined {
  for (const { code, check } of checks) {
    const reason = check(part, context);
    if (reason !== undefined) return { code, reason };
  }
  return undefined;
}
