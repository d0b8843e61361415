/** ST, TX, FT, ID and IS as FHIR string and code (HL7 v2.5.1 §2.A.74 and others; FHIR R4, Datatypes, primitive types). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import {
  child,
  childText,
  firstRepetition,
  partText,
  rawAt,
  repetitionTexts,
  valueAt,
  type Part,
  type Value,
} from '../../../../shared/hl7/value.ts';

/** FHIR allows tab, line feed and carriage return of the control characters. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** The first control character of a text that FHIR cannot have. */
export const controlOf = (text: string): string | undefined => text[text.search(CONTROLS)];

/** Word processors write VT as a line break and FF as a page break. */
const printable = (value: string): string =>
  value.replaceAll(CONTROLS, (control) => (control === '\v' || control === '\f' ? '\n' : ' '));

/** No white space at the ends, and no empty string. */
export function clean(value: Value): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const text = printable(value).trim();
  return text === '' ? undefined : text;
}

export { firstRepetition as first };

/** The nth child of a part as text; undefined if it is absent, empty or `""`. */
export const textOf = (part: Part | undefined, number: number): string | undefined =>
  part === undefined ? undefined : clean(child(part, number));

/** The same for a component that is a plain text or code: `&` in it is a character that the sender forgot to escape. */
export const plainTextOf = (part: Part | undefined, number: number): string | undefined =>
  part === undefined ? undefined : clean(childText(part, number));

/** The first component of a field as text. */
export const fieldText = (segment: Segment, field: number): string | undefined => clean(valueAt(segment, field, 1, 1));

/** A complete repetition as text, with separators that were not escaped. */
export const repetitionText = (part: Part): string | undefined => clean(partText(part));

/** A field that is one plain text, such as a name: separators in it were not escaped. */
export const plainFieldText = (segment: Segment, field: number): string | undefined => {
  const part = firstRepetition(segment, field);
  return part && repetitionText(part);
};

/** The repetitions of a text, an empty one included. Spaces at the start of a line make columns and stay. */
export const linesOf = (segment: Segment, field: number): string[] =>
  repetitionTexts(segment, field).map((line) => printable(line ?? '').trimEnd());

/** Lines as one text, without empty lines at its ends; undefined if all are empty. */
export function joinLines(lines: readonly string[]): string | undefined {
  const text = lines
    .join('\n')
    .replace(/^\s*[\n\r]/, '')
    .trimEnd();
  return text === '' ? undefined : text;
}

/** A text whose repetitions are its lines. A text of one line has no columns. */
export const joinedText = (lines: readonly string[]): string | undefined => {
  const text = joinLines(lines);
  return text !== undefined && /[\n\r]/.test(text) ? text : clean(text);
};

/** FHIR code: no white space but single spaces inside. */
export function code(text: string | undefined): string | undefined {
  return text?.replaceAll(/\s+/g, ' ');
}

/** Checks that the field has a value other than `""`. */
export function isValued(segment: Segment, field: number): boolean {
  const raw = rawAt(segment, field);
  return raw !== undefined && raw !== '' && raw !== '""';
}

/** A list of the value; undefined without one. */
export const listOf = <T>(value: T | undefined): [T] | undefined => (value === undefined ? undefined : [value]);

/** Drops members that are undefined, null or an empty list; undefined if no member is left. */
export function members<T extends object>(object: T): { [K in keyof T]: NonNullable<T[K]> } | undefined {
  const kept = Object.entries(object).filter(
    ([, value]) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0),
  );
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as { [K in keyof T]: NonNullable<T[K]> });
}
