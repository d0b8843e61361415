/** Coded elements, and those of type code: `[code]`, `[system]|[code]`, `|[code]` or `[system]|` (FHIR R4 search, 3.1.1.4.10 token). */
import { objectsAt, text, textsAt } from '../at-path.ts';
import {
  EMPTY_TOKEN,
  eachToken,
  hasToken,
  isEmptyToken,
  type TokenColumns,
  type Tokens,
  tokenSql,
} from '../compare.ts';
import type { Kind, Token } from '../kind.ts';
import type { TokenRow } from '../rows.ts';
import { ofSite, type SearchScope, type Source } from '../source.ts';

interface TokenCriterion extends Tokens {
  readonly kind: 'token';
  readonly param: string;
}

const TOKENS: Source = { from: (a) => `resource_token ${a}`, id: (a) => `${a}.id`, repeats: true, within: ofSite };

/** The keys contain type and parameter (migrations/functions/token_key.sql). */
function columnsOf({ param }: TokenCriterion, { bind, type }: SearchScope): TokenColumns {
  let name: string | undefined;
  return {
    value: 'code_key',
    system: 'system_key',
    none: '0',
    content: (text) => {
      name ??= bind(param);
      return `token_key('${type}', ${name}, ${text})`;
    },
  };
}

/**
 * The tokens of an element of type code as its rows are. Each row has the system of the value set, and none has another one.
 * Undefined: one of them is the system alone, which every value has.
 */
export function codesWithoutSystem(any: readonly Token[], system: string): readonly Token[] | undefined {
  if (any.some((one) => one.system === system && one.value === null)) return undefined;
  const swapped = new Map([
    [system, ''],
    ['', system],
  ]);
  return any.map((one) => ({ ...one, system: one.system === null ? null : (swapped.get(one.system) ?? one.system) }));
}

export const token = {
  type: 'token',
  read: ({ tokens }, param) => {
    const any = tokens();
    return any.some(isEmptyToken) ? EMPTY_TOKEN : { kind: 'token', param, any };
  },
  // The rows of an element of type code have no system, because each of them would have that of the value set (`codesWithoutSystem`).
  rows: (resource, param, { elements, system }) => ({
    tokens:
      system === undefined
        ? elements
            // A tag is a Coding; other elements are a CodeableConcept.
            .flatMap((path) => objectsAt(resource, path.startsWith('meta.') ? path : `${path}.coding`))
            .map((coding): TokenRow => [param, text(coding['system']), text(coding['code'])])
            .filter(([, system, code]) => system !== '' || code !== '')
        : elements.flatMap((path) => textsAt(resource, path)).map((code): TokenRow => [param, '', code]),
  }),
  meets: (write, { param, any }) => {
    const rows = write.tokens.filter(([name]) => name === param);
    return hasToken(
      rows.map(([, system, code]) => [system, code]),
      any,
    );
  },
  rank: 5,
  source: () => TOKENS,
  sql: (criterion, alias, scope) => tokenSql(columnsOf(criterion, scope), alias, criterion, scope.bind),
  each: (criterion, scope) => eachToken(columnsOf(criterion, scope), criterion, scope.bind),
} as const satisfies Kind<TokenCriterion>;
