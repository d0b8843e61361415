/**
 * The work that one request may cause (edge/docs/behaviour.md, Limits). The request alone decides, before the first query. A
 * retry would be rejected too, so the answer is never a retryable one.
 */
import { Fault } from '../../shared/fault.ts';
import { isJsonObject, type Json } from '../../shared/json.ts';
import { RESOURCE_TYPES, type ResourceType } from '../../shared/resource-type.ts';
import type { ResourceWrite } from '../store/resource.ts';
import { fold, spellNames } from '../store/search/fold.ts';
import { typeOf } from '../store/search/kinds.ts';
import { isIndexed } from '../store/search/kinds/name-fragments.ts';
import { parametersOf } from '../store/search/parameters.ts';
import type { Pair } from './controls/faults.ts';
import { alternatives } from './search/values.ts';

/** In one search, with its controls. */
const MAX_PARAMETERS = 64;
/** Alternative values of one parameter, and of all parameters of a search. */
const MAX_VALUES = 500;
const MAX_VALUES_OF_SEARCH = 1000;
/** In all searches and conditions of a bundle, two for each entry; and in all its conditional references. */
const MAX_VALUES_OF_BUNDLE = 2000;
/** Names in all parameters of a search; in all searches and conditions of a bundle. PostgreSQL scans an index for each name. */
const MAX_NAMES = 20;
const MAX_NAMES_OF_BUNDLE = 500;
/** Names without three letters or digits in a row. No index serves them: PostgreSQL reads all names of the site for each. */
const MAX_SHORT_NAMES_OF_BUNDLE = 20;

const NAME_PARAMETERS: ReadonlySet<string> = new Set(
  RESOURCE_TYPES.flatMap((type) =>
    Object.entries(parametersOf('us-core', type)).flatMap(([name, { kind }]) =>
      typeOf(kind) === 'string' ? [name] : [],
    ),
  ),
);

/** The values of a parameter that searches names, with or without a modifier; empty for other parameters. */
const namesIn = (name: string, values: readonly string[]): readonly string[] =>
  NAME_PARAMETERS.has(name.split(':', 1)[0] ?? '') ? values : [];

/** Lists whose items the gateway stores or searches one by one; patients usually have a few. */
const LISTS = ['identifier', 'name', 'telecom', 'address'];
const MAX_LIST = 1000;

/** Identifiers and codes that one request may index: ten for each entry that a bundle may have. */
const MAX_INDEXED = 10_000;
/** Identifiers that one request may lock; all connections of PostgreSQL share one table of locks. */
const MAX_LOCKS = 5000;

function tooCostly(message: string, at?: string): Fault {
  const code = 'too-costly';
  const issues = at === undefined ? [] : [{ code, message, at }];
  return new Fault('invalid', message, { code, issues });
}

/** @throws Fault `invalid` (`too-costly`) for a search, or a condition, that asks for too much at once */
export function requireAffordableSearch(pairs: readonly Pair[]): void {
  if (pairs.length > MAX_PARAMETERS)
    throw tooCostly(`A search may have ${MAX_PARAMETERS} parameters: send several searches.`);
  let all = 0;
  let names = 0;
  for (const [name, value] of pairs) {
    const alternative = alternatives(value);
    const values = alternative.length;
    all += values;
    names += namesIn(name, alternative).length;
    // The message repeats no more of the name than the longest supported one has; a longer name is rejected later.
    if (values > MAX_VALUES)
      throw tooCostly(`A parameter may have ${MAX_VALUES} values: send several searches.`, `http.${name.slice(0, 64)}`);
    if (names > MAX_NAMES)
      throw tooCostly(`A search may look for ${MAX_NAMES} names: send several searches.`, `http.${name.slice(0, 64)}`);
  }
  if (all > MAX_VALUES_OF_SEARCH)
    throw tooCostly(
      `The parameters of a search may have ${MAX_VALUES_OF_SEARCH} values in all: send several searches.`,
    );
}

/** @param queries the queries of the entries' URLs and conditions, or of conditional references */
export function requireAffordableQueries(queries: readonly string[]): void {
  const pairs = queries.flatMap((query) => [...new URLSearchParams(query)]);
  const all = pairs.reduce((sum, [, value]) => sum + alternatives(value).length, 0);
  const whose = 'The searches and conditions of a Bundle may';
  if (all > MAX_VALUES_OF_BUNDLE)
    throw tooCostly(`${whose} have ${MAX_VALUES_OF_BUNDLE} values in all: send several Bundles.`);
  const names = pairs.flatMap(([name, value]) => namesIn(name, alternatives(value)));
  if (names.length > MAX_NAMES_OF_BUNDLE)
    throw tooCostly(`${whose} look for ${MAX_NAMES_OF_BUNDLE} names in all: send several Bundles.`);
  if (names.filter((one) => !isIndexed(spellNames(fold(one)))).length > MAX_SHORT_NAMES_OF_BUNDLE)
    throw tooCostly(
      `${whose} look for ${MAX_SHORT_NAMES_OF_BUNDLE} names without three letters or digits in a row: send several Bundles.`,
    );
}

/** @throws Fault `invalid` (`too-costly`) that locates the list */
export function requireAffordableLists(type: ResourceType, content: Json): void {
  if (!isJsonObject(content)) return;
  for (const name of LISTS) {
    const list = content[name];
    if (Array.isArray(list) && list.length > MAX_LIST)
      throw tooCostly(`A resource may have ${MAX_LIST} items in this list.`, `${type}.${name}`);
  }
}

/**
 * @param writes all writes of one request
 * @param keys the keys that the request locks
 */
export function requireAffordableWrites(
  writes: readonly Pick<ResourceWrite, 'identifiers' | 'tokens'>[],
  keys: readonly string[],
): void {
  const indexed = writes.reduce((sum, { identifiers, tokens }) => sum + identifiers.length + tokens.length, 0);
  if (indexed > MAX_INDEXED)
    throw tooCostly(`A request may write ${MAX_INDEXED} searchable identifiers and codes: send several requests.`);
  if (new Set(keys).size > MAX_LOCKS)
    throw tooCostly(
      `A request may have ${MAX_LOCKS} different identifiers in patients and conditions: send several requests.`,
    );
}
