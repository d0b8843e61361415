/**
 * Twenty senders resend until acknowledged, through bad networks, while sidecar, edge and PostgreSQL are killed in
 * turn. At the end every message is stored exactly once and in order, and no ACK was false.
 */
import { expect, test } from 'vitest';

import { runFaults } from '../stack/tools/faults.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';
import { partOf, seed as asked, sized } from '../stack/tools/size.ts';

const ROUNDS = sized(1, partOf(100));
const seed = asked ?? Date.now();

test.each(ONE_RUNTIME)(
  'kill -9 of every part in turn, on %s',
  async (runtime) => {
    const report = await runFaults({
      runtime,
      senders: 20,
      rounds: ROUNDS,
      messagesBetween: sized(25, 100),
      seed,
    });
    expect(report.problems, `TEST_SEED=${seed}`).toEqual([]);
    expect(report.kills).toBe(3 * ROUNDS);
    expect(report.cuts).toBeGreaterThan(0);
    expect(report.repeats).toBeGreaterThan(0);
    expect(report.connections).toBeGreaterThan(20);
  },
  sized(240_000, ROUNDS * 60_000),
);
