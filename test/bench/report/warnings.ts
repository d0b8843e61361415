/** Warnings about doubtful figures: the speed of the machine changed, or other processes used it. */
import { median } from '../rounds.ts';
import { rates } from './figures.ts';
import { failuresOf, LIMITS, nameOf, type Row, type Run } from './run.ts';

/** The ratio of a limit's best round to its worst, above which the speed of the machine has changed. */
const DRIFT = 1.25;
/** The share of its core above which the load generator is the limit, not the gateway. */
export const GENERATOR_IS_LIMIT = 0.9;
/** The highest share of the machine for other processes, as a median over all measurements. */
const OTHERS = 0.05;

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The statuses of unexpected answers. */
const statusesOf = ({ rounds }: Row): string =>
  [...new Set(rounds.flatMap(({ statuses }) => Object.keys(statuses)))].join(', ');

export function warningsOf({ rows }: Run): string[] {
  const warnings: string[] = [];
  for (const row of rows) {
    const of = rates(row);
    const drift = Math.max(...of) / Math.min(...of);
    if (row.group === 'limit' && drift > DRIFT)
      warnings.push(
        `the speed of the machine changed: the rounds of ${nameOf(row)} differ by a factor of ${drift.toFixed(2)}`,
      );
  }
  // The load generator is always the limit of a constant answer: the table marks it.
  const constant: readonly string[] = [LIMITS.node, LIMITS.hello];
  for (const row of rows) {
    const busy = median(row.rounds.map(({ generatorBusy }) => generatorBusy));
    if (!constant.includes(row.what) && busy > GENERATOR_IS_LIMIT)
      warnings.push(`the load generator was the limit of ${nameOf(row)}: it used ${percent(busy)} of its core`);
  }
  const others = rows.flatMap((row) => row.rounds.map(({ othersBusy }) => othersBusy));
  if (median(others) > OTHERS)
    warnings.push(
      `other processes used ${percent(median(others))} of the machine, at times ${percent(Math.max(...others))}`,
    );
  for (const row of rows) {
    const failed = failuresOf({ rows: [row] });
    if (failed > 0)
      warnings.push(`${nameOf(row)}: ${failed} answers were unexpected (${statusesOf(row)}), so its rate is not valid`);
  }
  return warnings;
}
