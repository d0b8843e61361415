/** The report of a run: in rounds, beside targets, and with its doubts. */
import { expect, test } from 'vitest';

import { reportOf, type Run, targetsOf, warningsOf } from '../../bench/report.ts';
import { inRounds, median, ratios } from '../../bench/rounds.ts';
import { madeRun, randomOf } from './made-run.ts';

const quiet = (): Run => madeRun({ random: randomOf(1) });

type Round = Run['rows'][number]['rounds'][number];

/** A run whose rounds of one row, or of all, are changed. */
const changed = (what: string | undefined, change: (round: Round, at: number) => Partial<Round>): Run => {
  const run = quiet();
  const rows = run.rows.map((row) => {
    if (what !== undefined && row.what !== what) return row;
    return { ...row, rounds: row.rounds.map((round, at) => ({ ...round, ...change(round, at) })) };
  });
  return { ...run, rows };
};

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
    changed('workerd, a constant answer', ({ perSecond }, at) => ({ perSecond: perSecond / (at === 3 ? 1.4 : 1) })),
    /speed of the machine changed.*constant answer.*factor of 1\.40/,
  ],
  [
    'a load generator at its limit',
    changed('Patient read', () => ({ generatorBusy: 0.97 })),
    /load generator was the limit of workerd: Patient read.*97 %/,
  ],
  ['unexpected answers', changed('Patient read', () => ({ failed: 2, statuses: { 503: 2 } })), /10 answers .*\(503\)/],
])('%s causes a warning', (_, run, warning) => {
  expect(warningsOf(run)).toEqual([expect.stringMatching(warning)]);
});

test('warns of other processes that used the machine, not of a short one', () => {
  const once = changed('Patient read', (_, at) => ({ othersBusy: at === 0 ? 0.4 : 0.01 }));
  expect(warningsOf(once)).toEqual([]);
  const always = changed(undefined, () => ({ othersBusy: 0.2 }));
  expect(warningsOf(always)).toEqual([expect.stringMatching(/other processes used 20 %/)]);
});

test('the generator always limits the constant answer: that is in the table', () => {
  const run = changed('workerd, a constant answer', () => ({ generatorBusy: 1 }));
  expect(warningsOf(run)).toEqual([]);
  expect(reportOf(run)).toMatch(/^ +workerd, a constant answer +7000\*/m);
});

test('a target is held or missed by the median, not by the best round', () => {
  const held = targetsOf(quiet());
  expect(held.map(({ what, isHeld }) => [what, isHeld])).toEqual([
    ['workerd: Patient read, share of hello', true],
    ["workerd: Patient read, the gateway's CPU in bare requests", true],
    // 590 µs in point reads of 100 µs.
    ['workerd: Patient read, PostgreSQL in point reads', false],
    ['workerd: Patient search by identifier, share of hello', true],
    ['workerd: Patient search by identifier, PostgreSQL in point reads', false],
  ]);
  const slow = changed('Patient read', ({ perSecond, cpuMicros }, at) =>
    at === 0 ? {} : { perSecond: perSecond / 1.2, cpuMicros: { ...cpuMicros, gateway: 1100, postgres: 300 } },
  );
  expect(targetsOf(slow).map(({ isHeld }) => isHeld)).toEqual([false, false, true, true, false]);
  expect(reportOf(slow)).toMatch(/Patient read, share of hello .*at least {2}0\.09: 0\.083 .*MISSED/);
  expect(reportOf(slow)).toMatch(/Patient read, PostgreSQL in point reads .*at most {3}3\.00: 3\.00 .*held/);
  expect(reportOf(slow)).toMatch(/^ {2}Patient read .* 300 {3}3\.0 /m);
});

test('a report is at most 120 columns wide', () => {
  const widths = reportOf(quiet())
    .split('\n')
    .map((line) => line.length);
  expect(Math.max(...widths)).toBeLessThanOrEqual(120);
});
