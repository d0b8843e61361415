/**
 * A record that administrators keep (an API key, a site's settings) as a table of its members. Schemas, columns, what is
 * answered, forms, facts and options of commands are made from the table, so that a member is told once.
 */
import * as z from 'zod';

import type { Input } from './input.ts';

export interface Member<Column extends string = string, Schema extends z.ZodType = z.ZodType> {
  /** Where the database keeps it. */
  readonly column: Column;
  /** What may be sent; what it gives is what the column holds. */
  readonly schema: Schema;
  /** What a new record has that does not say; a member without it is required. */
  readonly initial?: z.output<Schema>;
  /** What a form and a command begin with, where a new record has to say. */
  readonly suggested?: z.output<Schema>;
  /** What is answered. */
  readonly answer: z.ZodType;
  /** From what the column holds, or the history kept of it, to what is answered; left out: as it is. */
  readonly view?: (stored: unknown) => unknown;
  readonly label: string;
  /** The rule, for people: beside the field, and in the API reference. */
  readonly hint: string;
  /** What is shown where it holds nothing. */
  readonly none?: string;
  /** How people set it; a member without it has no field. */
  readonly input?: Input;
  /** The part of the form that it stands in. */
  readonly section?: string;
  /** How a command sets it; a member without it cannot be. */
  readonly flag?: Flag;
}

/** An option of a command: `--jwks FILE`. */
export interface Flag {
  readonly name: string;
  /** How the usage names the value. */
  readonly value: string;
  /** `file`: the content of the file that is named. `lines`: given several times, a line each. */
  readonly from?: 'file' | 'lines';
}

export type Members = Readonly<Record<string, Member>>;

/** The record as its columns hold it. */
export type RecordOf<M extends Members> = {
  readonly [Name in keyof M as M[Name]['column']]: Kept<z.output<M[Name]['schema']>>;
};
type Kept<T> = T extends readonly (infer Item)[] ? readonly Item[] : T;

/** Keeps the types of a member in a table. */
export const member = <const Column extends string, Schema extends z.ZodType>(
  described: Member<Column, Schema>,
): Member<Column, Schema> => described;

function shapeOf(members: Members, schemaOf: (member: Member) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(members).map(([name, each]) => [name, schemaOf(each)]));
}

/** What creates a record: only what is required must be there. */
export const newRecord = (members: Members) =>
  z.strictObject(
    shapeOf(members, ({ schema, initial, hint }) =>
      (initial === undefined ? schema : schema.default(initial)).meta({ description: hint }),
    ),
  );

/** What changes a record (RFC 7396): the members that change; null takes an optional one away. */
export const recordChange = (members: Members) =>
  z.strictObject(shapeOf(members, ({ schema, hint }) => schema.meta({ description: hint }))).partial();

/** The members as they are answered. */
export const recordAnswer = (members: Members): Record<string, z.ZodType> =>
  shapeOf(members, ({ answer, hint }) => answer.meta({ description: hint }));

/** A schema as the API reference tells it, for a body that its handler parses itself. */
export const documented = (schema: z.ZodType) =>
  z.unknown().meta({ ...z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) });

/** The columns of the members in the table's order. */
export const columnsOf = <M extends Members>(members: M) =>
  // TypeScript forgets which column a member of a table has when it lists them.
  Object.values(members).map(({ column }) => column) as (keyof RecordOf<M> & string)[];

const byColumn = (members: Members, given: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(members)
      .filter(([name]) => given[name] !== undefined)
      .map(([name, { column }]) => [column, given[name]]),
  );

/**
 * The columns of a whole record.
 *
 * @param given what `newRecord` of these members has parsed
 */
export const toRecord = <M extends Members>(members: M, given: Readonly<Record<string, unknown>>): RecordOf<M> =>
  // What the members' schemas gave, every one of them, is what their columns were declared to hold.
  byColumn(members, given) as RecordOf<M>;

/**
 * The columns of those members that are given.
 *
 * @param given what `recordChange` of these members has parsed
 */
export const toColumns = <M extends Members>(
  members: M,
  given: Readonly<Record<string, unknown>>,
): Partial<RecordOf<M>> => byColumn(members, given);

/** From columns to members, as they are answered; also from a row of the history, in which a younger column is missing. */
export function toMembers(members: Members, row: object): Record<string, unknown> {
  const columns: Readonly<Record<string, unknown>> = { ...row };
  return Object.fromEntries(
    Object.entries(members).map(([name, { column, view = (stored: unknown) => stored }]) => [
      name,
      view(columns[column] ?? null),
    ]),
  );
}
