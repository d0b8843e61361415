/** The workbench's result for an assertion: the checks of the token endpoint (edge/oauth/assertion/explain.ts). */
import type { JsonObject } from '../shared/json.ts';
import type { RefusalCode } from './refusals.ts';

/** One check, in the order of the token endpoint. */
export interface AssertionCheck {
  readonly code: RefusalCode;
  readonly title: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  readonly reason?: string;
  /** The checked value, quoted. */
  readonly seen?: string;
}

export interface AssertionExplanation {
  readonly accepted: boolean;
  readonly clientId: string | null;
  readonly header: JsonObject | null;
  readonly claims: JsonObject | null;
  readonly checks: readonly AssertionCheck[];
}
