/**
 * The search rows of a resource, in the form of the argument of `resource_write`, and the merge of the rows that each parameter
 * extracts.
 */

/** `[system, value]`; an absent system or value is `''`. */
export type IdentifierRow = readonly [system: string, value: string];
/** `[param, system, code]`; an absent system or code is `''`. */
export type TokenRow = readonly [param: string, system: string, code: string];

/**
 * `[param, from, before, from is local, before is local]`: instants as ISO text, or `-infinity` and `infinity`. A local date
 * was written without a zone; its instants are those in UTC.
 */
export type DateRow = readonly [
  param: string,
  from: string,
  before: string,
  fromIsLocal: boolean,
  beforeIsLocal: boolean,
];

/** The param of the tokens that name the parameters without a value. */
export const MISSING = 'missing';

interface PatientSearch {
  /** Every text, given and family, folded and spelt for the index, one a line. */
  readonly names: string;
  /** The first name, folded; `''` without one. */
  readonly nameSort: string;
  /** As sent: `1974`, `1974-12` or `1974-12-25`; `''` when absent. */
  readonly birthDate: string;
  readonly gender: string | null;
}

/** Family, given and exact names. */
export interface NameParts {
  /** Folded and spelt for the index, a line break before and after each; `''` without one. */
  readonly families: string;
  readonly givens: string;
  /** As sent, each on a line: `T` and a text, `F` and a family, `G` and a given name (kinds/exact-name.ts). */
  readonly exact: string;
}

export interface ReportSearch {
  readonly accession: string | null;
  readonly state: 'draft' | 'completed';
}

export interface SearchRows {
  /** The id in `subject` or `patient`, if it is a Patient of this server. */
  readonly patient: string | null;
  readonly identifiers: readonly IdentifierRow[];
  readonly tokens: readonly TokenRow[];
  readonly dates: readonly DateRow[];
  /** Null for other types than Patient. */
  readonly search: PatientSearch | null;
  readonly parts: NameParts | null;
  /** Null for other types than DiagnosticReport. */
  readonly report: ReportSearch | null;
}

/** The search rows of one parameter. */
export interface FoundRows {
  readonly patient?: string;
  readonly identifiers?: readonly IdentifierRow[];
  readonly tokens?: readonly TokenRow[];
  readonly dates?: readonly DateRow[];
  readonly search?: Partial<PatientSearch>;
  readonly parts?: Partial<NameParts>;
  readonly report?: ReportSearch;
}

/** The columns of `patient_search` without values. */
const NO_SEARCH: PatientSearch = { names: '', nameSort: '', birthDate: '', gender: null };

const NO_PARTS: NameParts = { families: '', givens: '', exact: '' };

/** True where a parameter has a value. */
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

/** The rows of a resource, from the rows of its parameters. */
export function mergeRows(found: readonly FoundRows[]): SearchRows {
  const search = found.flatMap((rows) => rows.search ?? []);
  const parts = found.flatMap((rows) => rows.parts ?? []);
  return {
    patient: found.find(({ patient }) => patient !== undefined)?.patient ?? null,
    identifiers: found.flatMap(({ identifiers = [] }) => identifiers),
    tokens: found.flatMap(({ tokens = [] }) => tokens),
    dates: found.flatMap(({ dates = [] }) => dates),
    search: search.length === 0 ? null : search.reduce<PatientSearch>((all, one) => ({ ...all, ...one }), NO_SEARCH),
    parts: parts.length === 0 ? null : parts.reduce<NameParts>((all, one) => ({ ...all, ...one }), NO_PARTS),
    report: found.find(({ report }) => report !== undefined)?.report ?? null,
  };
}

/** The searchable facts of a write before it is stored, or of a stored version. */
export interface Searchable extends SearchRows {
  readonly id: string;
  /** The instant of a stored version, as FHIR writes it. */
  readonly lastUpdated?: string;
  /** The instant of a time without a zone, both in milliseconds; absent: times without a zone are in UTC. */
  readonly instantOf?: (localMs: number) => number;
}
