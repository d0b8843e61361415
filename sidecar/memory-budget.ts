/** How many bytes of messages are in memory, in all and by source address: what back-pressure goes by. */
import type { Metrics } from './metrics.ts';

export interface MemoryBudget {
  /** A share for one connection. */
  open(address: string): MemoryShare;
}

export interface MemoryShare {
  /** Says how much this connection holds now. */
  set(bytes: number): void;
  /** True while everybody together, or this address, holds more than it may. */
  isOver(): boolean;
  close(): void;
}

export interface MemoryLimits {
  readonly maxHeldBytes: number;
  readonly maxHeldBytesPerAddress: number;
}

export function createMemoryBudget(limits: MemoryLimits, metrics: Metrics): MemoryBudget {
  let total = 0;
  const byAddress = new Map<string, number>();

  const add = (address: string, bytes: number): void => {
    if (bytes === 0) return;
    total += bytes;
    const held = (byAddress.get(address) ?? 0) + bytes;
    if (held === 0) byAddress.delete(address);
    else byAddress.set(address, held);
    metrics.heldBytes.set(total);
  };

  return {
    open(address) {
      let mine = 0;
      const set = (bytes: number): void => {
        add(address, bytes - mine);
        mine = bytes;
      };
      const isOver = (): boolean =>
        total > limits.maxHeldBytes || (byAddress.get(address) ?? 0) > limits.maxHeldBytesPerAddress;
      return { set, isOver, close: () => set(0) };
    },
  };
}
