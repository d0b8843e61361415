/** Any input on any surface: no 5xx, no request hangs, no bug is logged. `npm run fuzz` does the same for longer. */
import { expect, test } from 'vitest';

import { runFuzz } from '../fuzz/fuzz.ts';
import { inputs } from '../stack/tools/size.ts';
import { startFuzzWorld } from './fuzz-world.ts';
import { onRuntimes } from './on-runtimes.ts';

const SEED = 13;
const SURFACES = ['admin', 'bundle', 'document', 'fhir', 'hl7', 'logout', 'mllp', 'page', 'token'];

onRuntimes(startFuzzWorld, (subject) => {
  test('random requests over all surfaces', async () => {
    const { counts, problems } = await runFuzz(subject().world, { requests: inputs(500), seed: SEED });
    expect(problems).toEqual([]);
    expect([...counts.keys()].toSorted()).toEqual(SURFACES);
    // Enough inputs are valid that the first checks do not refuse all requests.
    const accepted = (surface: string) =>
      [...(counts.get(surface) ?? [])].reduce((sum, [status, count]) => sum + (/^20|AA/.test(status) ? count : 0), 0);
    for (const surface of SURFACES) expect(accepted(surface), surface).toBeGreaterThan(5);
  });
});
