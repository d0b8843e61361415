/**
 * Finds the resource of each result in a message: a stored one, or a new one beside the others (edge/docs/behaviour.md, HL7 v2,
 * Which result). An uncertain result gets a warning, an uncertain correction also an issue to review.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { note, quietly, type MapContext } from '../mapping/context.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import type { ResultStatement, Statement } from '../mapping/statement.ts';
import { choose, type Choice } from './choose.ts';
import type { FiledResult, FiledResults } from './filed-results.ts';
import { isUnidentified, mayBeSame, resultKeyOf, type KeyContext, type ResultKey } from './result-key.ts';

/** `hl7_matches` finds at most one more. */
const MAX_EQUAL_RESULTS = 5000;

interface Request {
  readonly drafts: Drafts;
  readonly results: FiledResults;
  readonly context: MapContext;
  readonly keyContext: KeyContext;
  readonly newId: () => string;
}

interface Keyed {
  readonly statement: Statement;
  readonly result: ResultStatement;
  readonly key: ResultKey;
}

/** @returns the resources of results, by the segment at which they begin */
export function fileResults(
  statements: readonly Statement[],
  patient: Draft,
  request: Request,
): ReadonlyMap<Segment, Draft> {
  const filed = new Map<Segment, Draft>();
  const keyed = statements.flatMap((statement): Keyed[] => {
    const { result } = statement;
    return result === undefined ? [] : [{ statement, result, key: resultKeyOf(result.sent, request.keyContext) }];
  });
  const groups = Map.groupBy(keyed, ({ statement: { type }, key }) => JSON.stringify([type, key]));
  const asked = [...groups.values()].map((group) => ({
    group,
    candidates: candidatesFor(group, patient, request.results),
  }));
  // A stored result with an unknown time belongs to a group that finds no result with its time.
  const isExact = ({ group: [first], candidates }: (typeof asked)[number]): boolean =>
    candidates.some(({ at }) => at === first?.key.at);
  const used = new Set<Draft>();
  for (const { group, candidates } of [...asked.filter(isExact), ...asked.filter((each) => !isExact(each))])
    fileEquals(group, candidates, used, patient, request, filed);
  return filed;
}

function candidatesFor([first]: readonly Keyed[], patient: Draft, results: FiledResults): readonly FiledResult[] {
  if (first === undefined) return [];
  return results.of(first.statement.type, patient.id, first.key).filter((known) => mayBeSame(known.key, first.key));
}

/**
 * Files the results of one key. OBR with equal keys are one report.
 *
 * @param used stored results that the message has stated already. Grows.
 */
function fileEquals(
  group: readonly Keyed[],
  candidates: readonly FiledResult[],
  used: Set<Draft>,
  patient: Draft,
  request: Request,
  filed: Map<Segment, Draft>,
): void {
  const [first] = group;
  if (first === undefined) return;
  const { key, statement } = first;
  const { type } = statement;
  const isReport = type === 'DiagnosticReport';
  const stating = isReport ? [first] : group;
  const equals = candidates.filter((known) => known.at === key.at).length;
  if (equals > MAX_EQUAL_RESULTS) {
    const message = `More than ${MAX_EQUAL_RESULTS} stored results have the order number, code and time of this one.`;
    note(request.context, 'E', '207', locate(statement.segment), message, 'too-many-resources');
  }
  const quiet = quietly(request.context);
  const sent = stating.map(({ result }) => ({ value: result.value(quiet), isCorrection: result.isCorrection }));
  const free = candidates.filter(({ draft }) => !used.has(draft));
  const choices = choose(sent, free, key.at, isUnidentified(key));

  let place = Math.max(0, ...candidates.map((known) => known.place));
  for (const [at, choice] of choices.entries()) {
    const keyedOne = stating[at] ?? first;
    const draft = choice.status === 'known' ? choice.known.draft : request.drafts.create(type, request.newId());
    if (choice.status === 'known') request.results.refile(choice.known, key);
    else request.results.file(draft, patient.id, key, (place += 1));
    used.add(draft);
    for (const { statement: each } of isReport ? group : [keyedOne]) filed.set(each.segment, draft);
    noteUncertain(choice, keyedOne.statement, draft, patient, request.context);
  }
}

function noteUncertain(
  { status }: Choice<FiledResult>,
  { type, segment }: Statement,
  draft: Draft,
  patient: Draft,
  context: MapContext,
): void {
  if (status === 'unclear') {
    const message = 'Several stored results have this order number, code and time. This result was stored beside them.';
    note(context, 'W', '205', locate(segment), message, 'result-unclear');
  }
  if (status === 'unmatched') {
    const message = 'This correction matches no stored result, or several. It was stored beside them.';
    note(context, 'W', '205', locate(segment), message, 'correction-unmatched');
    context.attend({
      kind: 'correction-unmatched',
      patients: [patient.id],
      about: `${type}/${draft.id}`,
      detail: { at: locate(segment) },
    });
  }
}
