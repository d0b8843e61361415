/** What makes the figures of a run doubtful: a machine that was not the same all the time, or was not the gateway's alone. */
import { median } from '../rounds.ts';
import { rates } from './figures.ts';
import { failuresOf, LIMITS, nameOf, type Row, type Run } from './run.ts';

/** A limit's best round gives so many times what its worst one does: the machine was not the same all the time. */
const DRIFT = 1.25;
/** Of its core: a load generator that takes more is waited for, not the gateway. */
export const GENERATOR_IS_LIMIT = 0.9;
/** Of the machine, in the middle over all that was measured. */
const OTHERS = 0.05;

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Of its wrong answers, each once. */
const statusesOf = ({ rounds }: Row): string =>
  [...new Set(rounds.flatMap(({ statuses }) => Object.keys(statuses)))].join(', ');

export function warningsOf({ rows }: Run): string[] {
  const warnings: string[] = [];
  for (const row of rows) {
    const of = rates(row);
    const drift = Math.max(...of) / Math.min(...of);
    if (row.group === 'limit' && drift > DRIFT)
      warnings.push(`the machine drifted: the rounds of ${nameOf(row)} differ by a factor of ${drift.toFixed(2)}`);
  }
  // Who asks for a constant answer is always asked less than could be answered: that is said in the table.
  const constant: readonly string[] = [LIMITS.node, LIMITS.hello];
  for (const row of rows) {
    const busy = median(row.rounds.map(({ generatorBusy }) => generatorBusy));
    if (!constant.includes(row.what) && busy > GENERATOR_IS_LIMIT)
      warnings.push(`the load generator was the limit of ${nameOf(row)}: it took ${percent(busy)} of its core`);
  }
  const others = rows.flatMap((row) => row.rounds.map(({ othersBusy }) => othersBusy));
  if (median(others) > OTHERS)
    warnings.push(
      `other processes took ${percent(median(others))} of the machine, at times ${percent(Math.max(...others))}`,
    );
  for (const row of rows) {
    const failed = failuresOf({ rows: [row] });
    if (failed > 0)
      warnings.push(
        `${nameOf(row)}: ${failed} answers were not the expected ones (${statusesOf(row)}), its rate is none`,
      );
  }
  return warnings;
}
