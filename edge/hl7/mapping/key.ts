/**
 * HL7 keys: which resource of a patient a segment stands for (edge/docs/behaviour.md, HL7 v2). A key does not name the patient;
 * `keyOf` adds it, so that the same number of another patient is another resource. What the key of a segment is made of
 * stands in the segment's file.
 */
import type { Part } from '../../../shared/hl7/value.ts';
import { codeOf } from './datatypes/cwe.ts';
import { textOf } from './datatypes/text.ts';

/** Parts that may hold any character, joined so that none can be mistaken for two. */
export const join = (...parts: readonly (string | undefined)[]): string =>
  JSON.stringify(parts.map((part) => (part ?? '').toWellFormed()));

/** EI: number, namespace, universal id. */
export const entityKey = (part: Part | undefined): readonly (string | undefined)[] => [
  textOf(part, 1),
  textOf(part, 2),
  textOf(part, 3),
];

/** The same where numbers without an authority are the sender's own: `1001` of two systems is two things. */
export function numberKey(part: Part | undefined, sender: string): readonly (string | undefined)[] {
  const [number, namespace, universalId] = entityKey(part);
  return [number, namespace ?? (universalId === undefined ? sender : undefined), universalId];
}

/** CWE: code and coding system, else the text. */
export const conceptKey = (part: Part | undefined): readonly (string | undefined)[] => {
  const code = codeOf(part);
  return code === undefined ? [textOf(part, 2) ?? textOf(part, 9)] : [code, textOf(part, 3)];
};

/** The key as it is stored (`migrations/functions/hl7_matches.sql` takes it apart again). */
export const keyOf = (key: string, patientId: string): string => `${key}@${patientId}`;

/** Index entries of the database are bounded; real keys have some 60 characters. */
export const MAX_KEY_LENGTH = 1000;
