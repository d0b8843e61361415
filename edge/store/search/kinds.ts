/**
 * The kinds of search parameters, and the criteria of a search as data. A criterion matches with any of its alternatives
 * (comma); all criteria must match (repetition).
 */
import type { JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Each, IndexedParameter, Kind, Problem, SortColumn, SplitValue, TextModifier } from './kind.ts';
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

/** By the `kind` of their criteria. */
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
/** A criterion without `:not`, of one kind or of any kind. */
export type PlainCriterion<K extends KindName = KindName> = { [P in K]: Criteria[P] & { readonly kind: P } }[K];
/** A criterion with `:not` (FHIR R4 search, 3.1.1.4.6), which also matches a resource without a value. */
interface Excluded {
  readonly kind: 'not';
  readonly of: PlainCriterion;
}
export type Criterion = PlainCriterion | Excluded;
/** The same table, with the type of the criterion for each kind. */
const KIND_OF: { readonly [K in KindName]: Kind<PlainCriterion<K>> } = KINDS;

export const typeOf = (kind: KindName): Kind<never>['type'] => KINDS[kind].type;

/** Undefined: `_sort` does not accept the kind. */
export const sortColumnOf = (kind: KindName): SortColumn | undefined => KIND_OF[kind].sort;

/** @param parameter the name of the parameter, which a token's criterion has */
export const readCriterion = (
  kind: KindName,
  value: SplitValue,
  parameter: string,
  modifier: TextModifier | null,
): PlainCriterion | Problem => KINDS[kind].read(value, parameter, modifier);

export const rowsOf = (resource: JsonObject, name: string, parameter: IndexedParameter<KindName>): FoundRows =>
  KIND_OF[parameter.kind].rows?.(resource, name, parameter) ?? {};

/** A lower rank usually selects fewer resources. */
export const rankOf = (kind: KindName): number => KINDS[kind].rank;

/** True where the plan of the criterion depends on its value. */
export const plansAnew = (criterion: Criterion): boolean =>
  criterion.kind === 'not' || KIND_OF[criterion.kind].planAnew === true;

export const sourceOf = <K extends KindName>(criterion: PlainCriterion<K>, type: ResourceType): Source =>
  KIND_OF[criterion.kind].source(type, criterion);

/** The first index generation that can answer the criterion. */
export const kindSince = <K extends KindName>(criterion: PlainCriterion<K>): number =>
  KIND_OF[criterion.kind].since?.(criterion) ?? 1;

/** The condition on a row of the criterion's source. */
export const conditionSql = <K extends KindName>(
  criterion: PlainCriterion<K>,
  alias: string,
  scope: SearchScope,
): string => KIND_OF[criterion.kind].sql(criterion, alias, scope);

/** SQL: the ids that a criterion can select, if its kind has an index of them. */
export const listedSql = <K extends KindName>(criterion: PlainCriterion<K>, scope: SearchScope): string | undefined =>
  KIND_OF[criterion.kind].listed?.(criterion, scope);

/** The alternatives of a criterion, to be looked up one by one. Undefined: it has one, or no index has each in the order of the ids. */
export const eachOf = <K extends KindName>(
  criterion: PlainCriterion<K>,
  scope: SearchScope,
): readonly Each<PlainCriterion<K>>[] | undefined => KIND_OF[criterion.kind].each?.(criterion, scope);

/** The fragments of names that a criterion searches for; empty for criteria of other kinds. */
export const fragmentsOf = <K extends KindName>(criterion: PlainCriterion<K>): readonly string[] =>
  KIND_OF[criterion.kind].fragments?.(criterion) ?? [];

const meets = <K extends KindName>(write: Searchable, criterion: PlainCriterion<K>): boolean =>
  KIND_OF[criterion.kind].meets(write, criterion);

/** The greatest work of `matchesWrite`: characters of names, and identifiers and codes. */
export function comparisonsOf(
  { identifiers, tokens, search, parts }: Searchable,
  criteria: readonly Criterion[],
): number {
  const values = identifiers.length + tokens.length;
  const names = (search?.names.length ?? 0) + (parts?.exact.length ?? 0);
  return criteria.reduce((sum, criterion) => {
    const plain = criterion.kind === 'not' ? criterion.of : criterion;
    return sum + 1 + fragmentsOf(plain).length * names + ('any' in plain ? plain.any.length * values : 0);
  }, 0);
}

/** True where a search with these criteria will find the resource once it is written. */
export function matchesWrite(write: Searchable, criteria: readonly Criterion[]): boolean {
  return criteria.every((criterion) =>
    criterion.kind === 'not' ? !meets(write, criterion.of) : meets(write, criterion),
  );
}
