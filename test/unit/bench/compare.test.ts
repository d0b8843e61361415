/** The changes that the bench reports as slower: no noise, and every larger change. */
import { expect, test } from 'vitest';

import { checkRun, compare, historyText, type Kept, keptOf } from '../../bench/kept.ts';
import { madeRun, type Made, OPERATIONS, randomOf } from './made-run.ts';

const PAIRS = 100;
const READ = 'Patient read';
const READ_ROW = 'workerd: Patient read';

type Changed = Omit<Made, 'random'>;

/** How a run of `now` compares with one of `before`, so many times. */
function pairs(before: Changed, now: Changed) {
  const random = randomOf(42);
  return Array.from({ length: PAIRS }, () =>
    compare(keptOf(madeRun({ ...before, random }), 'before'), keptOf(madeRun({ ...now, random }), 'now')),
  );
}

/** The number of pairs in which the read's figure is reported as slower. */
const seen = (comparisons: ReturnType<typeof pairs>, figure: string): number =>
  comparisons.filter(({ slower }) => slower.some((change) => change.row === READ_ROW && change.figure === figure))
    .length;

const once = (before: Changed, now: Changed) => pairs(before, now)[0];

test('noise alone hardly ever counts as a change, with any load on the machine', () => {
  for (const noise of [0.01, 0.05, 0.1]) {
    const comparisons = pairs({ noise, drift: 2 }, { noise, drift: 2 });
    expect(comparisons[0]?.compared).toBe(OPERATIONS.length * 5);
    // There are five thousand figures.
    expect(comparisons.flatMap(({ slower, faster }) => [...slower, ...faster]).length).toBeLessThan(3);
  }
});

test('with little noise, a change of a fifth in the rate or the CPU of a process is reported', () => {
  const noise = 0.02;
  const usual = { noise, drift: 2 };
  for (const [cost, figure] of [
    [{ time: 1.2 }, 'ofHello'],
    [{ gateway: 1.2 }, 'gatewayCpu'],
    [{ endpoint: 1.2 }, 'endpointCpu'],
    [{ postgres: 1.2 }, 'postgresCpu'],
  ] as const) {
    const comparisons = pairs(usual, { ...usual, costs: { [READ]: cost } });
    expect(seen(comparisons, figure)).toBeGreaterThan(0.95 * PAIRS);
    const others = comparisons.flatMap(({ slower }) => slower.filter((change) => change.figure !== figure));
    expect(others).toEqual([]);
  }
});

test('the noise of either run hides smaller changes', () => {
  const slow = { costs: { [READ]: { time: 1.2 } } };
  expect(seen(pairs({ noise: 0.15 }, { noise: 0.005, ...slow }), 'ofHello')).toBeLessThan(0.1 * PAIRS);
  expect(seen(pairs({ noise: 0.005 }, { noise: 0.15, ...slow }), 'ofHello')).toBeLessThan(0.1 * PAIRS);
});

test('ten times slower is more than the noise of a busy machine', () => {
  const run = (figures: Kept['rows'][string]): Kept => ({
    ...keptOf(madeRun({ random: randomOf(1) }), ''),
    rows: { read: figures },
  });
  const [before, now] = [run({ ofHello: [0.1, 0.04, 0.16] }), run({ ofHello: [0.01, 0.009, 0.012] })];
  expect(compare(before, now).slower).toHaveLength(1);
  expect(compare(now, before).faster).toHaveLength(1);
});

test('one more request to the database is always reported', () => {
  const comparisons = pairs({ noise: 0.2 }, { noise: 0.2, costs: { [READ]: { databaseRequests: 2 } } });
  expect(seen(comparisons, 'databaseRequests')).toBe(PAIRS);
});

test('a faster figure is reported, and is not slower', () => {
  const comparison = once({}, { costs: { [READ]: { time: 0.5, postgres: 0.5 } } });
  expect(comparison?.slower).toEqual([]);
  expect(comparison?.faster.map(({ figure, worse }) => [figure, worse])).toEqual([
    ['ofHello', 0.5],
    ['postgresCpu', expect.closeTo(0.5, 3)],
  ]);
});

const history = (made: Changed = {}) => [keptOf(madeRun({ ...made, random: randomOf(7) }), 'older')];

test('a run is compared with the newest stored figures', () => {
  const slow = madeRun({ random: randomOf(7), costs: { [READ]: { time: 1.5, gateway: 3 } } });
  const [usual] = history();
  const [slowly] = [keptOf(slow, 'slow')];
  if (usual === undefined) throw new Error('none');
  const { text, isWorse } = checkRun(slow, [slowly, usual]);
  expect(isWorse).toBe(true);
  // The worst first.
  expect(text).toMatch(
    /WORSE.*\n.*Patient read.*gateway's CPU.*3\.00 times worse\n.*Patient read.*hello.*1\.50 times worse\n$/,
  );
  expect(checkRun(slow, [usual, slowly])).toMatchObject({ isWorse: false });
  expect(checkRun(slow, [usual, slowly]).text).toContain('nothing is worse');
});

test('an operation of only one run is reported, and does not count as slower', () => {
  const run = madeRun({ random: randomOf(7), operations: [READ, 'new'] });
  const { text, isWorse } = checkRun(run, history({ operations: [READ, 'gone'] }));
  expect(isWorse).toBe(false);
  expect(text).toContain('workerd: gone: stored then, not measured now\n  workerd: new: not stored then\n');
});

test('a run with failures is worse than any', () => {
  const run = madeRun({ random: randomOf(7) });
  expect(checkRun(run, history()).isWorse).toBe(false);
  const failing = run.rows.map((row) => ({ ...row, rounds: row.rounds.map((round) => ({ ...round, failed: 1 })) }));
  expect(checkRun({ ...run, rows: failing }, history()).isWorse).toBe(true);
});

test('without a run to compare with, no result is reported as good', () => {
  const run = madeRun({ random: randomOf(7) });
  expect(() => checkRun(run, [])).toThrow('no figures are stored');
  expect(() => checkRun(run, history({ operations: ['gone'] }))).toThrow('stored for older');
});

test('a run from another machine is marked', () => {
  const run = madeRun({ random: randomOf(7) });
  const machine = { ...run.machine, processor: 'another processor' };
  expect(checkRun({ ...run, machine }, history()).text).toContain('another machine');
});

test('the history is small, a figure a line, and unchanged', () => {
  const entries = history({ noise: 0.1 });
  const text = historyText(entries);
  expect(JSON.parse(text)).toEqual(entries);
  expect(text).toMatch(/^ +"ofHello": \[0\.\d{1,6}, 0\.\d{1,6}, 0\.\d{1,6}\],$/m);
  expect(text.split('\n').length).toBeLessThan(20 + OPERATIONS.length * 7);
  expect(text).not.toContain('perSecond');
});
