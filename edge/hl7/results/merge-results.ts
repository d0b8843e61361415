/** Pairs the results of two patients that are merged (edge/docs/behaviour.md, HL7 v2, Which result). Pure. */
import { pairAlike, type AlikeQuery } from './alike-results.ts';
import { areNear } from './asked-results.ts';
import { choose } from './choose.ts';
import type { FiledResult, FiledResults } from './filed-results.ts';
import { completionBy, pairsUnder } from './join-orders.ts';
import { closestOf, isUnidentified, type ResultKey } from './result-key.ts';
import { isText } from './result-state.ts';

export interface MetResults {
  readonly gone: FiledResult;
  readonly kept: FiledResult;
  /** As that of `choose`. */
  readonly isDoubtful?: boolean | undefined;
}

export interface MergedResults {
  readonly met: readonly MetResults[];
  /** Texts that stay beside another one (`choose`). */
  readonly beside: readonly FiledResult[];
}

/** The order numbers of a key. */
type Side = 'filler' | 'placer' | 'both' | 'none';

function sideOf({ filler, placer }: ResultKey): Side {
  if (filler !== null && placer !== null) return 'both';
  return filler !== null ? 'filler' : placer !== null ? 'placer' : 'none';
}

/** A result with both order numbers is one with a result under the filler's and with a result under the placer's number. */
const isFree = ({ key }: FiledResult, side: Side, taken: readonly Side[] = []): boolean =>
  taken.length === 0 ||
  (sideOf(key) === 'both' &&
    [...taken, side].every((each) => each === 'filler' || each === 'placer') &&
    !taken.includes(side));

const nameUnderPlacer = ({ what, at, placer }: ResultKey): string => JSON.stringify([what, at, placer?.value]);

/** The keys with both numbers whose placer's number has no other filler's number at their time. */
function ofOneFiller(keys: readonly ResultKey[]): readonly ResultKey[] {
  const orders = Map.groupBy(
    keys.filter(({ filler, placer }) => filler !== null && placer !== null),
    ({ placer, at }) => `${placer?.value} ${at}`,
  );
  return [...orders.values()].filter((of) => new Set(of.map(({ filler }) => filler?.value)).size === 1).flat();
}

/**
 * Matches the results of `from` with those of `to`, as if a message stated them. Similar keys match last, if each result is the only
 * one for the other.
 */
export function mergeResults(from: string, to: string, results: FiledResults): MergedResults {
  const beside: FiledResult[] = [];
  const met = (['Observation', 'DiagnosticReport'] as const).flatMap((type) => {
    const moved = results.ofPatient(type, from);
    const completed = completionBy(ofOneFiller([...moved, ...results.ofPatient(type, to)].map(({ key }) => key)));
    const underPlacer = new Set(moved.flatMap(({ key }) => (key.filler === null ? nameUnderPlacer(key) : [])));
    for (const known of results.ofPatient(type, to)) {
      const key = completed(known.key);
      // A result of the survivor under the placer's number is joined with it below.
      const isAlone = results.of(type, to, key).every((other) => other.key.filler !== null);
      if (key !== known.key && underPlacer.has(nameUnderPlacer(key)) && isAlone) results.refile(known, key);
    }
    const equals = Map.groupBy(moved, ({ key }) => JSON.stringify(key));
    // Precise times first: an unknown time matches a result that is left.
    const groups = [...equals.values()].toSorted(([a], [b]) => (b?.at.length ?? 0) - (a?.at.length ?? 0));
    const kept = new Map<FiledResult, Side[]>();
    const equal = groups.flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const sent = group.toSorted((a, b) => a.place - b.place);
      const side = sideOf(first.key);
      const key = completed(first.key);
      const free = closestOf(
        results.of(type, to, key).filter((each) => isFree(each, side, kept.get(each))),
        key,
      );
      const joined = pairsUnder(key, type === 'DiagnosticReport' ? 1 : group.length, free);
      const others = new Set(joined.map((pair) => pair.gone));
      const candidates = free.filter((each) => !others.has(each));
      for (const other of others) kept.set(other, ['both']);
      const said = sent.map(({ value, isFinal, isCorrected, precedence, draft }) => {
        return { value, isFinal, precedence, isCorrection: isCorrected, isText: isText(draft) };
      });
      const pairs = choose(said, candidates, isUnidentified(first.key)).flatMap((choice, at): MetResults[] => {
        const gone = sent[at];
        if (gone !== undefined && choice.status === 'beside') beside.push(gone);
        if (choice.status !== 'known' || gone === undefined) return [];
        kept.set(choice.known, [...(kept.get(choice.known) ?? []), side]);
        return [{ gone, kept: choice.known, isDoubtful: choice.isDoubtful }];
      });
      return [...pairs, ...joined];
    });
    const gone = new Set([...equal.map((pair) => pair.gone), ...beside]);
    const rest = moved.filter((each) => !gone.has(each));
    const queries = rest.map((each): AlikeQuery<FiledResult> => {
      return { each, type, key: each.key, size: 1, isNear: (known) => areNear(known, each) };
    });
    const left = results.ofPatient(type, to).filter((each) => !kept.has(each));
    const alike = [...pairAlike(queries, left)].map(([each, known]): MetResults => ({ gone: each, kept: known }));
    return [...equal, ...alike];
  });
  return { met, beside };
}
