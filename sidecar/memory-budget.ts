/** Counts the bytes of messages in memory, in total and by source address, for back-pressure. */
import type { Metrics } from './metrics.ts';

export interface MemoryBudget {
  /** Opens the share of one connection. */
  open(address: string): MemoryShare;
}

export interface MemoryShare {
  /** Sets the bytes that this connection holds now. */
  set(bytes: number): void;
  /** True if all connections together, or those of this address, exceed their limit. */
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
