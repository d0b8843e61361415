/** What tells results and reports that messages made apart (`hl7_result` in migrations). */
export interface ResultRow {
  /** Observation or DiagnosticReport. */
  readonly type: string;
  readonly id: string;
  readonly patientId: string;
  /** Text that is equal for what was observed or reported. */
  readonly what: string;
  /** Order numbers, '' for none. */
  readonly filler: string;
  readonly placer: string;
  /** When it was collected: a minute or a day in UTC, '' for unknown. */
  readonly at: string;
  /** Among those that are equal in all this: 1, 2, … */
  readonly place: number;
  /** JSON: the numbers with who gave them out. */
  readonly numbers: string;
}
