/** The upper limits of this machine, measured in the same rounds as the gateway. */
import { Pool } from 'pg';

import { startForked } from './forked.ts';
import type { GatewayStack } from './gateway-stack.ts';
import { serveLimits } from './limits.ts';
import { measure, measureHttp, type Measured, type Spell } from './load.ts';
import { LIMITS } from './report/run.ts';

export interface Calibrator {
  readonly what: (typeof LIMITS)[keyof typeof LIMITS];
  readonly measure: (spell: Spell) => Promise<Measured>;
}

export interface Calibrators {
  readonly calibrators: readonly Calibrator[];
  readonly stop: () => Promise<void>;
}

/** @param stack on workerd; the calibrators call its endpoint and its database */
export async function startCalibrators(stack: GatewayStack): Promise<Calibrators> {
  const { bare, bareHeaders, databaseUrl, watched } = stack;
  const limits = await serveLimits(bare);
  const node = await startForked('bare-node.ts');
  const worker = { gateway: () => [limits.pid] };
  const calibrators: Calibrator[] = [
    {
      what: LIMITS.node,
      measure: (spell) =>
        measureHttp(`http://127.0.0.1:${node.port}`, 200, () => ({ path: '/' }), spell, {
          cpu: { gateway: () => [node.pid] },
        }),
    },
    {
      what: LIMITS.hello,
      measure: (spell) => measureHttp(limits.helloUrl, 200, () => ({ path: '/' }), spell, { cpu: worker }),
    },
    {
      what: LIMITS.bare,
      measure: (spell) =>
        measureHttp(limits.bareUrl, 200, () => ({ path: '/', headers: bareHeaders }), spell, {
          cpu: { ...watched.cpu, ...worker },
          count: watched.count,
        }),
    },
    {
      what: LIMITS.pointRead,
      async measure(spell) {
        const pool = new Pool({ connectionString: databaseUrl, max: spell.connections });
        const question = { name: 'point read', text: bare.query, values: [...bare.params] };
        const send = async (): Promise<number | undefined> =>
          (await pool.query(question)).rowCount === 1 ? undefined : 0;
        try {
          const { postgres = () => [] } = watched.cpu;
          return await measure({ next: () => undefined, send }, spell, { cpu: { postgres } });
        } finally {
          await pool.end();
        }
      },
    },
  ];
  const stop = async (): Promise<void> => {
    await limits.stop();
    await node.stop();
  };
  return { calibrators, stop };
}
