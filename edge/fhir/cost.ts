/**
 * What one request may ask of the database (edge/docs/behaviour.md, Limits): told from the request alone and refused before the
 * database is asked. Sent again it is refused again, so it is never "come again later".
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

/** Of one search, controls among them. */
const MAX_PARAMETERS = 64;
/** Values of one parameter, any of which is enough, and of all of a search. */
const MAX_VALUES = 500;
const MAX_VALUES_OF_SEARCH = 1000;
/** Of all searches and conditions of a bundle's entries: two for each that it may have; and of its conditional references. */
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

/** What each patient has a few of, and each of which is stored, or looked for, by itself. */
const LISTS = ['identifier', 'name', 'telecom', 'address'];
const MAX_LIST = 1000;

/** Identifiers and codes by which what is written is found: ten for each entry that a bundle may have. */
const MAX_INDEXED = 10_000;
/** Numbers that are held until the request ends; all that are connected share one table of locks. */
const MAX_HELD = 5000;

function tooCostly(message: string, at?: string): Fault {
  const code = 'too-costly';
  const issues = at === undefined ? [] : [{ code, message, at }];
  return new Fault('invalid', message, { code, issues });
}

/** @throws Fault `invalid` (`too-costly`) for a search, or a condition, that asks for too much at once */
export function requireAffordableSearch(pairs: readonly Pair[]): void {
  if (pairs.length > MAX_PARAMETERS) throw tooCostly(`a search may have ${MAX_PARAMETERS} parameters: send several`);
  let all = 0;
  let names = 0;
  for (const [name, value] of pairs) {
    const alternative = alternatives(value);
    const values = alternative.length;
    all += values;
    names += namesIn(name, alternative).length;
    // Only a name that is no longer than ours may be repeated; a longer one is refused for itself.
    if (values > MAX_VALUES)
      throw tooCostly(`a parameter may have ${MAX_VALUES} values: send several searches`, `http.${name.slice(0, 64)}`);
    if (names > MAX_NAMES)
      throw tooCostly(`a search may look for ${MAX_NAMES} names: send several searches`, `http.${name.slice(0, 64)}`);
  }
  if (all > MAX_VALUES_OF_SEARCH)
    throw tooCostly(`the parameters of a search may have ${MAX_VALUES_OF_SEARCH} values in all: send several`);
}

/** @param queries of the entries' URLs and conditions, or of conditional references */
export function requireAffordableQueries(queries: readonly string[]): void {
  const pairs = queries.flatMap((query) => [...new URLSearchParams(query)]);
  const all = pairs.reduce((sum, [, value]) => sum + alternatives(value).length, 0);
  const whose = 'the searches and conditions of a Bundle may';
  if (all > MAX_VALUES_OF_BUNDLE) throw tooCostly(`${whose} have ${MAX_VALUES_OF_BUNDLE} values in all: send several`);
  const names = pairs.flatMap(([name, value]) => namesIn(name, alternatives(value)));
  if (names.length > MAX_NAMES_OF_BUNDLE)
    throw tooCostly(`${whose} look for ${MAX_NAMES_OF_BUNDLE} names in all: send several`);
  if (names.filter((one) => !isIndexed(spellNames(fold(one)))).length > MAX_SHORT_NAMES_OF_BUNDLE)
    throw tooCostly(
      `${whose} look for ${MAX_SHORT_NAMES_OF_BUNDLE} names without three letters or digits in a row: send several`,
    );
}

/** @throws Fault `invalid` (`too-costly`) that locates the list */
export function requireAffordableLists(type: ResourceType, content: Json): void {
  if (!isJsonObject(content)) return;
  for (const name of LISTS) {
    const list = content[name];
    if (Array.isArray(list) && list.length > MAX_LIST)
      throw tooCostly(`there may be ${MAX_LIST} of them in a resource`, `${type}.${name}`);
  }
}

/**
 * @param writes of one request
 * @param held what is held until it ends
 */
export function requireAffordableWrites(
  writes: readonly Pick<ResourceWrite, 'identifiers' | 'tokens'>[],
  held: readonly string[],
): void {
  const indexed = writes.reduce((sum, { identifiers, tokens }) => sum + identifiers.length + tokens.length, 0);
  if (indexed > MAX_INDEXED)
    throw tooCostly(`a request may write ${MAX_INDEXED} identifiers and codes that are searched for: send several`);
  if (new Set(held).size > MAX_HELD)
    throw tooCostly(`a request may be about ${MAX_HELD} different numbers of patients and conditions: send several`);
}
