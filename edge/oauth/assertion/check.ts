/** One rule for a part of an assertion, its header or its claims: pure, with all it needs passed in. */
import type { JsonObject } from '../../../shared/json.ts';
import type { Reason, RefusalCode } from '../../refusals.ts';

export interface Check<Context> {
  readonly code: RefusalCode;
  /** What is checked, for the workbench. */
  readonly title: string;
  /** @returns why it is refused, or undefined */
  readonly check: (part: JsonObject, context: Context) => string | undefined;
}

/** The first of the rules that the part breaks. */
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
