/** A sidecar before an edge double, for one test; both are stopped when the test ends. */
import { onTestFinished } from 'vitest';

import { startEdgeDouble, type EdgeDouble } from './edge-double.ts';
import { connectPeer, type MllpPeer, type PeerOptions } from './mllp-peer.ts';
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

/** @param prepare the double before the sidecar starts */
export async function setUpSidecar(
  env: Readonly<Record<string, string>> = {},
  prepare: (edge: EdgeDouble) => void = () => undefined,
): Promise<SidecarSetup> {
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
