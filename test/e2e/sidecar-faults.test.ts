/**
 * Twenty senders that resend until acknowledged, through bad networks, while sidecar, edge and PostgreSQL are killed in
 * turn: at the end every message is stored exactly once and in order, and no ACK was false. Longer: `npm run soak`.
 */
import { expect, test } from 'vitest';

import { runFaults } from '../stack/tools/faults.ts';
import { RUNTIMES } from '../stack/tools/gateway.ts';

test.each(RUNTIMES)(
  'kill -9 of every part in turn, on %s',
  async (runtime) => {
    const report = await runFaults({ runtime, senders: 20, rounds: 1, messagesBetween: 100, seed: 20_261_121 });
    expect(report.problems).toEqual([]);
    expect(report.kills).toBe(3);
    expect(report.cuts).toBeGreaterThan(0);
    expect(report.repeats).toBeGreaterThan(0);
    expect(report.connections).toBeGreaterThan(20);
  },
  120_000,
);
