/** The report of a run: in rounds, beside targets, and with its doubts. */
import { expect, test } from 'vitest';

import { reportOf } from '../../bench/report/table.ts';
import { targetsOf } from '../../bench/report/targets.ts';
import { warningsOf } from '../../bench/report/warnings.ts';
import type { Run } from '../../bench/report/run.ts';
import { inRounds, median, ratios } from '../../bench/rounds.ts';
import { madeRun, randomOf } from './made-run.ts';

const quiet = (): Run => madeRun({ random: randomOf(1) });

/** A run whose rounds of one row are changed. */
function changed(what: string, change: (round: Run['rows'][number]['rounds'][number], at: number) => void): Run {
  const run = quiet();
  run.rows.find((row) => row.what === what)?.rounds.forEach(change);
  return run;
}

test('each measurement runs once in each round, and the warm-up has no figures', async () => {
  const order: string[] = [];
  let n = 0;
  const turn = (name: string) => async (): Promise<number> => {
    order.push(name);
    return (n += 1);
  };
  expect(await inRounds(2, [turn('a'), turn('b')])).toEqual([
    [3, 5],
    [4, 6],
  ]);
  expect(order.join('')).toBe('ababab');
});

test('a median is the middle value or the mean of two, and NaN for an empty list', () => {
  expect([median([9, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, Number.NaN]);
  expect(ratios([2, 6], [1, 2])).toEqual([2, 3]);
});

test('a quiet run has no warning', () => {
  expect(warningsOf(quiet())).toEqual([]);
});

test.each<[string, Run, RegExp]>([
  [
    'a machine that was slow for a while',
    changed('workerd, a constant answer', (round, at) => (round.perSecond /= at === 3 ? 1.4 : 1)),
    /speed of the machine changed.*constant answer.*factor of 1\.40/,
  ],
  [
    'a load generator at its limit',
    changed('Patient read', (round) => (round.generatorBusy = 0.97)),
    /load generator was the limit of workerd: Patient read.*97 %/,
  ],
  [
    'unexpected answers',
    changed('Patient read', (round) => Object.assign(round, { failed: 2, statuses: { 503: 2 } })),
    /10 answers .*\(503\)/,
  ],
])('%s causes a warning', (_, run, warning) => {
  expect(warningsOf(run)).toEqual([expect.stringMatching(warning)]);
});

test('warns of other processes that used the machine, not of a short one', () => {
  const once = changed('Patient read', (round) => (round.othersBusy = 0.4));
  expect(warningsOf(once)).toEqual([]);
  const run = quiet();
  for (const row of run.rows) for (const round of row.rounds) round.othersBusy = 0.2;
  expect(warningsOf(run)).toEqual([expect.stringMatching(/other processes used 20 %/)]);
});

test('the generator always limits the constant answer: that is in the table', () => {
  const run = changed('workerd, a constant answer', (round) => (round.generatorBusy = 1));
  expect(warningsOf(run)).toEqual([]);
  expect(reportOf(run)).toMatch(/^ +workerd, a constant answer +7000\*/m);
});

test('a target is held or missed by the median, not by the best round', () => {
  const held = targetsOf(quiet());
  expect(held.map(({ what, isHeld }) => [what, isHeld])).toEqual([
    ['workerd: Patient read, CPU in requests of the bare Worker', true],
    ['workerd: Patient read, share of hello', true],
    ['workerd: Patient search by identifier, share of hello', true],
  ]);
  const slow = changed('Patient read', (round, at) => {
    if (at === 0) return;
    round.perSecond /= 1.2;
    round.cpuMicros = { ...round.cpuMicros, gateway: 1100 };
  });
  expect(targetsOf(slow).map(({ isHeld }) => isHeld)).toEqual([false, false, true]);
  expect(reportOf(slow)).toMatch(/Patient read, share of hello .*at least 0\.09 {2}seen 0\.083 .*MISSED/);
});

test('a report is at most 120 columns wide', () => {
  const widths = reportOf(quiet())
    .split('\n')
    .map((line) => line.length);
  expect(Math.max(...widths)).toBeLessThanOrEqual(120);
});
