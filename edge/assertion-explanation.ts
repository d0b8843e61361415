/** What the workbench says of an assertion: the checks of the token endpoint, one by one (edge/oauth/assertion/explain.ts). */
import type { JsonObject } from '../shared/json.ts';
import type { RefusalCode } from './refusals.ts';

/** One check, in the order in which the token endpoint makes them. */
export interface AssertionCheck {
  readonly code: RefusalCode;
  /** What is checked. */
  readonly title: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** Why it failed, or why it was not made. */
  readonly reason?: string;
  /** The value in the assertion, quoted. */
  readonly seen?: string;
}

export interface AssertionExplanation {
  readonly accepted: boolean;
  readonly clientId: string | null;
  readonly header: JsonObject | null;
  readonly claims: JsonObject | null;
  readonly checks: readonly AssertionCheck[];
}
