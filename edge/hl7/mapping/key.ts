/**
 * HL7 keys: which resource of a patient a segment stands for (design decisions §5, identity). A key does not name the
 * patient; `keyOf` adds it, so that the same number of another patient is another resource.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import { rawAt, repetitions, type Part } from '../../../shared/hl7/value.ts';
import { codeOf } from './datatypes/cwe.ts';
import { textOf } from './datatypes/text.ts';

/** Parts that may hold any character, joined so that none can be mistaken for two. */
const join = (...parts: readonly (string | undefined)[]): string =>
  JSON.stringify(parts.map((part) => (part ?? '').toWellFormed()));

/** Number, namespace, universal id. */
const entity = (part: Part | undefined): readonly (string | undefined)[] => [
  textOf(part, 1),
  textOf(part, 2),
  textOf(part, 3),
];

const concept = (part: Part | undefined): readonly (string | undefined)[] => {
  const code = codeOf(part);
  return code === undefined ? [textOf(part, 2) ?? textOf(part, 9)] : [code, textOf(part, 3)];
};

const first = (segment: Segment, field: number): Part | undefined => repetitions(segment, field)[0];

/** OBR-3, else OBR-2; without either what was ordered and when. */
function orderKey(obr: Segment | undefined, number: Part | undefined): string {
  if (obr === undefined) return '';
  return number === undefined ? join('order', ...concept(first(obr, 4)), rawAt(obr, 7)) : join(...entity(number));
}

/** An order may be answered by several OBR with one number, which are told apart by what they report. */
export function reportKey(obr: Segment, number: Part | undefined): string {
  return join(orderKey(obr, number), ...concept(first(obr, 4)));
}

/** Filler order number, OBX-3, OBX-4 and OBX-21; outside an order the time instead of the number. */
export function observationKey(obx: Segment, obr: Segment | undefined, number: Part | undefined): string {
  const instance = first(obx, 21);
  return join(
    orderKey(obr, number),
    ...concept(first(obx, 3)),
    rawAt(obx, 4),
    ...(instance === undefined ? [] : entity(instance)),
    ...(obr === undefined ? [rawAt(obx, 14)] : []),
  );
}

/** DG1-20, else code and date. */
export function conditionKey(dg1: Segment): string {
  const id = first(dg1, 20);
  if (textOf(id, 1) !== undefined) return join('id', ...entity(id));
  return join(...concept(first(dg1, 3)), rawAt(dg1, 4), rawAt(dg1, 5)?.slice(0, 8));
}

/** PR1-19, else code and date. */
export function procedureKey(pr1: Segment): string {
  const id = first(pr1, 19);
  if (textOf(id, 1) !== undefined) return join('id', ...entity(id));
  return join(...concept(first(pr1, 3)), rawAt(pr1, 4), rawAt(pr1, 5));
}

/** IAM-7, else the allergen: AL1 and IAM of one allergen are one allergy. */
export function allergyKey(segment: Segment): string {
  const id = segment.id === 'IAM' ? first(segment, 7) : undefined;
  if (textOf(id, 1) !== undefined) return join('id', ...entity(id));
  const code = codeOf(first(segment, 3));
  return join(...(code === undefined ? concept(first(segment, 3)) : [code]));
}

/** TXA-12, or TXA-13 for the document it belongs to. */
export function documentKey(txa: Segment, field: 12 | 13): string | undefined {
  const id = first(txa, field);
  return textOf(id, 1) === undefined ? undefined : join(...entity(id));
}

/** The key as it is stored (see migrations/functions/hl7_match.sql). */
export const keyOf = (key: string, patientId: string): string => `${key}@${patientId}`;

/** Index entries of the database are bounded; real keys have some 60 characters. */
export const MAX_KEY_LENGTH = 1000;
