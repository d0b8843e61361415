/** Converts a record to the texts of a form's fields, and a sent form to a body of the JSON API. */
import type { Member, Members } from './member.ts';
import { textsOf, valueOf } from './input.ts';

/** The texts of each field, by member. */
export type FieldTexts = Readonly<Record<string, readonly string[]>>;

function eachField(members: Members, textsOfField: (name: string, member: Member) => readonly string[]): FieldTexts {
  const fields = Object.entries(members).filter(([, { input }]) => input !== undefined);
  return Object.fromEntries(fields.map(([name, member]) => [name, textsOfField(name, member)]));
}

/** The texts for a new record. */
export const initialTexts = (members: Members): FieldTexts =>
  eachField(members, (_, { input, initial, suggested }) =>
    input === undefined ? [] : textsOf(input, suggested ?? initial),
  );

/** The texts for a stored record. @param record as the API answers it */
export const textsOfRecord = (members: Members, record: Readonly<Record<string, unknown>>): FieldTexts =>
  eachField(members, (name, { input }) => (input === undefined ? [] : textsOf(input, record[name])));

/** The texts of a sent form. */
export const textsOfForm = (members: Members, form: URLSearchParams): FieldTexts =>
  eachField(members, (name) => form.getAll(name));

/** The body of the JSON API, so that forms and API have the same rules. */
export function toBody(members: Members, texts: FieldTexts): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, { input }]) =>
      input === undefined ? [] : [[name, valueOf(input, texts[name] ?? [])]],
    ),
  );
}
