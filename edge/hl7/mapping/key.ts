/**
 * HL7 keys identify a segment's resource among those of a patient (edge/docs/behaviour.md, HL7 v2, Which resource). `keyOf`
 * adds the patient, so that another patient's equal number is another resource. The file of a segment defines its key.
 */
import type { Part } from '../../../shared/hl7/value.ts';
import { codeOf } from './datatypes/cwe.ts';
import { textOf } from './datatypes/text.ts';

/** Joins parts with any characters unambiguously. */
export const join = (...parts: readonly (string | undefined)[]): string =>
  JSON.stringify(parts.map((part) => (part ?? '').toWellFormed()));

/** EI: number, namespace, universal id. */
export const entityKey = (part: Part | undefined): readonly (string | undefined)[] => [
  textOf(part, 1),
  textOf(part, 2),
  textOf(part, 3),
];

/** The same with the sender as the authority of a number without one: `1001` of two systems is two resources. */
export function numberKey(part: Part | undefined, sender: string): readonly (string | undefined)[] {
  const [number, namespace, universalId] = entityKey(part);
  return [number, namespace ?? (universalId === undefined ? sender : undefined), universalId];
}

/** CWE: code and coding system, else the text. */
export const conceptKey = (part: Part | undefined): readonly (string | undefined)[] => {
  const code = codeOf(part);
  return code === undefined ? [textOf(part, 2) ?? textOf(part, 9)] : [code, textOf(part, 3)];
};

/** The stored key (`migrations/functions/hl7_matches.sql` splits it again). */
export const keyOf = (key: string, patientId: string): string => `${key}@${patientId}`;

/** Index entries of the database are limited; real keys have about 60 characters. */
export const MAX_KEY_LENGTH = 1000;
