/** The result key of a result or report of a message (`hl7_result` in migrations). */
export interface ResultRow {
  /** Observation or DiagnosticReport. */
  readonly type: string;
  readonly id: string;
  readonly patientId: string;
  /** The observation or the reported service; equal texts are equal. */
  readonly what: string;
  /** Order numbers, '' for none. */
  readonly filler: string;
  readonly placer: string;
  /** The collection time: a minute or a day in UTC, '' for unknown. */
  readonly at: string;
  /** The position among equal keys: 1, 2, … */
  readonly place: number;
  /** JSON: the order numbers with their authorities. */
  readonly numbers: string;
}
