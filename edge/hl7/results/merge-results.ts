/** Pairs the results of two patients that are merged (edge/docs/behaviour.md, HL7 v2, Which result). Pure. */
import { pairAlike, type AlikeQuery } from './alike-results.ts';
import { areNear } from './asked-results.ts';
import { choose } from './choose.ts';
import type { FiledResult, FiledResults } from './filed-results.ts';
import { closestOf, isUnidentified } from './result-key.ts';

export interface MetResults {
  readonly gone: FiledResult;
  readonly kept: FiledResult;
}

/**
 * Matches the results of `from` with those of `to`, as if a message stated them. Similar keys match last, if each result is the only
 * one for the other.
 */
export function mergeResults(from: string, to: string, results: FiledResults): MetResults[] {
  return (['Observation', 'DiagnosticReport'] as const).flatMap((type) => {
    const moved = results.ofPatient(type, from);
    const equals = Map.groupBy(moved, ({ key }) => JSON.stringify(key));
    // Precise times first: an unknown time matches a result that is left.
    const groups = [...equals.values()].toSorted(([a], [b]) => (b?.at.length ?? 0) - (a?.at.length ?? 0));
    const kept = new Set<FiledResult>();
    const equal = groups.flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const sent = group.toSorted((a, b) => a.place - b.place);
      const candidates = closestOf(
        results.of(type, to, first.key).filter((each) => !kept.has(each)),
        first.key,
      );
      const said = sent.map(({ value, isFinal, precedence }) => {
        return { value, isFinal, precedence, isCorrection: false, isText: false };
      });
      return choose(said, candidates, isUnidentified(first.key)).flatMap((choice, at): MetResults[] => {
        const gone = sent[at];
        if (choice.status !== 'known' || gone === undefined) return [];
        kept.add(choice.known);
        return [{ gone, kept: choice.known }];
      });
    });
    const gone = new Set(equal.map((pair) => pair.gone));
    const rest = moved.filter((each) => !gone.has(each));
    const queries = rest.map((each): AlikeQuery<FiledResult> => {
      return { each, type, key: each.key, size: 1, isNear: (known) => areNear(known, each) };
    });
    const left = results.ofPatient(type, to).filter((each) => !kept.has(each));
    const alike = [...pairAlike(queries, left)].map(([each, known]): MetResults => ({ gone: each, kept: known }));
    return [...equal, ...alike];
  });
}
