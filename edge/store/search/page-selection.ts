/** A page of a search as data: its criteria, its order, and where it begins. */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Criterion, KindName } from './kinds.ts';

export interface SortKey {
  /** The kind of a sortable parameter, or `id`, the order of creation, because ids are UUIDv7. */
  readonly by: KindName;
  readonly descending: boolean;
  /** The parameter of the kind `date`. */
  readonly param?: string;
}

export interface Sort extends SortKey {
  /** Further keys for resources with equal first keys. Resources with equal keys are ordered by id, in the direction of the last key. */
  readonly ties?: readonly SortKey[];
}

/** `chained`: the criteria match the patient of the resource. `has`: they match a resource about the patient. */
export interface Related {
  readonly kind: 'chained' | 'has';
  /** The type of the criteria. */
  readonly type: ResourceType;
  readonly criteria: readonly Criterion[];
}

/** The resource before a page, and its sort key; several keys are the JSON text of their array. */
export interface Position {
  readonly key: string | null;
  readonly id: string;
}

export interface PageOrder {
  readonly criteria: readonly Criterion[];
  readonly sort: Sort;
  readonly after: Position | null;
  readonly limit: number;
}

export interface PageSelection extends PageOrder {
  readonly site: string;
  readonly type: ResourceType;
  readonly related?: readonly Related[];
  /** The types that the page includes: Patient for those of the matches, types that refer to the patients that are matches, Provenance. */
  readonly included?: readonly ResourceType[];
}

/** The ids of a page with their sort keys, as SQL. */
export interface PageIds {
  readonly text: string;
  /** The order of the page, in columns of `p`, which has the columns of `text`. */
  readonly order: string;
}

export const directionOf = ({ descending }: Pick<SortKey, 'descending'>): 'asc' | 'desc' =>
  descending ? 'desc' : 'asc';
