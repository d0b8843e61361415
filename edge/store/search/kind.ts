/**
 * A kind of search parameter: it reads values, extracts rows from resources, and makes SQL. Each kind is a file in kinds/;
 * parameters.ts has the kind of each parameter.
 */
import type { JsonObject } from '../../../shared/json.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { FoundRows, Searchable } from './rows.ts';
import type { SearchScope, Source } from './source.ts';

/** One alternative of a token search: `null` matches any value, `''` only an absent value (FHIR R4 search, token). */
export interface Token {
  readonly system: string | null;
  readonly value: string | null;
}

/** `[from, before)`, with the resource's instant inside or outside. Instants as ISO text; null: unbounded. */
export interface Interval {
  readonly from: string | null;
  readonly before: string | null;
  readonly outside: boolean;
}

/** The instants `[from, before)` of a date, in milliseconds since the epoch. */
export interface DateRange {
  readonly from: number;
  readonly before: number;
  /** It has no zone; the instants are those in UTC. */
  readonly isLocal: boolean;
}

/** One alternative of a date search: prefix, date, and the instants that both select. */
export interface DateValue {
  readonly prefix: string | null;
  readonly text: string;
  /** Undefined: the date is invalid. */
  readonly interval: Interval | undefined;
  /** The instants of the date without its prefix; `ap` makes the range wider. */
  readonly range: DateRange | undefined;
}

/** A modifier of a string parameter (FHIR R4 search, 3.1.1.4.6). */
export type TextModifier = 'exact' | 'contains';

/** One alternative of a reference search. `elsewhere`: of another server, so it matches nothing. `nowhere`: invalid. */
export type ReferenceValue =
  | { readonly at: 'here'; readonly type: string | null; readonly id: string }
  | { readonly at: 'elsewhere' }
  | { readonly at: 'nowhere' };

/** The alternatives of a value, for each of R4's types of parameters. */
export interface SplitValue {
  readonly texts: () => readonly string[];
  readonly tokens: () => readonly Token[];
  readonly dates: () => readonly DateValue[];
  readonly references: () => readonly ReferenceValue[];
}

/** The reason why a value is invalid, as the end of a sentence that begins with the parameter's name. */
export interface Problem {
  readonly problem: string;
}

/** The column of a sort: its table, its text in a cursor, and the cast of that text. */
export interface SortColumn {
  readonly source: Source;
  readonly column: string;
  /** SQL: the column's text, in the same order. @param column with its alias */
  readonly text: (column: string) => string;
  readonly cast: string;
  /** Any number of resources may have an equal value, or no value. */
  readonly isShared?: true;
}

/** The facts of a parameter that its index rows need. */
export interface IndexedParameter<Name extends string = string> {
  readonly kind: Name;
  /** Dotted paths of its values in the resource, through all items of lists; empty for a parameter without an element. */
  readonly elements: readonly string[];
  /** Most resources have one common value, so the parameter selects many resources. */
  readonly common?: true;
  /** The system of the value set of an element of type code. */
  readonly system?: string;
  /** The first index generation with the parameter; default 1 (edge/docs/behaviour.md, FHIR). */
  readonly since?: number;
}

/** Alternatives of a criterion: SQL of a `from` item with a row for each, and the criterion of such a row. */
export interface Each<C> {
  readonly rows: string;
  readonly one: C;
}

/** @template C the criterion, with its alternatives; `kind` is the name of the kind */
export interface Kind<C extends { readonly kind: string }> {
  /** SearchParamType. */
  readonly type: 'token' | 'date' | 'string' | 'reference';
  /** @param parameter its name */
  readonly read: (value: SplitValue, parameter: string, modifier: TextModifier | null) => C | Problem;
  /** The index rows of a resource for a parameter; absent: the kind needs no rows. */
  readonly rows?: (resource: JsonObject, parameter: string, indexed: IndexedParameter) => FoundRows;
  /** True where a search will find the resource once it is stored. */
  readonly meets: (write: Searchable, criterion: C) => boolean;
  /** A lower rank usually selects fewer resources: 0 for an id, 9 for the time of the last change. */
  readonly rank: number;
  readonly source: (type: ResourceType, criterion: C) => Source;
  /** The condition on a row of its source. */
  readonly sql: (criterion: C, alias: string, scope: SearchScope) => string;
  /**
   * SQL of all ids that it can select, in no order and perhaps with others and with duplicates. PostgreSQL reads the index
   * only as far as rows are needed. Absent or undefined: such an index does not exist.
   */
  readonly listed?: (criterion: C, scope: SearchScope) => string | undefined;
  /** Its alternatives, if they are several and each has an index in the order of the ids. Absent: the kind has no such index. */
  readonly each?: (criterion: C, scope: SearchScope) => readonly Each<C>[] | undefined;
  /** The fragments of names that a criterion searches for, folded and spelt for the index. */
  readonly fragments?: (criterion: C) => readonly string[];
  /** The number of matches depends on the value, so that no plan is good for all values: a name, a range of dates. */
  readonly planAnew?: true;
  /** Absent: `_sort` does not accept it. */
  readonly sort?: SortColumn;
  /** The first index generation that can answer a criterion; default 1. */
  readonly since?: (criterion: C) => number;
}
