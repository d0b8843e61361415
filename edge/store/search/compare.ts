/** Compares columns with search values in SQL, and tokens in memory. */
import type { Bind } from '../sql.ts';
import type { Each, Token } from './kind.ts';

/** `=` for one value, so that the index also gives the order; `any` for several. */
export function oneOf(column: string, values: readonly string[], cast: string, bind: Bind): string {
  const [only] = values;
  if (only === undefined) return 'false';
  return values.length === 1
    ? `${column} = ${bind(only)}::${cast}`
    : `${column} = any (${bind([...new Set(values)])}::${cast}[])`;
}

/** A value of so many UTF-16 units never needs a digest as its key (SQL function search_key: 600 bytes). */
const SHORT_KEY_LENGTH = 200;

const isShort = (value: string): boolean => value.length <= SHORT_KEY_LENGTH;

/** True where the token itself is what the search tables contain. */
export const hasShortKeys = ({ system, value }: Token): boolean => isShort(system ?? '') && isShort(value ?? '');

/** A criterion with tokens. */
export interface Tokens {
  readonly any: readonly Token[];
  /** The SQL of one token instead; null as in Token. */
  readonly found?: Token;
}

/** The columns of a table of tokens, in SQL. `none`: an absent system. `content`: what they have for a text. */
export interface TokenColumns {
  readonly value: string;
  readonly system: string;
  readonly none: string;
  readonly content: (text: string, isShort: boolean) => string;
}

/**
 * The indexes of systems omit rows without a system. Only a search by system alone has that condition in the same words. So no
 * estimate makes PostgreSQL read all codes of a type through them.
 */
export function tokenSql(columns: TokenColumns, alias: string, { any, found }: Tokens, bind: Bind): string {
  const [column, systems] = [`${alias}.${columns.value}`, `${alias}.${columns.system}`];
  const contentOf = (value: string): string => columns.content(bind(value), isShort(value));
  const keys: string[] = [];
  const partsOf = ({ system, value }: Token): string =>
    [
      ...(value === null ? [] : [`${column} = ${value}`]),
      ...(system === null ? [] : [`${systems} = ${system}`]),
      ...(value === null ? [`(${systems} <> ${columns.none}) is true`] : []),
    ].join(' and ');
  if (found !== undefined)
    return found.value === null
      ? partsOf(found)
      : `${column} = ${found.value} and (${found.system} is null or ${systems} = ${found.system})`;
  const alternatives = any.map(({ system, value }) => {
    const key = value === null ? null : contentOf(value);
    if (key !== null) keys.push(key);
    return partsOf({ value: key, system: system === null ? null : contentOf(system) });
  });
  if (alternatives.length === 1) return alternatives.join('');
  // One array has all values, which is a condition on the index. As a subquery it is computed once, and not for each row.
  const listed =
    keys.length === any.length ? [`${column} = any (array(values ${keys.map((key) => `(${key})`).join(', ')}))`] : [];
  const isListed = listed.length > 0 && any.every(({ system }) => system === null);
  return [...listed, ...(isListed ? [] : [`(${alternatives.map((one) => `(${one})`).join(' or ')})`])].join(' and ');
}

/** `[[value, system], …]`, null as in Token. */
export const tokensJson = (tokens: readonly Token[]): string =>
  JSON.stringify(tokens.map(({ value, system }) => [value, system]));

/**
 * Several tokens, those without a value apart, because another index has them. The keys are computed first, so that an index
 * serves them. PostgreSQL expects the same number of items of each JSON array, so it keeps one plan for all numbers of tokens.
 */
export function eachToken<C extends Tokens>(
  { content }: TokenColumns,
  criterion: C,
  bind: Bind,
): readonly Each<C>[] | undefined {
  if (criterion.any.length < 2) return undefined;
  return [...Map.groupBy(criterion.any, ({ value }) => value === null)].map(([isOfSystem, tokens]) => ({
    rows: `(select ${content('j.token ->> 0', false)} as value, ${content('j.token ->> 1', false)} as system
        from json_array_elements(${bind(tokensJson(tokens))}::json) j (token) offset 0) k`,
    one: { ...criterion, found: { value: isOfSystem ? null : 'k.value', system: 'k.system' } },
  }));
}

/** True where one of the rows `[system, value]` matches one of the tokens. */
export function hasToken(rows: readonly (readonly [string, string])[], any: readonly Token[]): boolean {
  return rows.some(([system, value]) =>
    any.some(
      (token) => (token.system === null || token.system === system) && (token.value === null || token.value === value),
    ),
  );
}

/** True for a token without system and value. */
export function isEmptyToken({ system, value }: Token): boolean {
  return (value === null || value === '') && (system === null || system === '');
}

/** The problem of a value with an empty token among its alternatives. */
export const EMPTY_TOKEN = { problem: 'has a value with neither system nor code' } as const;
