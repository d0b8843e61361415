/**
 * The scopes that a condition needs (edge/docs/behaviour.md, FHIR, Scopes). A condition searches, and the answer
 * reveals the result: an error, a location or an id. So it needs scopes beside those of its interaction.
 */
import { requireScopes } from '../oauth/bearer.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Criterion } from '../store/search/kinds.ts';
import type { Condition } from '../store/transaction.ts';
import { readScope, type RequestContext, writeScope } from './interaction.ts';
import { criteriaOf } from './search/request.ts';

type ScopeOf = (type: ResourceType) => string;

/** The scopes of the searched type that a condition needs. */
interface Needed {
  /** For `identifier` and `_id` alone: the client already has what it asks for. */
  readonly byKey: readonly ScopeOf[];
  /** For any other parameter: the answers would reveal what the resource contains. */
  readonly byContent: readonly ScopeOf[];
}

const BOTH = [readScope, writeScope];

const NEEDED: Readonly<Record<Condition['kind'], Needed>> = {
  create: { byKey: [writeScope], byContent: BOTH },
  update: { byKey: [writeScope], byContent: BOTH },
  // A patch shows by its operations what the resource contains.
  patch: { byKey: BOTH, byContent: BOTH },
  // The gateway also looks up plain references, without a scope for the type of the target.
  reference: { byKey: [], byContent: [readScope] },
};

/** Search parameters that find the resource of a write. */
export interface FoundBy {
  readonly criteria: readonly Criterion[];
  /** The parameters' names, for the audit; none where an id in the URL is looked up. */
  readonly names: readonly string[];
}

/** True where each alternative names a value: `[system]|` would ask whether a patient is known to that system. */
const isKey = (criterion: Criterion): boolean =>
  criterion.kind === 'id' || (criterion.kind === 'identifier' && criterion.any.every(({ value }) => value !== null));

/**
 * @param query the search parameters
 * @throws Fault as `criteriaOf`, `forbidden` for a scope that the token lacks, before any resource is searched
 */
export function readCondition(
  context: RequestContext,
  kind: Condition['kind'],
  type: ResourceType,
  query: string,
): FoundBy {
  const criteria = criteriaOf(type, query, context);
  const { byKey, byContent } = NEEDED[kind];
  requireScopes(
    context.caller,
    (criteria.every(isKey) ? byKey : byContent).map((scopeOf) => scopeOf(type)),
  );
  return { criteria, names: [...new Set(new URLSearchParams(query).keys())] };
}

/** True where the token may not read the type: then an answer reveals no more than the request needs. */
export const isBlind = ({ caller }: RequestContext, type: ResourceType): boolean => !caller.scopes.has(readScope(type));
