/** A sidecar before an edge double, for one test; both are stopped when the test ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { onTestFinished } from 'vitest';

import { startEdgeDouble, type EdgeDouble } from './edge-double.ts';
import { connectPeer, type MllpPeer, type PeerOptions } from './mllp-peer.ts';
import { ROOT } from '../services/build.ts';
import { BARE_ENV } from './command-line.ts';
import { makeSecrets } from '../services/secrets.ts';
import { sidecarMetrics } from './sidecar-metrics.ts';
import { startSidecar, type SidecarProcess } from '../services/sidecar.ts';
import { until } from '../services/until.ts';

export interface SidecarSetup {
  readonly edge: EdgeDouble;
  readonly sidecar: SidecarProcess;
  readonly connect: (options?: Partial<PeerOptions>) => Promise<MllpPeer>;
  /** Waits until a metric has the value. @param name as Prometheus writes it, labels included */
  readonly metric: (name: string, isAsWanted: (value: number) => boolean) => Promise<number>;
}

const secrets = makeSecrets();

/**
 * Fills the compile cache of Node (global-setup.ts). A killed program does not write it, and most tests kill their sidecar.
 * Without configuration a sidecar ends by itself.
 */
const compileSidecar = (): Promise<unknown> =>
  once(spawn(process.execPath, [`${ROOT}sidecar/main.ts`], { env: BARE_ENV, stdio: 'ignore' }), 'exit');

let compiled: Promise<unknown> | undefined;

/** @param prepare the double before the sidecar starts */
export async function setUpSidecar(
  env: Readonly<Record<string, string>> = {},
  prepare: (edge: EdgeDouble) => void = () => undefined,
): Promise<SidecarSetup> {
  await (compiled ??= compileSidecar());
  const made = await secrets;
  const edge = await startEdgeDouble(made);
  onTestFinished(() => edge.close());
  prepare(edge);
  const sidecar = await startSidecar({ edgeUrl: edge.url, privateKey: made.sidecarPrivateKey, env });
  onTestFinished(() => sidecar.kill());
  return {
    edge,
    sidecar,
    async connect(options = {}) {
      const peer = await connectPeer({ port: sidecar.port, ...options });
      onTestFinished(() => peer.destroy());
      return peer;
    },
    async metric(name, isAsWanted) {
      const found = await until(`${name} as wanted`, async () => {
        const value = (await sidecarMetrics(sidecar.healthPort)).get(name) ?? 0;
        return isAsWanted(value) ? { value } : undefined;
      });
      return found.value;
    },
  };
}
