/** Issues that an administrator must review (`attention` in migrations/0004_hl7.sql), as messages show them. */
import type { JsonObject } from '../../shared/json.ts';

export const ATTENTION_KINDS = [
  /** Two patient records may be of one person, or both have one identifier. */
  'possible-duplicate',
  /** A corrected, withdrawn or deleted result arrived after a newer one. */
  'stale-correction',
  /** Two values of a result have one time, or a withdrawal and what it hides. */
  'tied-result',
  /** A correction fits none of the results that are known, or several. Or several documents have a number without an authority. */
  'correction-unmatched',
  /** A text was stored beside a final one, or results below final arrived out of order: only one of them may be right. */
  'result-unclear',
  /** A newer final message no longer has a final result. */
  'result-missing',
  /** A result below final stayed beside a final one of its code. */
  'preliminary-left',
  /** A merge should have moved data that the gateway stores by patient, but did not. */
  'not-moved',
  /** A merge whose patients could not be identified. */
  'merge-unresolved',
  /** A merge or link is older than a newer statement about its patients. */
  'stale-merge',
  /** After an undone merge: resources that may be of either patient. */
  'undo-unclear',
  /** Messages have several URIs for one namespace. */
  'namespace-contested',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

export interface NewAttention {
  readonly kind: AttentionKind;
  /** Ids of none, one or two patients. */
  readonly patients: readonly string[];
  /** Distinguishes the issue besides kind and patients: an issue that is equal in all three is listed once. */
  readonly about?: string;
  /** Codes, ids and places (`PID^1^3^2`), never what a patient's record holds. */
  readonly detail?: JsonObject;
}
