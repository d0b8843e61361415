/** Identifiers: `[value]`, `[system]|[value]`, `|[value]` or `[system]|` (FHIR R4 search, 3.1.1.4.10 token). */
import { objectsAt, text } from '../at-path.ts';
import {
  EMPTY_TOKEN,
  eachToken,
  hasToken,
  isEmptyToken,
  type TokenColumns,
  type Tokens,
  tokenSql,
} from '../compare.ts';
import type { Kind } from '../kind.ts';
import type { IdentifierRow } from '../rows.ts';
import { ofType, type Source } from '../source.ts';

interface IdentifierCriterion extends Tokens {
  readonly kind: 'identifier';
}

const IDENTIFIERS: Source = {
  from: (a) => `resource_identifier ${a}`,
  id: (a) => `${a}.id`,
  repeats: true,
  within: ofType,
};

const COLUMNS: TokenColumns = {
  value: 'value',
  system: 'system',
  none: "''",
  content: (text, isShort) => (isShort ? text : `search_key(${text})`),
};

export const identifier = {
  type: 'token',
  read: ({ tokens }) => {
    const any = tokens();
    return any.some(isEmptyToken) ? EMPTY_TOKEN : { kind: 'identifier', any };
  },
  rows: (resource, _, { elements }) => ({
    identifiers: elements
      .flatMap((path) => objectsAt(resource, path))
      .map((one): IdentifierRow => [text(one['system']), text(one['value'])])
      .filter(([system, value]) => system !== '' || value !== ''),
  }),
  meets: (write, { any }) => hasToken(write.identifiers, any),
  rank: 1,
  source: () => IDENTIFIERS,
  sql: (criterion, alias, { bind }) => tokenSql(COLUMNS, alias, criterion, bind),
  each: (criterion, { bind }) => eachToken(COLUMNS, criterion, bind),
} as const satisfies Kind<IdentifierCriterion>;
