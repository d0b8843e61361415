/** Any input on any surface: no 5xx, no request hangs, no bug is logged. `npm run fuzz` does the same for longer. */
import { expect, test } from 'vitest';

import { runFuzz } from '../fuzz/fuzz.ts';
import { inputs } from '../stack/tools/size.ts';
import { startFuzzWorld } from './fuzz-world.ts';
import { onOneRuntime } from './on-runtimes.ts';

const SEED = 27;
const SURFACES = ['admin', 'bench', 'bundle', 'document', 'fhir', 'hl7', 'logout', 'mllp', 'page', 'token'];

onOneRuntime(startFuzzWorld, (subject) => {
  test('random requests over all surfaces', async () => {
    // The words that no answer of the bench may have are stored.
    const { world, client } = subject();
    const { rows } = await client.query<{ text: string }>(
      `select coalesce((select string_agg(body, ' ') from resource), '') || coalesce((select string_agg(name, ' ') from api_key), '')
         || coalesce((select string_agg(encode(raw, 'escape'), ' ') from hl7_message), '') as text`,
    );
    for (const word of world.bench.planted.slice(0, -1))
      expect(rows[0]?.text.toLowerCase()).toContain(word.toLowerCase());
    const { counts, problems } = await runFuzz(subject().world, { requests: inputs(500), seed: SEED });
    expect(problems).toEqual([]);
    expect([...counts.keys()].toSorted()).toEqual(SURFACES);
    // Enough inputs are valid that the first checks do not refuse all requests.
    const accepted = (surface: string) =>
      [...(counts.get(surface) ?? [])].reduce((sum, [status, count]) => sum + (/^20|AA/.test(status) ? count : 0), 0);
    for (const surface of SURFACES) expect(accepted(surface), surface).toBeGreaterThan(5);
  });
});
