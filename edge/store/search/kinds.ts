/**
 * The kinds of search parameters, and what a search asks for as data: criteria, each met by any of its alternatives
 * (comma) and all of them together (repetition).
 */
import type { JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { IndexedParameter, Kind, Problem, SortColumn, SplitValue, TextModifier } from './kind.ts';
import { birthRange } from './kinds/birth-range.ts';
import { birthdate } from './kinds/birthdate.ts';
import { date } from './kinds/date.ts';
import { gender } from './kinds/gender.ts';
import { id } from './kinds/id.ts';
import { identifier } from './kinds/identifier.ts';
import { lastUpdated } from './kinds/last-updated.ts';
import { namePart } from './kinds/name-part.ts';
import { name } from './kinds/name.ts';
import { patient } from './kinds/patient.ts';
import { reportState } from './kinds/report-state.ts';
import { token } from './kinds/token.ts';
import type { FoundRows, Searchable } from './rows.ts';
import type { SearchScope, Source } from './source.ts';

/** By the name that their criteria bear. */
const KINDS = {
  id,
  identifier,
  patient,
  birthdate,
  'birth-range': birthRange,
  name,
  'name-part': namePart,
  token,
  'report-state': reportState,
  date,
  gender,
  'last-updated': lastUpdated,
} as const;

export type KindName = keyof typeof KINDS;
type Criteria = { [K in KindName]: Parameters<(typeof KINDS)[K]['sql']>[0] };
/** What a resource has to have: the criterion of a kind, or of any. */
export type Sought<K extends KindName = KindName> = { [P in K]: Criteria[P] & { readonly kind: P } }[K];
/** What it must not have (`:not`, FHIR R4 search, 3.1.1.4.6): met also where it has nothing of the kind. */
export interface Excluded {
  readonly kind: 'not';
  readonly of: Sought;
}
export type Criterion = Sought | Excluded;
/** The same table, in which a criterion finds its own kind. */
const KIND_OF: { readonly [K in KindName]: Kind<Sought<K>> } = KINDS;

export const typeOf = (kind: KindName): Kind<never>['type'] => KINDS[kind].type;

/** Undefined: nothing can be sorted by it. */
export const sortColumnOf = (kind: KindName): SortColumn | undefined => KIND_OF[kind].sort;

/** @param parameter its name, which a token's criterion keeps */
export const readCriterion = (
  kind: KindName,
  value: SplitValue,
  parameter: string,
  modifier: TextModifier | null,
): Sought | Problem => KINDS[kind].read(value, parameter, modifier);

export const rowsOf = (resource: JsonObject, name: string, parameter: IndexedParameter<KindName>): FoundRows =>
  KIND_OF[parameter.kind].rows?.(resource, name, parameter) ?? {};

/** The lower, the fewer resources the criterion selects as a rule. */
export const rankOf = (kind: KindName): number => KINDS[kind].rank;

export const sourceOf = <K extends KindName>(criterion: Sought<K>, type: ResourceType): Source =>
  KIND_OF[criterion.kind].source(type, criterion);

/** The generation of what is indexed that a criterion's kind asks for. */
export const kindSince = <K extends KindName>(criterion: Sought<K>): number =>
  KIND_OF[criterion.kind].since?.(criterion) ?? 1;

/** The condition on a row of the criterion's source. */
export const conditionSql = <K extends KindName>(criterion: Sought<K>, alias: string, scope: SearchScope): string =>
  KIND_OF[criterion.kind].sql(criterion, alias, scope);

/** SQL: the ids that a criterion can select, where its kind has an index of them. */
export const listedSql = <K extends KindName>(criterion: Sought<K>, scope: SearchScope): string | undefined =>
  KIND_OF[criterion.kind].listed?.(criterion, scope);

/** The parts of names that a criterion searches for; empty for criteria of other kinds. */
export const fragmentsOf = <K extends KindName>(criterion: Sought<K>): readonly string[] =>
  KIND_OF[criterion.kind].fragments?.(criterion) ?? [];

const meets = <K extends KindName>(write: Searchable, criterion: Sought<K>): boolean =>
  KIND_OF[criterion.kind].meets(write, criterion);

/** True when a search with these criteria would find the resource once it is written. */
export function matchesWrite(write: Searchable, criteria: readonly Criterion[]): boolean {
  return criteria.every((criterion) =>
    criterion.kind === 'not' ? !meets(write, criterion.of) : meets(write, criterion),
  );
}
