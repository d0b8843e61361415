/**
 * The status of a result or report as a part of its precedence. A final result changes only by correction, and of two
 * statements of one time the further one wins (HL7 v2.5.1 tables 0085, 0123 and 0038).
 */

export interface Standing {
  /** Final or above. */
  readonly isFinal: boolean;
  readonly rank: number;
  /** It corrects or withdraws a final result. */
  readonly isCorrection: boolean;
  /** It withdraws the result or report: older values are hidden. */
  readonly isWithdrawal: boolean;
}

const below = (rank: number): Standing => ({ isFinal: false, rank, isCorrection: false, isWithdrawal: false });
const final = (rank: number): Standing => ({ ...below(rank), isFinal: true });
const correction = (rank: number): Standing => ({ ...final(rank), isCorrection: true });
const withdrawal = (rank: number): Standing => ({ ...correction(rank), isWithdrawal: true });

/** Neither the result nor its report has a status. */
const UNKNOWN_STANDING: Standing = below(0);

/** For statements without a result's status. */
export const PLAIN_STANDING: Standing = final(50);

/** Table 0085, OBX-11. */
const OF_RESULT: ReadonlyMap<string, Standing> = new Map([
  ['O', below(10)],
  ['I', below(20)],
  ['S', below(30)],
  ['R', below(40)],
  ['P', below(50)],
  ['B', final(60)],
  ['F', final(60)],
  ['N', final(60)],
  ['U', final(60)],
  ['V', final(60)],
  ['A', final(70)],
  ['C', correction(75)],
  ['X', withdrawal(80)],
  ['D', withdrawal(85)],
  ['W', withdrawal(90)],
]);

/** Table 0123, OBR-25. */
const OF_REPORT: ReadonlyMap<string, Standing> = new Map([
  ['O', below(10)],
  ['I', below(20)],
  ['S', below(25)],
  ['N', below(30)],
  ['A', below(40)],
  ['R', below(45)],
  ['P', below(50)],
  ['M', below(55)],
  ['F', final(60)],
  ['C', correction(75)],
  ['X', withdrawal(80)],
]);

/** Table 0038, ORC-5. */
const OF_ORDER: ReadonlyMap<string, Standing> = new Map([
  ['SC', below(10)],
  ['IP', below(20)],
  ['A', below(40)],
  ['CM', final(60)],
  ['CA', correction(80)],
]);

/** @param report OBR-25, in any case; else ORC-5 */
export function standingOfReport(report: string | undefined, order: string | undefined): Standing {
  return OF_REPORT.get(report?.toUpperCase() ?? '') ?? OF_ORDER.get(order?.toUpperCase() ?? '') ?? UNKNOWN_STANDING;
}

/**
 * A result's own status, else its report's. Only the result's own status withdraws the result.
 *
 * @param result OBX-11, in any case
 */
export function standingOfResult(result: string | undefined, report: Standing): Standing {
  return OF_RESULT.get(result?.toUpperCase() ?? '') ?? { ...report, isWithdrawal: false };
}
