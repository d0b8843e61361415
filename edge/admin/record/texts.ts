/** A record as the texts of a form's fields: from what is answered, from what a browser sends, and back to a body. */
import type { Member, Members } from './member.ts';
import { textsOf, valueOf } from './input.ts';

/** What stands in the fields, by member: one text, or those that are chosen. */
export type FieldTexts = Readonly<Record<string, readonly string[]>>;

function eachField(members: Members, textsOfField: (name: string, member: Member) => readonly string[]): FieldTexts {
  const fields = Object.entries(members).filter(([, { input }]) => input !== undefined);
  return Object.fromEntries(fields.map(([name, member]) => [name, textsOfField(name, member)]));
}

/** The fields of a form for a new record. */
export const initialTexts = (members: Members): FieldTexts =>
  eachField(members, (_, { input, initial, suggested }) =>
    input === undefined ? [] : textsOf(input, suggested ?? initial),
  );

/** @param record the members as they are answered */
export const textsOfRecord = (members: Members, record: Readonly<Record<string, unknown>>): FieldTexts =>
  eachField(members, (name, { input }) => (input === undefined ? [] : textsOf(input, record[name])));

/** What a browser has sent. */
export const textsOfForm = (members: Members, form: URLSearchParams): FieldTexts =>
  eachField(members, (name) => form.getAll(name));

/** What the fields say, as the JSON API takes it: the rules are the same. */
export function toBody(members: Members, texts: FieldTexts): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, { input }]) =>
      input === undefined ? [] : [[name, valueOf(input, texts[name] ?? [])]],
    ),
  );
}
