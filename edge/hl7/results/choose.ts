/**
 * Which of the known results the results of a message mean that nothing in their keys tells apart. Pure. Nothing is ever
 * told by position alone: what is not clear is kept beside the others.
 */
export interface SentResult {
  /** OBX-5, as `valueText` prints it. */
  readonly value: string;
  /** Corrected, wrong or deleted (table 0085: C, W, D). */
  readonly isCorrection: boolean;
}

export interface KnownResult {
  readonly value: string;
  /** As `collectionTime`. */
  readonly at: string;
  /** Among those that have its key: 1, 2, … */
  readonly place: number;
}

/** What a result of the message stands for. */
export type Choice<Known> =
  /** It says of this one what holds now. */
  | { readonly status: 'known'; readonly known: Known }
  | { readonly status: 'new' }
  /** New, though there are others with its key. */
  | { readonly status: 'unclear' }
  /** New, though it corrects something: which is not clear. */
  | { readonly status: 'unmatched' };

/**
 * @param sent those of one key, in the order of the message
 * @param candidates what may be the same
 * @param at when they were collected
 * @param isUnidentified nothing but the value tells them from others
 */
export function choose<Known extends KnownResult>(
  sent: readonly SentResult[],
  candidates: readonly Known[],
  at: string,
  isUnidentified: boolean,
): Choice<Known>[] {
  const exact = candidates.filter((known) => known.at === at);
  const left = (exact.length > 0 ? exact : candidates).toSorted((a, b) => a.place - b.place);
  if (left.length === 0) return sent.map(({ isCorrection }) => ({ status: isCorrection ? 'unmatched' : 'new' }));

  const isOneTime = new Set(left.map((known) => known.at)).size === 1;
  if (left.length === sent.length && isOneTime && !isUnidentified) {
    return left.map((known) => ({ status: 'known', known }));
  }
  const free = Map.groupBy(left.toReversed(), (each) => each.value);
  return sent.map(({ value, isCorrection }) => {
    const known = free.get(value)?.pop();
    if (known === undefined) return { status: isCorrection ? 'unmatched' : 'unclear' };
    return { status: 'known', known };
  });
}
