/** At most `width` pieces of work at one time; the others wait in the order they came. */
export interface ConcurrencyLimit {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createConcurrencyLimit(width: number): ConcurrencyLimit {
  let free = width;
  const waiting: (() => void)[] = [];

  const enter = (): Promise<void> | undefined => {
    if (free > 0) {
      free -= 1;
      return undefined;
    }
    return new Promise((resolve) => void waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };

  return {
    async run(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
