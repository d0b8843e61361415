/**
 * How many connections of one source may be in the middle of a frame. Whoever leaves frames half sent, by intent or by a
 * broken program, takes up that many places and no more, so that the others of the same address are served: where there
 * are too many, the one that was begun first is dropped, since a sender that works has ended his by then.
 */
export interface UnfinishedFrames {
  /** For one connection. @param drop called when others need its place */
  open(source: string, drop: () => void): UnfinishedFrame;
}

export interface UnfinishedFrame {
  /** @param isBegun whether bytes have come that are no whole frame yet */
  watch(isBegun: boolean): void;
}

export function createUnfinishedFrames(maxPerSource: number): UnfinishedFrames {
  /** By source, the one that was begun first in front. */
  const bySource = new Map<string, Set<() => void>>();

  return {
    open(source, drop) {
      let isCounted = false;
      const forget = (): void => {
        isCounted = false;
        const begun = bySource.get(source);
        begun?.delete(dropThis);
        if (begun?.size === 0) bySource.delete(source);
      };
      const dropThis = (): void => {
        forget();
        drop();
      };
      return {
        watch(isBegun) {
          if (isBegun === isCounted) return;
          if (!isBegun) return forget();
          const begun = bySource.get(source) ?? new Set();
          const [oldest] = begun;
          if (begun.size >= maxPerSource) oldest?.();
          isCounted = true;
          bySource.set(source, begun.add(dropThis));
        },
      };
    },
  };
}
