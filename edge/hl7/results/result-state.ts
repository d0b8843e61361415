/** The state of a stored result or report: its status, and the newest statement of it. */
import type { Draft } from '../mapping/drafts.ts';
import { isBelowFinalTier, isDefault, isLater, timeMsOf, type Precedence } from '../precedence/precedence.ts';
import { later } from '../precedence/registers.ts';
import { TEXT, waitingName, WITHDRAWN } from '../precedence/stated-value.ts';

/** FHIR statuses of results and reports. */
const WITHDRAWN_STATUS: ReadonlySet<unknown> = new Set(['entered-in-error', 'cancelled']);
const FINAL_STATUS: ReadonlySet<unknown> = new Set(['final', 'amended', 'corrected', 'appended']);

type State = Pick<Draft, 'content' | 'remembered'>;

export const isWithdrawn = ({ content }: State): boolean => WITHDRAWN_STATUS.has(content['status']);
export const isFinal = ({ content }: State): boolean => FINAL_STATUS.has(content['status']);
export const isBelowFinal = (state: State): boolean => !isFinal(state) && !isWithdrawn(state);

/** A newer statement below final waits behind a final one. */
export const isWaiting = ({ remembered: { registers } }: State): boolean => registers.has(waitingName('status'));

export const isText = ({ remembered: { registers } }: State): boolean => registers.has(TEXT);

/**
 * A newer final message no longer had the result, and no later message states it again (`left-results.ts`). A sender's own
 * withdrawal is final.
 */
export const isMissing = ({ content, remembered: { registers } }: State): boolean =>
  content['status'] === 'entered-in-error' && isBelowFinalTier(registers.get('status')?.precedence ?? '');

const STATUS_REGISTERS = ['status', waitingName('status'), WITHDRAWN];

/** The newest statement of the status, final or below; `''` for none. */
export function statusPrecedence({ remembered: { registers } }: State): Precedence {
  return STATUS_REGISTERS.map((name) => registers.get(name)?.precedence ?? '')
    .filter((precedence) => precedence !== '' && !isDefault(precedence))
    .reduce((last, each) => (last === '' || isLater(each, last) ? each : last), '');
}

/** The newest final statement of the status, a withdrawal too; `''` for none. */
export function finalPrecedence({ remembered: { registers } }: State): Precedence {
  return ['status', WITHDRAWN]
    .map((name) => registers.get(name)?.precedence ?? '')
    .filter((precedence) => precedence.startsWith('1'))
    .reduce(later, '');
}

/**
 * The distance of a time from the nearest statement about the result, in milliseconds; 0 if nothing states it.
 *
 * @param collected its time of collection, if known
 */
export function distanceMs({ remembered: { registers } }: State, collected: readonly number[], timeMs: number): number {
  const precedences = new Set([...registers.values()].map(({ precedence }) => precedence));
  const stated = [...precedences].filter((precedence) => precedence !== '').map(timeMsOf);
  const distances = [...stated, ...collected].map((ms) => Math.abs(ms - timeMs));
  return distances.length === 0 ? 0 : Math.min(...distances);
}
