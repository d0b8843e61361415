/** What an administrator should look at (`attention` in migrations/0004_hl7.sql), as messages show it. */
import type { JsonObject } from '../../shared/json.ts';

export const ATTENTION_KINDS = [
  /** Two charts may be of one person, or one number is in both. */
  'possible-duplicate',
  /** A corrected, withdrawn or deleted result came after a newer one. */
  'stale-correction',
  /** A withdrawal hides another statement about the result, and both have one time. */
  'tied-withdrawal',
  /** A correction fits none of the results that are known, or several. */
  'correction-unmatched',
  /** What the gateway files by patient was to be moved, and was not. */
  'not-moved',
  /** A merge whose patients could not be told. */
  'merge-unresolved',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

export interface NewAttention {
  readonly kind: AttentionKind;
  /** Ids of none, one or two patients. */
  readonly patients: readonly string[];
  /** What besides kind and patients tells it from others: what has all three is listed once, however often it is shown. */
  readonly about?: string;
  /** Codes, ids and places (`PID^1^3^2`), never what a patient's record holds. */
  readonly detail?: JsonObject;
}
