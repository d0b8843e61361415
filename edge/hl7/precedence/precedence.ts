/**
 * The order of what is said of an element: of two statements the greater one holds, whichever came first (edge/docs/behaviour.md,
 * HL7 v2). It is one text that sorts: class, time, rank of the status, MSH-7, message id. Message ids are UUIDv7 and sort
 * by receipt. Pure.
 */

/** `1|001767323045000|60|001767323045000|019b…`. `''` is below every other. */
export type Precedence = string;

export interface PrecedenceParts {
  /** Of results and reports 1 for final or above; of what is said of patients 1 for an ADT; of all else 1. */
  readonly tier: 0 | 1;
  /** When it was so, ms since the epoch. */
  readonly timeMs: number;
  /** 0 to 99: between two statements of one time. */
  readonly rank: number;
  /** MSH-7, ms since the epoch. */
  readonly sentMs: number;
  readonly messageId: string;
}

/** Fifteen digits reach the year 33658; what was before 1970 is as old as 1970. */
const time = (ms: number): string => String(Math.max(0, Math.trunc(ms))).padStart(15, '0');

export function precedenceOf({ tier, timeMs, rank, sentMs, messageId }: PrecedenceParts): Precedence {
  return [tier, time(timeMs), String(rank).padStart(2, '0'), time(sentMs), messageId].join('|');
}

/** Somebody who reads a record and corrects it has the last word about what was known by then. */
export const MAX_RANK = 99;

/** Of what a FHIR client wrote at a time. */
export const precedenceOfWrite = (atMs: number): Precedence =>
  precedenceOf({ tier: 1, timeMs: atMs, rank: MAX_RANK, sentMs: atMs, messageId: '' });

/**
 * Of what has stood in a resource since it was made.
 *
 * @param id a UUIDv7, whose first 48 bits are that time (RFC 9562 §5.7); of another UUID nothing is known
 */
export function precedenceOfCreation(id: string): Precedence {
  const isTimed = /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id);
  return isTimed ? precedenceOfWrite(timeOfId(id)) : '';
}

/** The time at which a UUIDv7 was made, ms since the epoch. */
export const timeOfId = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

/** `-` sorts before every digit: what holds until somebody says otherwise gives way to all that anybody says. */
export const asDefault = (precedence: Precedence): Precedence => `-${precedence}`;
export const isDefault = (precedence: Precedence): boolean => precedence.startsWith('-');

/** Whether a statement was made after another one, whatever the precedence of both. */
export const isLater = (a: Precedence, b: Precedence): boolean => a.slice(2) > b.slice(2);

export const isSameTime = (a: Precedence, b: Precedence): boolean => a.split('|')[1] === b.split('|')[1];

/** Of what lists only gain, which has no order. */
export const ADDED: Precedence = '';
