/**
 * CWE, CE, CNE, CF, IS and ID as CodeableConcept (v2-to-FHIR `CWE[CodeableConcept]`, `CE[…]`, `CNE[…]`, `CF[…]`, `IS[…]`,
 * `ID[…]`). They have one table. CE is the beginning of CWE, and ID its first component.
 */
import { ERROR_REASONS } from '../../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../../shared/hl7/message.ts';
import { locatePart, repetitions, type Part } from '../../../../shared/hl7/value.ts';
import type { Json, JsonObject } from '../../../../shared/json.ts';
import { note, type MapContext } from '../context.ts';
import { isTooLongEntry } from '../index-limit.ts';
import { codingSystem, isOwnTable, tableSystem } from '../tables/coding-systems.ts';
import type { ConceptMap } from '../tables/concept-map.ts';
import { code, fieldText, first, members, plainTextOf, textOf } from './text.ts';

interface Triplet {
  readonly code: number;
  readonly display: number;
  readonly system: number;
  readonly version: number;
  /** CWE.14, 17 and 20: used if the name of the system is missing. */
  readonly oid: number;
}

/** `CWE[CodeableConcept]` 3–5 with 9, 6–8 with 10, 12–14 with 15. */
const TRIPLETS: readonly Triplet[] = [
  { code: 1, display: 2, system: 3, version: 7, oid: 14 },
  { code: 4, display: 5, system: 6, version: 8, oid: 17 },
  { code: 10, display: 11, system: 12, version: 13, oid: 20 },
];

/** Senders before version 2.3 name the coding system of DG1-3 and PR1-3 in the field before it. */
const WITH_METHOD = new Set(['DG1', 'PR1']);

/** The names of a code's coding system, CWE.3 first. */
function systemNames(part: Part, triplet: Triplet): string[] {
  const names = [textOf(part, triplet.system), textOf(part, triplet.oid)].filter((name) => name !== undefined);
  const hasMethod = triplet.code === 1 && part.field === 3 && WITH_METHOD.has(part.segment.id);
  const method = hasMethod && names.length === 0 ? fieldText(part.segment, 2) : undefined;
  return method === undefined ? names : [method];
}

/** @param table the field's HL7 table: `HL70078` */
function coding(part: Part, triplet: Triplet, context: MapContext, table?: string): JsonObject | undefined {
  const value = code(plainTextOf(part, triplet.code));
  if (value === undefined || isTooLong(value)) return undefined;
  const isOwn = table !== undefined && isOwnTable(textOf(part, triplet.system), table);
  const system = isOwn ? tableSystem(table) : codingSystem(systemNames(part, triplet), context);
  const isUnusable = system !== undefined && isTooLongEntry([system, value]);
  if (isUnusable) {
    note(context, 'W', '102', locatePart(part, triplet.system), ERROR_REASONS['system-too-long'], 'system-too-long');
  }
  return members({
    system: isUnusable ? undefined : system,
    version: textOf(part, triplet.version),
    code: value,
    display: plainTextOf(part, triplet.display),
  });
}

/** No code is so long, and a longer one could not be searched (`mapping/index-limit.ts`): it is kept as text. */
const MAX_CODE_LENGTH = 400;
const isTooLong = (value: string): boolean => value.length > MAX_CODE_LENGTH;

/** The text in the place of a code. */
function textAsCode(part: Part, context: MapContext): string | undefined {
  for (const triplet of TRIPLETS) {
    const value = plainTextOf(part, triplet.code);
    if (value === undefined || !isTooLong(value)) continue;
    const message = `The code is longer than ${MAX_CODE_LENGTH} characters. It was stored as text.`;
    note(context, 'W', '102', locatePart(part, triplet.code), message, 'code-too-long');
    return value;
  }
  return undefined;
}

/** CWE.9, else the text of a concept without a code. A display is not repeated as text. */
function conceptText(part: Part): string | undefined {
  const original = plainTextOf(part, 9);
  if (original !== undefined) return original;
  return textOf(part, 1) === undefined && textOf(part, 4) === undefined
    ? (plainTextOf(part, 2) ?? plainTextOf(part, 5))
    : undefined;
}

