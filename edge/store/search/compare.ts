/** Compares columns with search values in SQL, and tokens in memory. */
import type { Bind } from '../sql.ts';
import type { Token } from './kind.ts';

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

function keyOf(value: string, bind: Bind): string {
  return value.length <= SHORT_KEY_LENGTH ? bind(value) : `search_key(${bind(value)})`;
}

/**
 * The indexes of systems omit rows without a system. So no estimate makes PostgreSQL read all codes of a type through them, when
 * it searches for many codes.
 *
 * @param column the column of the value or code; the system is in the column `system`
 */
export function tokenSql(column: string, alias: string, any: readonly Token[], bind: Bind): string {
  const keys: string[] = [];
  const alternatives = any.map(({ system, value }) => {
    const key = value === null ? [] : [keyOf(value, bind)];
    keys.push(...key);
    const parts = [
      ...key.map((one) => `${alias}.${column} = ${one}`),
      ...(system === null ? [] : [`${alias}.system = ${keyOf(system, bind)}`]),
      ...(value === null ? [`${alias}.system <> ''`] : []),
    ];
    return parts.join(' and ');
  });
  if (alternatives.length === 1) return alternatives.join('');
  // One array has all values, which is a condition on the index.
  const listed = keys.length === any.length ? [`${alias}.${column} = any (array[${keys.join(', ')}])`] : [];
  const isListed = listed.length > 0 && any.every(({ system }) => system === null);
  return [...listed, ...(isListed ? [] : [`(${alternatives.map((one) => `(${one})`).join(' or ')})`])].join(' and ');
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
