/**
 * A kind of search parameter: how a value of it is read, what a resource has for it, and what it is in SQL. One file each
 * in kinds/; parameters.ts says which parameter of which type is of which kind.
 */
import type { JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { FoundRows, Searchable } from './rows.ts';
import type { SearchScope, Source } from './source.ts';

/** One alternative of a token search: `null` matches anything, `''` only what is absent (FHIR R4 search, token). */
export interface Token {
  readonly system: string | null;
  readonly value: string | null;
}

/** `[from, before)`, of which the resource's instant is inside, or outside. Instants as ISO text; null: unbounded. */
export interface Interval {
  readonly from: string | null;
  readonly before: string | null;
  readonly outside: boolean;
}

/** The instants `[from, before)` of a date, as precise as it was written: milliseconds since the epoch. */
export interface DateRange {
  readonly from: number;
  readonly before: number;
  /** It has no zone, and stands as if it were of UTC. */
  readonly isLocal: boolean;
}

/** One alternative of a date search: its prefix, the date as it was written, and the instants that both select. */
export interface DateValue {
  readonly prefix: string | null;
  readonly text: string;
  /** Undefined: it is no date. */
  readonly interval: Interval | undefined;
  /** What the date is without its prefix; with `ap` already as wide as that asks for. */
  readonly range: DateRange | undefined;
}

/** How a text is compared, where not as its kind does it by itself (FHIR R4 search, 3.1.1.4.6). */
export type TextModifier = 'exact' | 'contains';

/** One alternative of a reference search. `elsewhere`: of another server, so that nothing here refers to it. */
export type ReferenceValue =
  | { readonly at: 'here'; readonly type: string | null; readonly id: string }
  | { readonly at: 'elsewhere' }
  | { readonly at: 'nowhere' };

/** The alternatives of a value, as each of R4's types of parameters takes them apart. */
export interface SplitValue {
  readonly texts: () => readonly string[];
  readonly tokens: () => readonly Token[];
  readonly dates: () => readonly DateValue[];
  readonly references: () => readonly ReferenceValue[];
}

/** Why a value cannot be used, to be said after the parameter's name. */
export interface Problem {
  readonly problem: string;
}

/** The column of a sort, the table it is in, how it is read and how it comes back from a cursor. */
export interface SortColumn {
  readonly source: Source;
  readonly column: string;
  /** SQL: its text, which sorts as it does. @param column with its alias */
  readonly text: (column: string) => string;
  readonly cast: string;
  /** Any number of resources may have the same, or none. */
  readonly isShared?: true;
}

/** A parameter of one type, as far as what is stored for it goes. */
export interface IndexedParameter<Name extends string = string> {
  readonly kind: Name;
  /** Where its values are: dotted paths below the resource, of lists every item. None: it is no element. */
  readonly elements: readonly string[];
  /** Most resources share one value of it, so that it selects little. */
  readonly common?: true;
  /** Of elements of type code, which have no system of their own: that of their value set. */
  readonly system?: string;
  /** The generation of what is indexed that has it, where not the first (edge/docs/behaviour.md, FHIR). */
  readonly since?: number;
}

/** @template C what is asked for, as data: its alternatives, any of which is enough; `kind` is the kind's own name */
export interface Kind<C extends { readonly kind: string }> {
  /** SearchParamType. */
  readonly type: 'token' | 'date' | 'string' | 'reference';
  /** @param parameter its name */
  readonly read: (value: SplitValue, parameter: string, modifier: TextModifier | null) => C | Problem;
  /** What a resource has for a parameter; absent: nothing beside the resource itself. */
  readonly rows?: (resource: JsonObject, parameter: string, indexed: IndexedParameter) => FoundRows;
  /** Whether a search would find the write once it is stored. */
  readonly meets: (write: Searchable, criterion: C) => boolean;
  /** The lower, the fewer resources it selects as a rule: 0 for an id, 9 for the time of the last change. */
  readonly rank: number;
  readonly source: (type: ResourceType, criterion: C) => Source;
  /** The condition on a row of its source. */
  readonly sql: (criterion: C, alias: string, scope: SearchScope) => string;
  /**
   * SQL of all ids that it can select, and maybe others, in no order and some of them more than once, from an index that
   * is read no further than somebody asks. Absent or undefined: there is no such index.
   */
  readonly listed?: (criterion: C, scope: SearchScope) => string | undefined;
  /** The parts of names that a criterion searches for, folded and spelt for the index. */
  readonly fragments?: (criterion: C) => readonly string[];
  /** Absent: nothing can be sorted by it. */
  readonly sort?: SortColumn;
  /** The generation of what is indexed that a criterion asks for, where not the first. */
  readonly since?: (criterion: C) => number;
}
