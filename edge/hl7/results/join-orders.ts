/**
 * Joins results under the placer's number alone with results under the filler's number alone. A message that names both numbers
 * shows that they are of one order.
 */
import { sortedJson, type JsonObject } from '../../../shared/json.ts';
import type { Draft } from '../mapping/drafts.ts';
import { referringTo } from '../mapping/references.ts';
import { union } from '../precedence/apply.ts';
import type { Asked, FilingRequest } from './asked-results.ts';
import type { FiledResult } from './filed-results.ts';
import type { ResultKey } from './result-key.ts';

/** Two stored results that are one. */
export interface JoinedResults {
  readonly kept: FiledResult;
  readonly gone: FiledResult;
}

/** Joins the records of each pair. The patient's other results then refer to the kept record. */
export function joinOrders(asked: Asked[], patient: Draft, { drafts, results }: FilingRequest): JoinedResults[] {
  const joined = asked.flatMap((each, at) => {
    const pairs = pairsOf(each);
    const gone = new Set(pairs.map((pair) => pair.gone));
    if (gone.size > 0) asked[at] = { ...each, candidates: each.candidates.filter((known) => !gone.has(known)) };
    return pairs;
  });
  if (joined.length === 0) return joined;
  const stays = new Map(joined.map(({ kept, gone }) => [nameOf(gone.draft), nameOf(kept.draft)]));
  for (const { kept, gone } of joined) {
    drafts.absorb(kept.draft, { ...gone.draft, content: referringTo(gone.draft.content, stays) });
    const { _status: _, ...content } = gone.draft.content;
    drafts.rewrite(gone.draft, { ...content, status: 'entered-in-error' });
    results.remove(gone.draft);
  }
  const others = TYPES.flatMap((type) => results.ofPatient(type, patient.id));
  for (const { draft } of others) {
    const renamed = referringTo(draft.content, stays);
    if (sortedJson(renamed) !== sortedJson(draft.content)) drafts.rewrite(draft, withEachResultOnce(renamed));
  }
  return joined;
}

const TYPES = ['Observation', 'DiagnosticReport'] as const;
const nameOf = ({ type, id }: Draft): string => `${type}/${id}`;

/** As many under each number as the message has: they are paired in order. */
function pairsOf({ group, candidates }: Asked): JoinedResults[] {
  const [{ key, statement }] = group;
  if (key.filler === null || key.placer === null) return [];
  const size = statement.type === 'DiagnosticReport' ? 1 : group.length;
  const inOrder = (isOf: (key: ResultKey) => boolean): FiledResult[] =>
    candidates.filter((known) => isOf(known.key)).toSorted((a, b) => a.place - b.place);
  const ofFiller = inOrder(({ filler, placer }) => filler !== null && placer === null);
  const ofPlacer = inOrder(({ filler, placer }) => filler === null && placer !== null);
  if (ofFiller.length !== size || ofPlacer.length !== size) return [];
  return ofFiller.flatMap((kept, at): JoinedResults[] => {
    const gone = ofPlacer[at];
    return gone === undefined ? [] : [{ kept, gone }];
  });
}

function withEachResultOnce(content: JsonObject): JsonObject {
  const list = content['result'];
  return Array.isArray(list) ? { ...content, result: union([], list) } : content;
}
