/**
 * Requests that grow (test/fuzz/cost.ts): 60 by growth alone, at a quarter of their largest size. At full size they are 1,000, with
 * their CPU time and memory.
 */
import { expect, test } from 'vitest';

import { LIMITS, measureCosts } from '../fuzz/cost.ts';
import { sized } from '../stack/tools/size.ts';
import { startFuzzWorld } from './fuzz-world.ts';
import { onOneRuntime } from './on-runtimes.ts';

const SEED = 17;
/** Twice the time of other tests. */
const MAX_MS = sized(240_000, 1_800_000);

onOneRuntime(startFuzzWorld, (subject) => {
  test(
    'the work of a request grows in proportion to its input',
    async () => {
      const { world, client } = subject();
      const shapes = sized(24, 1_000);
      const limits = sized(undefined, LIMITS);
      const { costs, problems } = await measureCosts(world, {
        shapes,
        seed: SEED,
        part: sized(1 / 4, 1),
        limits,
        client,
      });

      expect(problems).toEqual([]);
      expect(costs).toHaveLength(shapes);
      // Some inputs are expensive, so that their growth is measured; how many depends on the machine.
      expect(costs.filter(({ growth }) => growth !== undefined).length).toBeGreaterThan(4);
    },
    MAX_MS,
  );
});
