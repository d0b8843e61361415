/**
 * Matches the results of a message with stored results of the same result key. Pure. Position alone never identifies a result:
 * an uncertain one is stored beside the others.
 */
import { linesOf } from '../precedence/value-text.ts';
import { isLater, type Precedence } from '../precedence/precedence.ts';

export interface SentResult {
  /** OBX-5, as `valueText` prints it. */
  readonly value: string;
  /** Corrected, wrong or deleted (table 0085: C, W, D). */
  readonly isCorrection: boolean;
  /** OBX-2 is TX or FT. */
  readonly isText: boolean;
  readonly isFinal: boolean;
  readonly precedence: Precedence;
}

export interface KnownResult {
  readonly value: string;
  /** As `collectionTime`. */
  readonly at: string;
  /** The position among the results with its key: 1, 2, … */
  readonly place: number;
  /** A newer final message no longer had it (`left-results.ts`). */
  readonly isMissing: boolean;
  readonly isFinal: boolean;
  readonly isCorrected: boolean;
  /** The newest of its status. */
  readonly precedence: Precedence;
}

export type Choice<Known> =
  /** It replaces a stored result. */
  | {
      readonly status: 'known';
      readonly known: Known;
      /** Both are final texts, and one is much shorter: it may have been an addendum to another text. */
      readonly isDoubtful?: boolean;
    }
  | { readonly status: 'new' }
  /** It is new, although others have its key. */
  | { readonly status: 'unclear' }
  /** It is a much shorter text than the older final one, such as an addendum, and does not replace it. */
  | { readonly status: 'beside' }
  /** It is new, although it corrects a result: no stored one matches for certain. */
  | { readonly status: 'unmatched' };

/**
 * Equal values first, then in order: as many as are stored, or a correction of all of them.
 *
 * @param sent results of one key, in the order of the message
 * @param candidates stored results that may match, equally close
 * @param isUnidentified only the value distinguishes the results
 */
export function choose<Known extends KnownResult>(
  sent: readonly SentResult[],
  candidates: readonly Known[],
  isUnidentified: boolean,
): Choice<Known>[] {
  if (candidates.length === 0) return sent.map(({ isCorrection }) => ({ status: isCorrection ? 'unmatched' : 'new' }));
  const all = candidates.toSorted((a, b) => a.place - b.place);
  const present = all.filter(({ isMissing }) => !isMissing);
  const pool = [present, all].find(({ length }) => length === sent.length);
  const usable = pool ?? [...present, ...all.filter(({ isMissing }) => isMissing)];

  const equal = matchEqual(sent, usable);
  const used = new Set(equal);
  const rest = usable.filter((known) => !used.has(known));
  const isCorrected = isCorrectionOf(sent, present);
  const isOneTime = new Set(all.map(({ at }) => at)).size === 1;
  const inOrder = (pool !== undefined || isCorrected) && isOneTime && !isUnidentified ? [...rest] : [];
  return sent.map((each, at) => {
    const known = equal[at];
    if (known !== undefined) return { status: 'known', known };
    const next = inOrder.shift() ?? (sent.length === 1 ? onlyText(each, rest) : undefined);
    if (next === undefined) return { status: each.isCorrection ? 'unmatched' : 'unclear' };
    return textChoice(each, next);
  });
}

/** The newer of both are corrections of all, and not fewer. */
function isCorrectionOf(sent: readonly SentResult[], present: readonly KnownResult[]): boolean {
  if (sent.length >= present.length && sent.every(({ isCorrection }) => isCorrection)) return true;
  const isNewer = ({ isCorrected, precedence }: KnownResult): boolean =>
    isCorrected && sent.every((each) => isLater(precedence, each.precedence));
  return sent.length <= present.length && present.every(isNewer);
}

/** The first free result with an equal value for each sent one. */
function matchEqual<Known extends KnownResult>(
  sent: readonly SentResult[],
  usable: readonly Known[],
): (Known | undefined)[] {
  const free = Map.groupBy(usable.toReversed(), ({ value }) => value);
  return sent.map(({ value }) => free.get(value)?.pop());
}

/** The one text among several that is about as long: an addendum beside a report has a few lines. */
function onlyText<Known extends KnownResult>(text: SentResult, known: readonly Known[]): Known | undefined {
  if (!text.isText) return undefined;
  const size = linesOf(text.value);
  const alike = known.filter(
    ({ value, isMissing }) => !isMissing && isHalf(size, linesOf(value)) && isHalf(linesOf(value), size),
  );
  return alike.length === 1 ? alike[0] : undefined;
}

/** A final text is replaced by a correction, or by a newer text that has at least half of its lines. */
function textChoice<Known extends KnownResult>(sent: SentResult, known: Known): Choice<Known> {
  const replaced = { status: 'known', known } as const;
  if (!sent.isText || !sent.isFinal || !known.isFinal) return replaced;
  const isNewer = isLater(sent.precedence, known.precedence);
  const [said, stored] = [linesOf(sent.value), linesOf(known.value)];
  const [newer, older] = isNewer ? [said, stored] : [stored, said];
  if (isHalf(newer, older) && isHalf(older, newer)) return replaced;
  const isCorrected = isNewer ? sent.isCorrection : known.isCorrected;
  return isCorrected || isHalf(newer, older) ? { ...replaced, isDoubtful: true } : { status: 'beside' };
}

const isHalf = (newer: number, older: number): boolean => newer * 2 >= older;
