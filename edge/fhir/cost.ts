/**
 * The work that one FHIR request may cause (edge/limits.ts). The request alone decides, before the first query.
 */
import { isJsonObject, type Json } from '../../shared/json.ts';
import { ALL_RESOURCE_TYPES, type ResourceType } from '../../shared/resource-type.ts';
import { Budget } from '../limits.ts';
import type { ResourceWrite } from '../store/resource.ts';
import { fold, spellNames } from '../store/search/fold.ts';
import { typeOf } from '../store/search/kinds.ts';
import { isIndexed } from '../store/search/kinds/name-fragments.ts';
import { parametersOf } from '../store/search/parameters.ts';
import type { Pair } from './controls/faults.ts';
import { alternatives } from './search/values.ts';

const NAME_PARAMETERS: ReadonlySet<string> = new Set(
  ALL_RESOURCE_TYPES.flatMap((type) =>
    Object.entries(parametersOf('us-core', type)).flatMap(([name, { kind }]) =>
      typeOf(kind) === 'string' ? [name] : [],
    ),
  ),
);

/** The values of a parameter that searches names, with or without a modifier, or in a chain; empty for other parameters. */
const namesIn = (name: string, values: readonly string[]): readonly string[] =>
  NAME_PARAMETERS.has(name.slice(name.indexOf('.') + 1).split(':', 1)[0] ?? '') ? values : [];

/** A chain, `_has`, `_revinclude`, or the target of Provenance. */
const isRelated = (name: string): boolean => /\.|^_has:|^_revinclude\b|^target$/.test(name);

/** Lists whose items the gateway stores or searches one by one. */
const LISTS = ['identifier', 'name', 'telecom', 'address'];

/** @throws Fault `invalid` (`too-costly`) for a search, or a condition, that asks for too much at once */
export function requireAffordableSearch(pairs: readonly Pair[]): void {
  const budget = new Budget();
  budget.spend('search-parameters', pairs.length);
  for (const [name, value] of pairs) {
    const values = alternatives(value);
    // The message repeats no more of the name than the longest supported one has; a longer name is rejected later.
    const at = `http.${name.slice(0, 64)}`;
    new Budget().spend('parameter-values', values.length, at);
    budget.spend('related-parameters', isRelated(name) ? 1 : 0, at);
    budget.spend('search-names', namesIn(name, values).length, at);
    budget.spend('search-values', values.length);
  }
}

/** @param queries the queries of the entries' URLs and conditions, or of conditional references */
export function requireAffordableQueries(queries: readonly string[]): void {
  const budget = new Budget();
  for (const [name, value] of queries.flatMap((query) => [...new URLSearchParams(query)])) {
    const values = alternatives(value);
    budget.spend('bundle-values', values.length);
    budget.spend('related-parameters', isRelated(name) ? 1 : 0);
    const names = namesIn(name, values);
    budget.spend('bundle-names', names.length);
    budget.spend('bundle-short-names', names.filter((one) => !isIndexed(spellNames(fold(one)))).length);
  }
}

/** @throws Fault `invalid` (`too-costly`) that locates the list */
export function requireAffordableLists(type: ResourceType, content: Json): void {
  if (!isJsonObject(content)) return;
  for (const name of LISTS) {
    const list = content[name];
    if (Array.isArray(list)) new Budget().spend('list-items', list.length, `${type}.${name}`);
  }
  const members = type === 'Group' ? content['member'] : undefined;
  if (Array.isArray(members)) new Budget().spend('group-members', members.length, 'Group.member');
}

/**
 * @param writes all writes of one request
 * @param keys the keys that the request locks
 */
export function requireAffordableWrites(
  writes: readonly Pick<ResourceWrite, 'identifiers' | 'tokens' | 'search'>[],
  keys: readonly string[],
): void {
  const budget = new Budget();
  for (const { identifiers, tokens, search } of writes) {
    budget.spend('indexed-values', identifiers.length + tokens.length);
    budget.spend('indexed-names', search?.names.length ?? 0);
  }
  budget.spend('locked-identifiers', new Set(keys).size);
}
