/** A thousand requests that grow (test/fuzz/cost.ts), with their CPU time and memory. */
import { expect, test } from 'vitest';

import { LIMITS, measureCosts } from '../fuzz/cost.ts';
import { startFuzzWorld } from './fuzz-world.ts';
import { onOneRuntime } from './on-runtimes.ts';

const SEED = 17;
const SHAPES = 1_000;

onOneRuntime(startFuzzWorld, (subject) => {
  test('the work of a request grows in proportion to its input', async () => {
    const { world, client } = subject();
    const { costs, problems } = await measureCosts(world, {
      shapes: SHAPES,
      seed: SEED,
      part: 1,
      limits: LIMITS,
      client,
    });

    expect(problems).toEqual([]);
    expect(costs).toHaveLength(SHAPES);
    // Some inputs are expensive, so that their growth is measured; how many depends on the machine.
    expect(costs.filter(({ growth }) => growth !== undefined).length).toBeGreaterThan(4);
  });
});
