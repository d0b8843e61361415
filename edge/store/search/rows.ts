/**
 * What of a resource is searched: the rows beside its content, as `resource_write` takes them, and how what each
 * parameter finds becomes them.
 */

/** `[system, value]`; an absent system or value is `''`. */
export type IdentifierRow = readonly [system: string, value: string];
/** `[param, system, code]`; an absent system or code is `''`. */
export type TokenRow = readonly [param: string, system: string, code: string];

export interface PatientSearch {
  /** Every text, given and family, folded and spelt for the index, one a line. */
  readonly names: string;
  /** The first name, folded; `''` without one. */
  readonly nameSort: string;
  /** As sent: `1974`, `1974-12` or `1974-12-25`; `''` when absent. */
  readonly birthDate: string;
  readonly gender: string | null;
}

export interface ReportSearch {
  readonly accession: string | null;
  readonly state: 'draft' | 'completed';
}

export interface SearchRows {
  /** The id in `subject` or `patient`, where it is a Patient of ours. */
  readonly patient: string | null;
  readonly identifiers: readonly IdentifierRow[];
  readonly tokens: readonly TokenRow[];
  /** Of a Patient. */
  readonly search: PatientSearch | null;
  /** Of a DiagnosticReport. */
  readonly report: ReportSearch | null;
}

/** What one parameter adds to the rows of a resource. */
export interface FoundRows {
  readonly patient?: string;
  readonly identifiers?: readonly IdentifierRow[];
  readonly tokens?: readonly TokenRow[];
  readonly search?: Partial<PatientSearch>;
  readonly report?: ReportSearch;
}

/** Columns of `patient_search` of which nothing is told. */
const UNTOLD: PatientSearch = { names: '', nameSort: '', birthDate: '', gender: null };

/** The rows of a resource, from what each of its parameters found. */
export function mergeRows(found: readonly FoundRows[]): SearchRows {
  const search = found.flatMap((rows) => rows.search ?? []);
  return {
    patient: found.find(({ patient }) => patient !== undefined)?.patient ?? null,
    identifiers: found.flatMap(({ identifiers = [] }) => identifiers),
    tokens: found.flatMap(({ tokens = [] }) => tokens),
    search: search.length === 0 ? null : search.reduce<PatientSearch>((all, one) => ({ ...all, ...one }), UNTOLD),
    report: found.find(({ report }) => report !== undefined)?.report ?? null,
  };
}

/** A write as a search can see it, before it is stored. */
export interface Searchable extends SearchRows {
  readonly id: string;
}
