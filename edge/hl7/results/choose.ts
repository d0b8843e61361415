/**
 * Matches the results of a message with stored results of the same result key. Pure. Position alone never identifies a result:
 * an uncertain one is stored beside the others.
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
  /** The position among the results with its key: 1, 2, … */
  readonly place: number;
}

export type Choice<Known> =
  /** It replaces a stored result. */
  | { readonly status: 'known'; readonly known: Known }
  | { readonly status: 'new' }
  /** It is new, although others have its key. */
  | { readonly status: 'unclear' }
  /** It is new, although it corrects a result: no stored one matches for certain. */
  | { readonly status: 'unmatched' };

/**
 * @param sent results of one key, in the order of the message
 * @param candidates stored results that may match
 * @param at the collection time
 * @param isUnidentified only the value distinguishes the results
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
