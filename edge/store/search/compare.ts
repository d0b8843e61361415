/** Columns compared with what is asked for, as SQL; and tokens in memory. */
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

/** UTF-16 units up to which a value is its own key whatever its characters (SQL function search_key: 600 bytes). */
const SHORT_KEY_LENGTH = 200;

function keyOf(value: string, bind: Bind): string {
  return value.length <= SHORT_KEY_LENGTH ? bind(value) : `search_key(${bind(value)})`;
}

/** @param column of the value or code; the system is in the column `system` */
export function tokenSql(column: string, alias: string, any: readonly Token[], bind: Bind): string {
  const alternatives = any.map(({ system, value }) => {
    const parts = [
      ...(value === null ? [] : [`${alias}.${column} = ${keyOf(value, bind)}`]),
      ...(system === null ? [] : [`${alias}.system = ${keyOf(system, bind)}`]),
    ];
    return parts.join(' and ');
  });
  return alternatives.length === 1 ? alternatives.join('') : `(${alternatives.map((one) => `(${one})`).join(' or ')})`;
}

/** Whether one of the rows `[system, value]` is what one of the tokens asks for. */
export function hasToken(rows: readonly (readonly [string, string])[], any: readonly Token[]): boolean {
  return rows.some(([system, value]) =>
    any.some(
      (token) => (token.system === null || token.system === system) && (token.value === null || token.value === value),
    ),
  );
}

/** True for the token that says nothing. */
export function isEmptyToken({ system, value }: Token): boolean {
  return (value === null || value === '') && (system === null || system === '');
}

/** What is wrong with a value that has an empty token among its alternatives. */
export const EMPTY_TOKEN = { problem: 'has a value with neither system nor code' } as const;
