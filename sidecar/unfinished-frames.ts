/**
 * Limits the connections of one source with an incomplete frame, so that abandoned frames cannot use up the source's
 * memory. Above the limit the oldest frame is dropped, since a working sender has completed its frame by then.
 */
export interface UnfinishedFrames {
  /** Opens the entry of one connection. @param drop closes the connection when another needs its place */
  open(source: string, drop: () => void): UnfinishedFrame;
}

interface UnfinishedFrame {
  /** @param isBegun true while an incomplete frame is buffered */
  watch(isBegun: boolean): void;
}

export function createUnfinishedFrames(maxPerSource: number): UnfinishedFrames {
  /** By source; the oldest frame is the first. */
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
