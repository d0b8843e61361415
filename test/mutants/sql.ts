/** Defects in SQL, found in its text: a condition, a lock, a check, a policy or a refusal that is missing. */

import type { Edit } from './mutation.ts';

interface Operator {
  readonly name: string;
  /** Global. The whole match is replaced. */
  readonly pattern: RegExp;
  readonly replacement: string;
}

const OPERATORS: readonly Operator[] = [
  { name: 'drop site condition', pattern: /\band (?:\w+\.)?site_id = [\w$.:]+/g, replacement: '' },
  { name: 'drop site condition', pattern: /(?:\w+\.)?site_id = [\w$.:]+ and\b/g, replacement: '' },
  { name: 'drop site condition', pattern: /(?<=\bwhere )(?:\w+\.)?site_id = [\w$.:]+/g, replacement: 'true' },
  {
    name: 'drop lock',
    pattern: /\bfor (?:no key )?(?:key )?(?:update|share)(?: of \w+)?(?: nowait| skip locked)?/g,
    replacement: '',
  },
  {
    name: 'drop lock',
    pattern: /\b(?:perform|select|ignored :=) (?:pg_advisory_xact_lock|lock_)\w*\([^;]*\);/g,
    replacement: '',
  },
  { name: 'drop refusal', pattern: /\braise exception (?:'[^']*'|[^;'])*;/g, replacement: 'null;' },
  { name: 'drop policy', pattern: /\bcreate policy [^;]*;/g, replacement: '' },
  { name: 'drop row security', pattern: /\balter table \w+ (?:enable|force) row level security;/g, replacement: '' },
  { name: 'drop revocation', pattern: /\brevoke [^;]*;/g, replacement: '' },
  { name: 'widen grant', pattern: /\bgrant select(?=[ ,])/g, replacement: 'grant select, update, delete' },
  { name: 'drop uniqueness', pattern: /\bcreate unique index\b/g, replacement: 'create index' },
  { name: 'skip branch', pattern: /\bif (?!not exists|exists)[^;]*? then\b/g, replacement: 'if false then' },
  { name: 'drop condition', pattern: /^ *and [^\n;]*$/gm, replacement: '' },
];

const isBalanced = (text: string): boolean => {
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
};

/** The end of a parenthesis that opens at an offset, exclusive; undefined where it does not close. */
function closing(text: string, open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

function droppedChecks(text: string): Edit[] {
  return [...text.matchAll(/(?:constraint \w+ )?\bcheck (?=\()/g)].flatMap(({ 0: found, index }) => {
    const end = closing(text, index + found.length);
    return end === undefined ? [] : [{ operator: 'drop check', start: index, end, replacement: 'check (true)' }];
  });
}

const isInComment = (text: string, at: number): boolean =>
  text.slice(text.lastIndexOf('\n', at - 1) + 1, at).includes('--');

/**
 * Every defect that the operators make of some SQL. It may contain a template's `${}`: a part with one is never
 * replaced.
 */
export function sqlDefects(text: string): Edit[] {
  const matched = OPERATORS.flatMap(({ name, pattern, replacement }) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      operator: name,
      start: index,
      end: index + found.length,
      replacement,
    })),
  );
  return [...matched, ...droppedChecks(text)].filter(
    ({ start, end }) => isBalanced(text.slice(start, end)) && !isInComment(text, start),
  );
}

const CREATED =
  /^\s*(?:create (?:or replace )?(?:unique )?(?:function|table|index|view|policy)|alter table) (?:if not exists )?(\w+)/gm;

/** The object whose statement contains an offset: the last object that was created or altered before it. */
export function sqlSymbolAt(text: string, offset: number): string {
  const before = [...text.matchAll(CREATED)].filter(({ index }) => index <= offset);
  return before.at(-1)?.[1] ?? '';
}
