/** A row of the history of a record (of an API key, of a site's settings). */
export interface ChangeRow {
  readonly version: number;
  readonly at: string;
  readonly by: string;
  /** JSON of the record before, null for the creation, and after. */
  readonly before: string | null;
  readonly after: string;
}
