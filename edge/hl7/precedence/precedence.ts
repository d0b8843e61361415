/**
 * Precedence of values: of two statements about an element the greater one wins, in any order of arrival
 * (edge/docs/behaviour.md, HL7 v2, The order). It is a sortable text: tier, time, rank of the status, MSH-7, message id.
 * Message ids are UUIDv7 and sort by receipt. Pure.
 */

/** `1|001767323045000|60|001767323045000|019b…`. `''` is below all others. */
export type Precedence = string;

export interface PrecedenceParts {
  /** 0 for results and reports below final, and for what results and documents state about a patient; else 1. */
  readonly tier: 0 | 1;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  /** 0 to 99, for two statements of one time. */
  readonly rank: number;
  /** MSH-7 in milliseconds since the epoch. */
  readonly sentMs: number;
  readonly messageId: string;
}

/** Fifteen digits reach the year 33658. Times before 1970 count as 1970. */
const time = (ms: number): string => String(Math.max(0, Math.trunc(ms))).padStart(15, '0');

export function precedenceOf({ tier, timeMs, rank, sentMs, messageId }: PrecedenceParts): Precedence {
  return [tier, time(timeMs), String(rank).padStart(2, '0'), time(sentMs), messageId].join('|');
}

/** The message of a statement; `''` without one. */
export const messageIdOf = (precedence: Precedence): string => precedence.slice(precedence.lastIndexOf('|') + 1);

/** An update by a FHIR client wins over messages of its time. */
export const MAX_RANK = 99;

/** The precedence of a FHIR client's write. */
export const precedenceOfWrite = (atMs: number): Precedence =>
  precedenceOf({ tier: 1, timeMs: atMs, rank: MAX_RANK, sentMs: atMs, messageId: '' });

/**
 * The precedence of elements that have not changed since the resource was created.
 *
 * @param id a UUIDv7, whose first 48 bits are that time (RFC 9562 §5.7); another UUID has no time
 */
export function precedenceOfCreation(id: string): Precedence {
  const isTimed = /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id);
  return isTimed ? precedenceOfWrite(timeOfId(id)) : '';
}

/** The creation time of a UUIDv7, milliseconds since the epoch. */
export const timeOfId = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

/** `-` sorts before every digit: any other statement wins over a default. */
export const asDefault = (precedence: Precedence): Precedence => `-${precedence}`;
export const isDefault = (precedence: Precedence): boolean => precedence.startsWith('-');

/** The precedence of a statement of the same time below final. */
export const belowFinal = (precedence: Precedence): Precedence => `0${precedence.slice(1)}`;
export const isBelowFinalTier = (precedence: Precedence): boolean => precedence.startsWith('0');

/** Compares two statements without their tiers and their arrival. */
export const isAfter = (a: Precedence, b: Precedence): boolean => sentPart(a) > sentPart(b);
/** Only their arrival shows which of two statements is later. */
export const isTied = (a: Precedence, b: Precedence): boolean =>
  a !== b && a[0] === b[0] && sentPart(a) === sentPart(b);
const sentPart = (precedence: Precedence): string => precedence.split('|').slice(1, 4).join('|');

/** Compares the times of two statements without their tiers. */
export const isLater = (a: Precedence, b: Precedence): boolean => a.slice(2) > b.slice(2);

/** The time of a statement or default, milliseconds since the epoch. */
export const timeMsOf = (precedence: Precedence): number =>
  Number((isDefault(precedence) ? precedence.slice(1) : precedence).split('|')[1]);

export const isSameTime = (a: Precedence, b: Precedence): boolean => a.split('|')[1] === b.split('|')[1];

/** For lists that only grow: their items have no precedence. */
export const ADDED: Precedence = '';
