/**
 * `DocumentReference/$docref` (US Core, Fetch DocumentReference): a search of the documents of one patient. The gateway generates
 * no documents, so it finds stored ones only.
 */
import { isJsonObject, type Json } from '../../shared/json.ts';
import type { DateRange } from '../store/search/kind.ts';
import type { PlainCriterion } from '../store/search/kinds.ts';
import { CARE_TIME } from '../store/search/kinds/date.ts';
import { parameterOf } from '../store/search/parameters.ts';
import { bundleText } from './bundle-text.ts';
import { CURSOR, FORM_CONTROLS, pageCountOf, readControls } from './controls/controls.ts';
import { badParameter, type Pair } from './controls/faults.ts';
import { pageLinks } from './controls/links.ts';
import { requireAffordableSearch } from './cost.ts';
import type { Interaction, RequestContext } from './interaction.ts';
import { primitiveParameters, textOf } from './operation-input.ts';
import { comparedRange } from './prefixed-date.ts';
import { criterionOf } from './search/criterion-of.ts';
import { prepareSearchRequest } from './search/search.ts';
import { escaped } from './search/values.ts';
import { warningEntries } from './searchset.ts';

const TYPE = 'DocumentReference';
const PATH = `${TYPE}/$docref`;
const PARAMETERS: readonly string[] = [
  'patient',
  'start',
  'end',
  'type',
  'on-demand',
  '_count',
  CURSOR,
  ...FORM_CONTROLS,
];

const NONE_ON_DEMAND =
  'this server generates no documents on demand: without on-demand=true the answer has the stored documents';

/** The text of a value as a GET has it; a Coding is `[system]|[code]`. */
function valueText(value: Json | undefined): string | undefined {
  if (typeof value === 'boolean') return String(value);
  if (!isJsonObject(value)) return textOf(value);
  const { system, code } = value;
  if (typeof code !== 'string') return undefined;
  return typeof system === 'string' ? `${escaped(system)}|${escaped(code)}` : escaped(code);
}

/** The parameters of the body of a POST. @throws Fault as `primitiveParameters` */
export const docrefParameters = (content: Json): Pair[] => primitiveParameters(content, valueText);

type Given = ReadonlyMap<string, string>;

function rangeOf(given: Given, name: 'start' | 'end', now: number): DateRange | undefined {
  const value = given.get(name);
  const range = value === undefined ? undefined : comparedRange(null, value, now);
  if (value === undefined || range !== undefined) return range;
  throw badParameter(name, `${name} must be a date or dateTime such as 2026-01-31 or 2026-01-31T12:00:00Z`);
}

/** The criteria of `start` and `end`: the care ends after the beginning of `start`, and begins before the end of `end`. */
function careOf(given: Given, now: number): PlainCriterion[] {
  const [start, end] = [rangeOf(given, 'start', now), rangeOf(given, 'end', now)];
  if (start !== undefined && end !== undefined && start.isLocal === end.isLocal && start.from >= end.before) {
    throw badParameter('end', 'end must not be before start');
  }
  const beyond = (prefix: 'gt' | 'lt', bound: number | undefined, isLocal = false): PlainCriterion[] =>
    bound === undefined
      ? []
      : [{ kind: 'date', param: CARE_TIME, any: [{ prefix, range: { from: bound, before: bound, isLocal } }] }];
  return [...beyond('gt', start?.from, start?.isLocal), ...beyond('lt', end?.before, end?.isLocal)];
}

function isOnDemand(given: Given): boolean {
  const value = given.get('on-demand') ?? 'false';
  if (value === 'true' || value === 'false') return value === 'true';
  throw badParameter('on-demand', 'on-demand must be true or false');
}

/**
 * @param pairs the parameters of the URL, and of the body of a POST
 * @throws Fault `malformed` locating each parameter that cannot be used
 */
export async function prepareDocref(context: RequestContext, pairs: readonly Pair[]): Promise<Interaction> {
  const { now } = context;
  if (pairs.some(([name]) => name === 'profile')) {
    const message = 'profile is not supported, because the profiles of documents are not indexed: send type';
    throw badParameter('profile', message, 'not-supported');
  }
  const types = pairs.filter(([name]) => name === 'type').map(([, value]) => value);
  const given = readControls(
    pairs.filter(([name]) => name !== 'type'),
    PARAMETERS,
  );
  const patient = given.get('patient');
  if (patient === undefined) throw badParameter('patient', 'patient must be the id of a patient', 'required');
  const count = pageCountOf(given.get('_count'));
  const care = careOf(given, now);
  const onDemand = isOnDemand(given);
  // One id, and types of which a document needs one.
  const filters: Pair[] = [
    ['patient', escaped(patient)],
    ...(types.length === 0 ? [] : [['type', types.join(',')] as const]),
    // Without dates, the current documents are in scope.
    ...(care.length === 0 ? [['status', 'current'] as const] : []),
  ];
  requireAffordableSearch(filters);
  const found = filters.map(([name, value]) => {
    const parameter = parameterOf(TYPE, name, 'us-core');
    if (parameter === undefined) throw new TypeError(`${TYPE} has the parameter ${name}`);
    return criterionOf(name, { parameter, modifier: null }, value, context);
  });
  const applied = pairs.filter(([name]) => name !== CURSOR);
  if (onDemand) {
    const links = await pageLinks(context, PATH, applied).of(null, null);
    const warning = warningEntries([{ code: 'informational', message: NONE_ON_DEMAND }], now);
    const body = bundleText({ type: 'searchset', total: 0 }, links, warning);
    return { audited: 'none', queries: [], answer: () => ({ status: 200, headers: {}, body }) };
  }
  return prepareSearchRequest(
    context,
    TYPE,
    {
      criteria: [...found, ...care],
      related: [],
      included: [],
      ignored: [],
      applied: applied.map(([name, value]) => [name, name === '_count' ? String(count) : value]),
      sort: { by: 'date', param: 'date', descending: true },
      count,
      total: 'none',
      countOnly: false,
      part: null,
      cursor: given.get(CURSOR) ?? null,
    },
    PATH,
  );
}
