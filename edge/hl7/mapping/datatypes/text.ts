/** ST, TX, FT, ID and IS as FHIR string and code (HL7 v2.5.1 §2.A.74 and others; FHIR R4, Datatypes, primitive types). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { child, partText, rawAt, valueAt, type Part, type Value } from '../../../../shared/hl7/value.ts';

/** FHIR allows tab, line feed and carriage return of the control characters; none at the ends, and no empty string. */
export function clean(value: Value): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  // oxlint-disable-next-line no-control-regex
  const text = value.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '').trim();
  return text === '' ? undefined : text;
}

export { firstRepetition as first } from '../../../../shared/hl7/value.ts';

/** The nth child of a part as text; undefined if it is absent, empty or `""`. */
export const textOf = (part: Part | undefined, number: number): string | undefined =>
  part === undefined ? undefined : clean(child(part, number));

/** The first component of a field as text. */
export const fieldText = (segment: Segment, field: number, component = 1): string | undefined =>
  clean(valueAt(segment, field, 1, component));

/** A complete repetition as text, with separators that were not escaped. */
export const repetitionText = (part: Part): string | undefined => clean(partText(part));

/** FHIR code: no white space but single spaces inside. */
export function code(text: string | undefined): string | undefined {
  return text?.replaceAll(/\s+/g, ' ');
}

/** Checks that the field has a value other than `""`. */
export function isValued(segment: Segment, field: number): boolean {
  const raw = rawAt(segment, field);
  return raw !== undefined && raw !== '' && raw !== '""';
}

/** Drops members that are undefined, null or an empty list; undefined if no member is left. */
export function members<T extends object>(object: T): { [K in keyof T]: NonNullable<T[K]> } | undefined {
  const kept = Object.entries(object).filter(
    ([, value]) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0),
  );
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as { [K in keyof T]: NonNullable<T[K]> });
}
