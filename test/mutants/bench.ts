/** Seeded defects of the bench: a check that calls noise a slowdown, or sees none. */
import type { Mutant } from './mutant.ts';

const COMPARE = ['test/unit/bench/compare.test.ts'];
const REPORT = ['test/unit/bench/report.test.ts'];

export const BENCH: readonly Mutant[] = [
  {
    name: 'noise is a slowdown',
    file: 'test/bench/report/compare.ts',
    find: 'const noise = Math.max(own, usual.get(change.figure) ?? 0);',
    replace: 'const noise = Math.max(own, usual.get(change.figure) ?? 0) / 4;',
    tests: COMPARE,
  },
  {
    name: 'rounds that lie close together by chance make noise a slowdown',
    file: 'test/bench/report/compare.ts',
    find: 'Math.max(own, usual.get(change.figure) ?? 0)',
    replace: 'own',
    tests: COMPARE,
  },
  {
    name: 'a slowdown is noise',
    file: 'test/bench/report/compare.ts',
    find: 'isBeyondNoise: changed > noise',
    replace: 'isBeyondNoise: changed > noise * 3',
    tests: COMPARE,
  },
  {
    name: 'on a busy machine no rate is too slow',
    file: 'test/bench/report/compare.ts',
    find: 'const changed = Math.max(change.worse, 1 / change.worse) - 1;',
    replace: 'const changed = Math.abs(change.now[0] / change.before[0] - 1);',
    tests: COMPARE,
  },
  {
    name: 'only the noise of one of the runs counts',
    file: 'test/bench/report/compare.ts',
    find: 'Math.hypot(spread(was), spread(is))',
    replace: 'spread(was)',
    tests: COMPARE,
  },
  {
    name: 'what got faster is told as slower',
    file: 'test/bench/report/compare.ts',
    find: "FIGURES[figure].isBetter === 'higher' ? was[0] / is[0] : is[0] / was[0]",
    replace: "FIGURES[figure].isBetter === 'higher' ? is[0] / was[0] : was[0] / is[0]",
    tests: COMPARE,
  },
  {
    name: 'a run is compared with the oldest that was kept',
    file: 'test/bench/report/compare.ts',
    find: 'history.at(-1)',
    replace: 'history.at(0)',
    tests: COMPARE,
  },
  {
    name: 'a run that failed is as good as any',
    file: 'test/bench/report/compare.ts',
    find: 'comparison.slower.length > 0 || failuresOf(run) > 0',
    replace: 'comparison.slower.length > 0',
    tests: COMPARE,
  },
  {
    name: 'with nothing to compare with all is well',
    file: 'test/bench/report/compare.ts',
    find: 'if (comparison.compared === 0)',
    replace: 'if (comparison.compared < 0)',
    tests: COMPARE,
  },
  {
    name: "the machine's speed is a figure of the gateway",
    file: 'test/bench/report/figures.ts',
    find: 'ofHello: ratios(rates(row), rates(hello)),',
    replace: 'ofHello: rates(row),',
    tests: COMPARE,
  },
  {
    name: 'what another process took is not seen',
    file: 'test/bench/report/figures.ts',
    find: "endpointCpu: ratios(cpu(row, 'endpoint'), cpu(bare, 'endpoint')),",
    replace: "endpointCpu: ratios(cpu(row, 'gateway'), cpu(bare, 'gateway')),",
    tests: COMPARE,
  },
  {
    name: 'the cold round is told',
    file: 'test/bench/rounds.ts',
    find: 'if (round > 0)',
    replace: 'if (round >= 0)',
    tests: REPORT,
  },
  {
    name: 'a target is held by the best round',
    file: 'test/bench/report/targets.ts',
    find: 'figure.median >= target',
    replace: 'figure.high >= target',
    tests: REPORT,
  },
  {
    name: 'a machine that drifts is not warned of',
    file: 'test/bench/report/warnings.ts',
    find: 'drift > DRIFT',
    replace: 'drift > DRIFT * 2',
    tests: REPORT,
  },
  {
    name: 'a load generator that can ask no more is not warned of',
    file: 'test/bench/report/warnings.ts',
    find: 'GENERATOR_IS_LIMIT = 0.9;',
    replace: 'GENERATOR_IS_LIMIT = 9;',
    tests: REPORT,
  },
  {
    name: 'what else runs is not warned of',
    file: 'test/bench/report/warnings.ts',
    find: 'const OTHERS = 0.05;',
    replace: 'const OTHERS = 0.5;',
    tests: REPORT,
  },
];
