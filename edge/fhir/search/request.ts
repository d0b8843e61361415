/**
 * The parameters of a search as criteria (FHIR R4 search, 3.1.1). The gateway rejects an unknown parameter by name, because a
 * search without one of its filters answers another question. With `Prefer: handling=lenient` it leaves the parameter out and
 * reports it, where lenient.ts allows that.
 */
import { Fault, type Issue } from '../../../shared/fault.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Criterion } from '../../store/search/kinds.ts';
import { parametersOf } from '../../store/search/parameters.ts';
import type { Related } from '../../store/search/page-selection.ts';
import { addControl, CURSOR, SEARCH_CONTROLS, type SearchControls, searchControls } from '../controls/controls.ts';
import { badParameter, collect, type Pair } from '../controls/faults.ts';
import { pairsOf } from '../controls/pairs.ts';
import { requireAffordableSearch } from '../cost.ts';
import { mayLeaveOut, NEVER_LEFT_OUT } from '../lenient.ts';
import type { Prefer } from '../prefer.ts';
import { criterionOf } from './criterion-of.ts';
import { includedType, includeParameters, notIncluded, type Supported } from './include.ts';
import { namedParameter, unsupportedParameter } from './named-parameter.ts';
import { notRelated, relatedParameter } from './related-parameter.ts';
import type { ValueContext } from './values.ts';

export interface SearchRequest extends SearchControls {
  readonly criteria: readonly Criterion[];
  /** The parameters that were applied, in the order given: the query of `self`. */
  readonly applied: readonly Pair[];
  /** The parameters that were left out with `handling=lenient`. */
  readonly ignored: readonly Issue[];
  /** By the parameters of other resources. */
  readonly related: readonly Related[];
  /** The types of the resources that the answer includes beside the matches. */
  readonly included: readonly ResourceType[];
}

/**
 * A condition must not depend on the time of the request or on a time zone. Equal requests wait for each other, and a
 * transaction determines which of its entries match.
 */
function requireFixed(name: string, criterion: Criterion): void {
  const { kind } = criterion;
  if (kind === 'birth-range' && criterion.isApproximate)
    throw badParameter(name, `${name} cannot have the prefix ap in a condition`);
  if (kind === 'date' && criterion.any.some(({ prefix, range }) => prefix !== 'eq' || range.isLocal))
    throw badParameter(name, `${name} in a condition must be a time with a zone and without a prefix`);
}

/**
 * Criteria without controls, of a condition in a write: `If-None-Exist`, `PUT [type]?…`, `[type]?…` as a reference.
 *
 * @throws Fault `malformed` locating each parameter that cannot be used, or without parameters; `invalid` for too many
 */
export function criteriaOf(type: ResourceType, query: string, context: ValueContext): Criterion[] {
  return readCriteria(type, query, context, requireFixed);
}

/**
 * Criteria without controls.
 *
 * @param check rejects criteria that cannot be used here
 * @throws Fault as `criteriaOf`
 */
export function readCriteria(
  type: ResourceType,
  query: string,
  context: ValueContext,
  check: (name: string, criterion: Criterion) => void = () => undefined,
): Criterion[] {
  const { searches } = context;
  const supported = Object.keys(parametersOf(searches, type));
  const criteria: Criterion[] = [];
  const pairs = pairsOf(query);
  requireAffordableSearch(pairs);
  collect(pairs, ([name, value]) => {
    const named = namedParameter(searches, type, name);
    if (named === undefined)
      throw new Fault('malformed', '', { issues: [unsupportedParameter(searches, type, name, supported)] });
    const criterion = criterionOf(name, named, value, context);
    check(name, criterion);
    criteria.push(criterion);
  });
  if (criteria.length > 0) return criteria;
  throw new Fault('malformed', `a condition needs search parameters: ${supported.join(', ')}`);
}

/** @throws Fault `malformed` locating each parameter that cannot be used; `invalid` for too many */
export function searchRequest(
  type: ResourceType,
  pairs: readonly Pair[],
  prefer: Prefer,
  context: ValueContext & Supported,
): SearchRequest {
  const { searches } = context;
  const includes = includeParameters(context, type);
  const controls = SEARCH_CONTROLS[searches];
  const supported = [...Object.keys(parametersOf(searches, type)), ...includes, ...controls].filter(
    (name) => name !== CURSOR,
  );
  const criteria: Criterion[] = [];
  const chained: Criterion[] = [];
  const having: Related[] = [];
  const included = new Set<ResourceType>();
  const given = new Map<string, string>();
  const applied: Pair[] = [];
  const ignored: Issue[] = [];

  requireAffordableSearch(pairs);
  collect(pairs, ([name, value]) => {
    const named = namedParameter(searches, type, name);
    const related = named === undefined ? relatedParameter(searches, type, name) : undefined;
    const added = includes.includes(name) ? includedType(context, type, name, value) : undefined;
    if (named !== undefined) {
      criteria.push(criterionOf(name, named, value, context));
    } else if (related !== undefined) {
      const criterion = criterionOf(name, related, value, context);
      if (related.kind === 'chained') chained.push(criterion);
      else having.push({ kind: related.kind, type: related.type, criteria: [criterion] });
    } else if (added !== undefined) {
      included.add(added);
    } else if (controls.includes(name)) {
      addControl(given, [name, value]);
    } else {
      const issue =
        notIncluded(context, type, name) ??
        notRelated(searches, type, name) ??
        unsupportedParameter(searches, type, name, supported);
      if (prefer.handling === 'strict') throw new Fault('malformed', issue.message, { issues: [issue] });
      if (!mayLeaveOut(type, name)) {
        const message = `${issue.message}; ${NEVER_LEFT_OUT}`;
        throw new Fault('malformed', message, { issues: [{ ...issue, message }] });
      }
      ignored.push(issue);
      return;
    }
    if (name !== CURSOR) applied.push([name, value]);
  });

  const chosen = searchControls(type, searches, given);
  // A resource has one patient, so all chains are about the same one.
  const chain: Related[] = chained.length === 0 ? [] : [{ kind: 'chained', type: 'Patient', criteria: chained }];
  return {
    ...chosen,
    criteria,
    related: [...chain, ...having],
    included: [...included],
    applied: applied.map(([name, value]) => [name, name === '_count' ? String(chosen.count) : value]),
    ignored,
  };
}