/** @param table the HL7 table of the first code, if it names no other system */
export function codeableConcept(part: Part | undefined, context: MapContext, table?: string): JsonObject | undefined {
  if (part === undefined) return undefined;
  const long = textAsCode(part, context);
  const [own, ...others] = TRIPLETS;
  const codings = [own && coding(part, own, context, table), ...others.map((other) => coding(part, other, context))];
  const sent = codings.filter((found) => found !== undefined);
  return members({ coding: withAdded(sent, part, context, table), text: conceptText(part) ?? long });
}

/** Adds the codings of the site's code tables that the concept does not have. The sender's stay first. */
function withAdded(sent: readonly JsonObject[], part: Part, context: MapContext, table?: string): JsonObject[] {
  const all = [...sent];
  for (const triplet of context.translate === undefined ? [] : TRIPLETS) {
    const value = code(plainTextOf(part, triplet.code));
    if (value === undefined || isTooLong(value)) continue;
    const isOwn = triplet.code === 1 && table !== undefined && isOwnTable(textOf(part, triplet.system), table);
    const [system] = isOwn ? [table] : systemNames(part, triplet);
    for (const added of context.translate?.(system, value, plainTextOf(part, triplet.display) ?? textOf(part, 9)) ??
      []) {
      if (!all.some((one) => one['system'] === added['system'] && one['code'] === added['code'])) all.push(added);
    }
  }
  return all;
}

/** The first repetition of a field. */
export function concept(segment: Segment, field: number, context: MapContext): JsonObject | undefined {
  return codeableConcept(first(segment, field), context);
}

/** All repetitions of a field. */
export function concepts(segment: Segment, field: number, context: MapContext): JsonObject[] {
  return repetitions(segment, field)
    .map((part) => codeableConcept(part, context))
    .filter((found) => found !== undefined);
}

/**
 * A CodeableConcept whose code is mapped by a concept map. A code outside the map is the sender's extension of the table. A
 * code of another coding system stays as sent.
 */
export function mappedConcept(part: Part | undefined, context: MapContext, map: ConceptMap): JsonObject | undefined {
  if (part === undefined) return undefined;
  const value = code(plainTextOf(part, 1));
  const isOwn = value !== undefined && isOwnTable(textOf(part, 3), map.table);
  const target = isOwn ? (map.codes.get(value) ?? map.codes.get(value.toUpperCase())) : undefined;
  if (target === undefined) return codeableConcept(part, context, map.table);
  const text = conceptText(part) ?? plainTextOf(part, 2);
  const { system, display } = target;
  return members({
    coding: withAdded([{ system, code: target.code, display }], part, context, map.table),
    text: text as Json,
  });
}

/** `CWE[code]` 3 and 6: the code alone. */
export const codeOf = (part: Part | undefined): string | undefined =>
  code(plainTextOf(part, 1) ?? plainTextOf(part, 4));

/** `CWE[string]` 4 and 11: the text, else the code. */
export const textOfConcept = (part: Part | undefined): string | undefined =>
  plainTextOf(part, 9) ?? plainTextOf(part, 2) ?? plainTextOf(part, 1);

/** A concept of one code. */
export const conceptOf = (system: string, code: string): JsonObject => ({ coding: [{ system, code }] });

const ALTERNATE_CODES = 'http://hl7.org/fhir/StructureDefinition/alternate-codes';

/** The sibling of a `code` element (`_status`), with the code as sent. */
export const sentAs = (valueCodeableConcept: JsonObject): JsonObject => ({
  extension: [{ url: ALTERNATE_CODES, valueCodeableConcept }],
});

/** Checks for a code or a text. A coding system alone does not count. */
export function hasConcept(segment: Segment, field: number): boolean {
  const part = first(segment, field);
  return part !== undefined && [1, 2, 4, 5, 9, 10].some((number) => textOf(part, number) !== undefined);
}
