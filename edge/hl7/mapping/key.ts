/**
 * HL7 keys identify a segment's resource among those of a patient (edge/docs/behaviour.md, HL7 v2, Which resource). `keyOf`
 * adds the patient, so that another patient's equal number is another resource. The file of a segment defines its key.
 */
import type { Part } from '../../../shared/hl7/value.ts';
import { codeOf } from './datatypes/cwe.ts';
import { plainTextOf, textOf } from './datatypes/text.ts';

/** Joins parts with any characters unambiguously. */
export const join = (...parts: readonly (string | undefined)[]): string =>
  JSON.stringify(parts.map((part) => (part ?? '').toWellFormed()));

/** EI: number, namespace, universal id. */
export const entityKey = (part: Part | undefined): readonly (string | undefined)[] => [
  plainTextOf(part, 1),
  textOf(part, 2),
  textOf(part, 3),
];

/** The same with the sender as the authority of a number without one: `1001` of two systems is two resources. */
export function numberKey(part: Part | undefined, sender: string): readonly (string | undefined)[] {
  const [number, namespace, universalId] = entityKey(part);
  return [number, namespace ?? (universalId === undefined ? sender : undefined), universalId];
}

/** EI without an authority: its number; undefined for another one. */
export function bareNumber(part: Part | undefined): string | undefined {
  const [number, ...authority] = entityKey(part);
  return authority.every((each) => each === undefined) ? number : undefined;
}

/** The key of a document that was cancelled by its number alone, before it arrived. */
export const cancelledKey = (number: string): string => `${CANCELLED}${number.toWellFormed()}`;
export const CANCELLED = 'cancelled ';

/** The lookup key of the documents with a number, of any authority. */
export const numberedKey = (number: string): string => `${NUMBERED}${number.toWellFormed()}`;
export const NUMBERED = 'number ';

/** CWE: code and coding system, else the text. */
export const conceptKey = (part: Part | undefined): readonly (string | undefined)[] => {
  const code = codeOf(part);
  return code === undefined ? [plainTextOf(part, 2) ?? plainTextOf(part, 9)] : [code, textOf(part, 3)];
};

/**
 * The observation of a result key (`SentKey.what`): the codings of a CWE as sent, else its text, and `more`. The codings are
 * components 1 and 3, 4 and 6, 10 and 12.
 */
export function observedKey(concept: Part | undefined, more: readonly (string | undefined)[]): string {
  const codings = CODINGS.flatMap(([code, system]) => {
    const value = plainTextOf(concept, code);
    return value === undefined ? [] : [[value, textOf(concept, system) ?? '']];
  }).filter((coding, at) => at === 0 || coding.every((each) => each.length <= MAX_ALTERNATE_LENGTH));
  const text = codings.length === 0 ? (plainTextOf(concept, 2) ?? plainTextOf(concept, 9)) : '';
  return join(JSON.stringify(codings), text, ...more);
}
const CODINGS = [
  [1, 3],
  [4, 6],
  [10, 12],
] as const;
/** The key has no longer alternate code. */
const MAX_ALTERNATE_LENGTH = 100;

/** The stored key (`migrations/functions/hl7_matches.sql` splits it again). */
export const keyOf = (key: string, patientId: string): string => `${key}@${patientId}`;

/** Index entries of the database are limited; real keys have about 60 characters. */
export const MAX_KEY_LENGTH = 1000;
