/**
 * What of a resource is searched: the rows beside its content, as `resource_write` takes them, and how what each
 * parameter finds becomes them.
 */

/** `[system, value]`; an absent system or value is `''`. */
export type IdentifierRow = readonly [system: string, value: string];
/** `[param, system, code]`; an absent system or code is `''`. */
export type TokenRow = readonly [param: string, system: string, code: string];

/**
 * `[param, from, before, from is local, before is local]`: instants as ISO text, or `-infinity` and `infinity`. What is local
 * was written without a zone, and stands as if it were of UTC.
 */
export type DateRow = readonly [
  param: string,
  from: string,
  before: string,
  fromIsLocal: boolean,
  beforeIsLocal: boolean,
];

/** The param of the tokens that name the parameters of which a resource has no value. */
export const MISSING = 'missing';

export interface PatientSearch {
  /** Every text, given and family, folded and spelt for the index, one a line. */
  readonly names: string;
  /** The first name, folded; `''` without one. */
  readonly nameSort: string;
  /** As sent: `1974`, `1974-12` or `1974-12-25`; `''` when absent. */
  readonly birthDate: string;
  readonly gender: string | null;
}

/** Names for searches that tell them apart. */
export interface NameParts {
  /** Folded and spelt for the index, a line break before and after each; `''` without one. */
  readonly families: string;
  readonly givens: string;
  /** As sent, on lines of their own: `T` and a text, `F` and a family, `G` and a given name (kinds/exact-name.ts). */
  readonly exact: string;
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
  readonly dates: readonly DateRow[];
  /** Of a Patient. */
  readonly search: PatientSearch | null;
  readonly parts: NameParts | null;
  /** Of a DiagnosticReport. */
  readonly report: ReportSearch | null;
}

/** What one parameter adds to the rows of a resource. */
export interface FoundRows {
  readonly patient?: string;
  readonly identifiers?: readonly IdentifierRow[];
  readonly tokens?: readonly TokenRow[];
  readonly dates?: readonly DateRow[];
  readonly search?: Partial<PatientSearch>;
  readonly parts?: Partial<NameParts>;
  readonly report?: ReportSearch;
}

/** Columns of `patient_search` of which nothing is told. */
const UNTOLD: PatientSearch = { names: '', nameSort: '', birthDate: '', gender: null };

const NO_PARTS: NameParts = { families: '', givens: '', exact: '' };

/** Whether a parameter found a value. */
export function hasValue({
  patient,
  identifiers = [],
  tokens = [],
  dates = [],
  search = {},
  parts = {},
}: FoundRows): boolean {
  const texts = [patient, ...Object.values(search), ...Object.values(parts)];
  return identifiers.length + tokens.length + dates.length > 0 || texts.some(Boolean);
}

/** The rows of a resource, from what each of its parameters found. */
export function mergeRows(found: readonly FoundRows[]): SearchRows {
  const search = found.flatMap((rows) => rows.search ?? []);
  const parts = found.flatMap((rows) => rows.parts ?? []);
  return {
    patient: found.find(({ patient }) => patient !== undefined)?.patient ?? null,
    identifiers: found.flatMap(({ identifiers = [] }) => identifiers),
    tokens: found.flatMap(({ tokens = [] }) => tokens),
    dates: found.flatMap(({ dates = [] }) => dates),
    search: search.length === 0 ? null : search.reduce<PatientSearch>((all, one) => ({ ...all, ...one }), UNTOLD),
    parts: parts.length === 0 ? null : parts.reduce<NameParts>((all, one) => ({ ...all, ...one }), NO_PARTS),
    report: found.find(({ report }) => report !== undefined)?.report ?? null,
  };
}

/** A write as a search can see it, before it is stored. */
export interface Searchable extends SearchRows {
  readonly id: string;
}
