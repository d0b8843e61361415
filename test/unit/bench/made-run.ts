/** Runs of the bench as they would come of a machine whose speed and noise are known. */
import type { Measured } from '../../bench/load.ts';
import { LIMITS, type Row, type Run } from '../../bench/report.ts';

/** How many times more than usual an operation takes. */
interface Cost {
  readonly time?: number;
  readonly gateway?: number;
  readonly endpoint?: number;
  readonly postgres?: number;
  readonly databaseRequests?: number;
}

export interface Made {
  readonly random: () => number;
  /** Standard deviation of each figure, as a share of it. */
  readonly noise?: number;
  /** How many times slower the machine may be in one round than in another, all that is measured alike. */
  readonly drift?: number;
  /** By the operation's name. */
  readonly costs?: Readonly<Record<string, Cost>>;
  readonly operations?: readonly string[];
}

const ROUNDS = 5;
export const OPERATIONS = ['Patient read', 'Patient search by identifier', ...'a b c d e f g h'.split(' ')];

/** The same numbers for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** From the normal distribution around 1 (Box and Muller). */
const around = (random: () => number, noise: number): number =>
  1 + noise * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

export function madeRun({ random, noise = 0, drift = 1, costs = {}, operations = OPERATIONS }: Made): Run {
  const slowness = Array.from({ length: ROUNDS }, () => 1 + random() * (drift - 1));
  const rounds = (perSecond: number, cpu: Readonly<Record<string, number>>, cost: Cost = {}): Measured[] =>
    slowness.map((slow) => {
      const noisy = (value: number): number => value * around(random, noise);
      const rate = noisy(perSecond) / slow / (cost.time ?? 1);
      return {
        answers: Math.round(rate * 1.5),
        perSecond: rate,
        p50Ms: 16_000 / rate,
        p95Ms: 20_000 / rate,
        p99Ms: 30_000 / rate,
        failed: 0,
        statuses: {},
        cpuMicros: Object.fromEntries(
          Object.entries(cpu).map(([name, micros]) => [
            name,
            noisy(micros) * slow * (name === 'load' ? 1 : (cost[name as 'gateway' | 'endpoint' | 'postgres'] ?? 1)),
          ]),
        ),
        databaseRequests: cost.databaseRequests ?? 1,
        generatorBusy: 0.3,
        othersBusy: 0.01,
      };
    });
  const limit = (what: string, perSecond: number, cpu: Readonly<Record<string, number>>): Row => ({
    group: 'limit',
    what,
    rounds: rounds(perSecond, { ...cpu, load: 100 }),
  });
  return {
    at: '2026-11-22T11:00:00.000Z',
    commit: '0123456789ab',
    machine: { processor: 'a processor', cores: 2, memoryGb: 24, kernel: '6' },
    versions: { Node: '24.0.0' },
    rows: [
      limit(LIMITS.hello, 7000, { gateway: 130 }),
      limit(LIMITS.bare, 1300, { gateway: 800, endpoint: 400, postgres: 200 }),
      limit(LIMITS.pointRead, 9000, { postgres: 100 }),
      ...operations.map((what): Row => ({
        group: 'workerd',
        what,
        rounds: rounds(700, { gateway: 950, endpoint: 600, postgres: 590, load: 150 }, costs[what]),
      })),
    ],
  };
}
