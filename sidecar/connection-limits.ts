/** Counts connections, in all and by source address, and says when there are too many. */
import type { Metrics, RefusalReason } from './metrics.ts';

export interface ConnectionLimits {
  /** @returns the reason, or a function that gives the place back */
  enter(): RefusalReason | Leave;
  /** The same for the address, once it is known (PROXY protocol). */
  enterAs(address: string): RefusalReason | Leave;
  /** How many are open. */
  open(): number;
}

/** A second call does nothing. */
export type Leave = () => void;

export interface ConnectionMaxima {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

export function createConnectionLimits(maxima: ConnectionMaxima, metrics: Metrics): ConnectionLimits {
  let open = 0;
  const byAddress = new Map<string, number>();

  return {
    enter() {
      if (open >= maxima.maxConnections) return 'too-many-connections';
      open += 1;
      metrics.connections.set(open);
      return once(() => {
        open -= 1;
        metrics.connections.set(open);
      });
    },
    enterAs(address) {
      const count = byAddress.get(address) ?? 0;
      if (count >= maxima.maxConnectionsPerAddress) return 'too-many-connections-of-address';
      byAddress.set(address, count + 1);
      return once(() => {
        const left = (byAddress.get(address) ?? 1) - 1;
        if (left === 0) byAddress.delete(address);
        else byAddress.set(address, left);
      });
    },
    open: () => open,
  };
}

function once(leave: Leave): Leave {
  let hasLeft = false;
  return () => {
    if (hasLeft) return;
    hasLeft = true;
    leave();
  };
}
