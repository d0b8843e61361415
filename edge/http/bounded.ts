/**
 * A cache with limits of bytes and age, separate for each owner. An owner's entries push out no other owner's until all
 * together exceed the limit. Then the owner that has been inactive longest loses entries first. Pure.
 */
export interface Bounds {
  readonly maxBytes: number;
  readonly maxOwnerBytes: number;
  /** Counted from the last `keep`, not from the last `get`. */
  readonly maxAgeMs: number;
}

export interface Bounded<Value> {
  readonly get: (owner: string, key: string, nowMs: number) => Value | undefined;
  /** @param bytes an upper bound of the value's size; more than an owner's limit is not kept */
  readonly keep: (owner: string, key: string, value: Value, bytes: number, nowMs: number) => void;
  readonly forget: (owner: string, key: string) => void;
  /** Drops everything that is too old. */
  readonly sweep: (nowMs: number) => void;
  /** The size of all entries. */
  readonly bytes: () => number;
}

interface Kept<Value> {
  readonly value: Value;
  readonly bytes: number;
  readonly atMs: number;
}

/** The entries of one owner, the oldest first. */
interface Owned<Value> {
  readonly entries: Map<string, Kept<Value>>;
  bytes: number;
}

export function createBounded<Value>({ maxBytes, maxOwnerBytes, maxAgeMs }: Bounds): Bounded<Value> {
  // The owner of the newest entry is last.
  const owners = new Map<string, Owned<Value>>();
  let bytes = 0;

  const drop = (owned: Owned<Value>, key: string): void => {
    const freed = owned.entries.get(key)?.bytes ?? 0;
    owned.entries.delete(key);
    owned.bytes -= freed;
    bytes -= freed;
  };
  /** Drops the oldest entries of an owner while the condition is true. */
  const dropOldest = (owned: Owned<Value>, isToGo: (oldest: Kept<Value>) => boolean): void => {
    for (const [key, kept] of owned.entries) {
      if (!isToGo(kept)) return;
      drop(owned, key);
    }
  };
  const isOld = ({ atMs }: Kept<Value>, nowMs: number): boolean => nowMs - atMs >= maxAgeMs;

  return {
    get: (owner, key, nowMs) => {
      const kept = owners.get(owner)?.entries.get(key);
      return kept === undefined || isOld(kept, nowMs) ? undefined : kept.value;
    },
    keep: (owner, key, value, size, nowMs) => {
      const owned = owners.get(owner) ?? { entries: new Map(), bytes: 0 };
      drop(owned, key);
      owners.delete(owner);
      owners.set(owner, owned);
      if (size > maxOwnerBytes) return;
      owned.entries.set(key, { value, bytes: size, atMs: nowMs });
      owned.bytes += size;
      bytes += size;
      dropOldest(owned, () => owned.bytes > maxOwnerBytes);
      for (const [name, other] of owners) {
        if (bytes <= maxBytes || name === owner) break;
        dropOldest(other, () => bytes > maxBytes);
        if (other.entries.size === 0) owners.delete(name);
      }
    },
    forget: (owner, key) => {
      const owned = owners.get(owner);
      if (owned !== undefined) drop(owned, key);
    },
    sweep: (nowMs) => {
      for (const [name, owned] of owners) {
        dropOldest(owned, (oldest) => isOld(oldest, nowMs));
        if (owned.entries.size === 0) owners.delete(name);
      }
    },
    bytes: () => bytes,
  };
}
