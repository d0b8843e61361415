/**
 * The conclusion of a report that has only texts (FHIR R4, DiagnosticReport.conclusion). It has the texts as they are stored after
 * the message, each under its name if there are several names. So it quotes no withdrawn text.
 */
import { isJsonObject, objectsOf, printJson, type Json, type JsonObject } from '../../../shared/json.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { referencesIn } from '../mapping/references.ts';
import type { Statement } from '../mapping/statement.ts';
import { isLater, type Precedence } from '../precedence/precedence.ts';
import { later, stampOf } from '../precedence/registers.ts';
import { TEXT } from '../precedence/stated-value.ts';
import type { FiledStatement, Filing } from './file-results.ts';
import type { FiledResults } from './filed-results.ts';
import { isWithdrawn, statusPrecedence } from './result-state.ts';

/** A stored text of a report. */
interface StatedText {
  readonly name: string;
  readonly text: string;
  /** Its sort keys: position in the report, observation, time, place among equals. */
  readonly order: readonly (string | number)[];
}

interface Concluding {
  readonly drafts: Drafts;
  readonly results: FiledResults;
}

/** Concludes the reports of a message, after its statements are applied. */
export function concludeReports(
  statements: readonly Statement[],
  { groups }: Filing,
  patient: Draft,
  { drafts, results }: Concluding,
): void {
  const members = groups.flatMap((group) => group.members);
  const observations = members.filter(({ statement: { type } }) => type === 'Observation');
  rememberPositions(statements, observations, drafts);
  const withTexts = new Set(observations.filter(({ result }) => result.isText).map(({ result: { obr } }) => obr));
  const reports = members.filter(
    ({ statement: { type }, result: { obr }, draft }) =>
      type === 'DiagnosticReport' && (withTexts.has(obr) || draft.content['conclusion'] !== undefined),
  );
  const drafted = new Set(reports.map(({ draft }) => draft));
  concludeEach([...drafted], patient.id, { drafts, results });
}

/** Concludes reports that a merge brought together, if all their results were looked up. */
export function concludeMerged(reports: readonly Draft[], patientId: string, { drafts, results }: Concluding): void {
  const complete = reports.filter((report) => resultsOf(report, drafts).every((each) => each !== undefined));
  concludeEach(complete, patientId, { drafts, results });
}

function concludeEach(reports: readonly Draft[], patientId: string, { drafts, results }: Concluding): void {
  if (reports.length === 0) return;
  const keys = new Map(
    results.ofPatient('Observation', patientId).map(({ draft, key, place }) => [draft, { key, place }]),
  );
  for (const report of reports) conclude(report, keys, drafts);
}

/** A text has the highest position that a message gave it: in a correction of one section the position is 0. */
function rememberPositions(
  statements: readonly Statement[],
  observations: readonly FiledStatement[],
  drafts: Drafts,
): void {
  const places = new Map(statements.map((statement, at) => [statement, at]));
  const placeOf = ({ statement }: FiledStatement): number => places.get(statement) ?? 0;
  const texts = observations.filter(({ result }) => result.isText);
  for (const ofReport of Map.groupBy(texts, ({ result: { obr } }) => obr).values()) {
    const inOrder = ofReport.toSorted((a, b) => placeOf(a) - placeOf(b));
    for (const [position, { draft }] of inOrder.entries()) {
      if (positionOf(draft) < position) drafts.remember(draft, TEXT, '', position);
    }
  }
}

/** -1 for another result. */
function positionOf({ remembered: { registers } }: Draft): number {
  const held = registers.get(TEXT)?.held;
  return held === undefined ? -1 : Number(held);
}

type Keys = ReadonlyMap<Draft, { readonly key: { readonly what: string }; readonly place: number }>;

function conclude(report: Draft, keys: Keys, drafts: Drafts): void {
  const stored = resultsOf(report, drafts);
  const known = stored.filter((each) => each !== undefined);
  const newest = known.map(statusPrecedence).reduce<Precedence>(later, statusPrecedence(report));
  const stamp = stampOf(report.remembered, 'conclusion');
  if (stamp !== '' && isLater(stamp, newest)) return;
  // A result that was not looked up may be withdrawn.
  const isComplete = known.length === stored.length && !isWithdrawn(report);
  const conclusion = isComplete ? conclusionOf(known, keys) : undefined;
  if (conclusion === report.content['conclusion']) return;
  const { conclusion: _, _conclusion: __, ...content } = report.content;
  report.origins.push({ element: 'conclusion', field: 'OBX-5' });
  drafts.rewrite(report, conclusion === undefined ? content : { ...content, conclusion });
  drafts.remember(report, 'conclusion', newest);
}

const resultsOf = ({ content }: Draft, drafts: Drafts): (Draft | undefined)[] =>
  referencesIn(content['result']).map((reference) =>
    drafts.byId('Observation', reference.slice(reference.indexOf('/') + 1)),
  );

/** Undefined if one of the results is neither a text nor an attached document. */
function conclusionOf(results: readonly Draft[], keys: Keys): string | undefined {
  const texts: StatedText[] = [];
  for (const draft of results) {
    const { content } = draft;
    const text = textIn(content);
    if (isWithdrawn(draft) || isAttached(content)) continue;
    if (positionOf(draft) < 0) return undefined;
    const { key, place = 0 } = keys.get(draft) ?? {};
    const order = [positionOf(draft), key?.what ?? '', statusPrecedence(draft).slice(2), place];
    if (text !== '') texts.push({ name: nameIn(content), text, order });
  }
  texts.sort((a, b) => compare(a.order, b.order));
  const named = [...Map.groupBy(texts, ({ name }) => name)];
  const all = named.map(([name, said]) => [name, said.map(({ text }) => text).join('\n')]);
  const sections = all.map(([name, text]) => (all.length === 1 ? text : `${name}:\n${text}`));
  return sections.length === 0 ? undefined : sections.join('\n\n');
}

function compare(a: StatedText['order'], b: StatedText['order']): number {
  const at = a.findIndex((each, n) => each !== b[n]);
  return at < 0 || (a[at] ?? '') < (b[at] ?? '') ? -1 : 1;
}

function textIn({ valueString, valueQuantity }: JsonObject): string {
  if (typeof valueString === 'string') return valueString.trimEnd();
  if (!isJsonObject(valueQuantity)) return '';
  const { comparator, value, unit } = valueQuantity;
  const number = value === undefined ? '' : printJson(value);
  return [`${textOf(comparator)}${number}`, textOf(unit)].filter((part) => part !== '').join(' ');
}

/** A document of the report. */
const isAttached = (content: JsonObject): boolean =>
  [content, ...objectsOf(content['component'])]
    .flatMap(({ extension }) => objectsOf(extension))
    .some(({ valueAttachment }) => valueAttachment !== undefined);

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** The name of a result's code. */
function nameIn({ code }: JsonObject): string {
  if (!isJsonObject(code)) return '';
  const [coding] = objectsOf(code['coding']);
  return [code['text'], coding?.['display'], coding?.['code']].map(textOf).find((each) => each !== '') ?? '';
}
