/**
 * A record of administrators (an API key, a site's settings) as a table of members. Schemas, columns, answers, forms, facts
 * and command options are made from the table.
 */
import * as z from 'zod';

import type { Input } from './input.ts';

export interface Member<Column extends string = string, Schema extends z.ZodType = z.ZodType> {
  readonly column: Column;
  /** Parses the sent value; its output is stored in the column. */
  readonly schema: Schema;
  /** The value of a new record that leaves the member out; without it the member is required. */
  readonly initial?: z.output<Schema>;
  /** The first value in a form or command of a required member. */
  readonly suggested?: z.output<Schema>;
  /** The schema of the answered value. */
  readonly answer: z.ZodType;
  /** Converts a stored value, also one of the history, to the answered value. Default: unchanged. */
  readonly view?: (stored: unknown) => unknown;
  readonly label: string;
  /** The rule, shown beside the field and in the API reference. */
  readonly hint: string;
  /** The text for an empty value. */
  readonly none?: string;
  /** The form field; a member without it has none. */
  readonly input?: Input;
  /** The section of the form. */
  readonly section?: string;
  /** The command option; a member without it has none. */
  readonly flag?: Flag;
}

/** An option of a command: `--jwks FILE`. */
export interface Flag {
  readonly name: string;
  /** The name of the value in the usage. */
  readonly value: string;
  /** `file`: the value is the file's content. `lines`: the option is repeated, one line each. */
  readonly from?: 'file' | 'lines';
}

export type Members = Readonly<Record<string, Member>>;

/** The columns of a record. */
export type RecordOf<M extends Members> = {
  readonly [Name in keyof M as M[Name]['column']]: Kept<z.output<M[Name]['schema']>>;
};
type Kept<T> = T extends readonly (infer Item)[] ? readonly Item[] : T;

/** Declares a member and keeps the types of its column and schema. */
export const member = <const Column extends string, Schema extends z.ZodType>(
  described: Member<Column, Schema>,
): Member<Column, Schema> => described;

function shapeOf(members: Members, schemaOf: (member: Member) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(members).map(([name, each]) => [name, schemaOf(each)]));
}

/** The schema that creates a record. */
export const newRecord = (members: Members) =>
  z.strictObject(
    shapeOf(members, ({ schema, initial, hint }) =>
      (initial === undefined ? schema : schema.default(initial)).meta({ description: hint }),
    ),
  );

/** The schema of a change (RFC 7396): members that are left out stay; null removes an optional one. */
export const recordChange = (members: Members) =>
  z.strictObject(shapeOf(members, ({ schema, hint }) => schema.meta({ description: hint }))).partial();

/** The schemas of the answered members. */
export const recordAnswer = (members: Members): Record<string, z.ZodType> =>
  shapeOf(members, ({ answer, hint }) => answer.meta({ description: hint }));

/** A schema that only documents a body, which its handler parses. */
export const documented = (schema: z.ZodType) =>
  z.unknown().meta({ ...z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) });

/** The columns of the members in the table's order. */
export const columnsOf = <M extends Members>(members: M) =>
  // Object.values loses the column of each member.
  Object.values(members).map(({ column }) => column) as (keyof RecordOf<M> & string)[];

const byColumn = (members: Members, given: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(members)
      .filter(([name]) => given[name] !== undefined)
      .map(([name, { column }]) => [column, given[name]]),
  );

/**
 * The columns of a new record.
 *
 * @param given the output of `newRecord` of these members
 */
export const toRecord = <M extends Members>(members: M, given: Readonly<Record<string, unknown>>): RecordOf<M> =>
  // `newRecord` has an output for every member, of its column's type.
  byColumn(members, given) as RecordOf<M>;

/**
 * The columns of the given members.
 *
 * @param given the output of `recordChange` of these members
 */
export const toColumns = <M extends Members>(
  members: M,
  given: Readonly<Record<string, unknown>>,
): Partial<RecordOf<M>> => byColumn(members, given);

/** Converts columns to answered members; a row of the history may lack newer columns. */
export function toMembers(members: Members, row: object): Record<string, unknown> {
  const columns: Readonly<Record<string, unknown>> = { ...row };
  return Object.fromEntries(
    Object.entries(members).map(([name, { column, view = (stored: unknown) => stored }]) => [
      name,
      view(columns[column] ?? null),
    ]),
  );
}
