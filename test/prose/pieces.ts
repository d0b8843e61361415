/** Finds the prose of a source file: comments, texts, titles of tests, and the names that the file declares. */
import { parseSync } from 'vite';

import { children, type Node, nodeAt, nodesAt } from '../mutants/typescript.ts';

/** `part`: a heading, or the rest of a sentence. */
type Kind = 'comment' | 'text' | 'error' | 'title' | 'part' | 'name';

/** A run of text. Marks, code and interpolations in it are masked by as many characters, so that offsets stay the file's. */
export interface Piece {
  readonly kind: Kind;
  readonly start: number;
  readonly text: string;
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');
/** Masks code as one word. */
const code = (text: string): string => blank(text).replace(/ +/, (spaces) => 'X'.repeat(spaces.length));

const masked = (text: string): string => text.replaceAll(/`[^`\n]*`|https?:\/\/\S+/g, code);

/** Between paragraphs, list entries, tags of a docstring and cells. */
const SEPARATOR = /\n[^\S\n]*\n|\n[^\S\n]*(?=[-*•] |\d+[.)] |@[a-z]+ )|\|/g;
const MARK = /^\s*(?:[-*•>] |\d+[.)] |#+ |@(?:param \S+|[a-z]+) )*/;

function* split(kind: Kind, start: number, text: string): Generator<Piece> {
  let from = 0;
  for (const to of [...text.matchAll(SEPARATOR)].map(({ index }) => index).concat(text.length)) {
    const part = text.slice(from, to).replace(/^\|/, ' ');
    const mark = MARK.exec(part)?.[0] ?? '';
    if (part.trim() !== '') yield { kind, start: start + from, text: blank(mark) + part.slice(mark.length) };
    from = to;
  }
}

const DIRECTIVE = /^\W*(?:oxlint|oxfmt|@ts-|@jsx|@vitest|<reference|prose-allow|deno-|#__|v8 ignore)/;

/** Joins comments on consecutive lines into one. */
function* comments(source: string, found: readonly { start: number; end: number }[]): Generator<Piece> {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of found.filter((each) => !DIRECTIVE.test(source.slice(each.start, each.end)))) {
    const last = joined.at(-1);
    const isLine = /^(?:\/\/|--|#)/.test(source.slice(start, start + 2));
    if (
      last !== undefined &&
      isLine &&
      /^\n[^\S\n]*$/.test(source.slice(last.end, start)) &&
      !isTrailing(source, last.start)
    )
      last.end = end;
    else joined.push({ start, end });
  }
  for (const { start, end } of joined) {
    const text = source.slice(start, end);
    yield* split('comment', start, masked(text.replaceAll(/^\s*(?:\/\/+|\/\*+|\*+(?!\S)|--+|#+)|\*+\/$/gm, blank)));
  }
}

const isTrailing = (source: string, start: number): boolean =>
  source.slice(source.lastIndexOf('\n', start - 1) + 1, start).trim() !== '';

function* matches(source: string, regex: RegExp): Generator<{ start: number; end: number; text: string }> {
  for (const { 0: text, index } of source.matchAll(regex)) yield { start: index, end: index + text.length, text };
}

const PHRASE = /(?:^|[\s(])[A-Za-z][a-z'’-]*,? [A-Za-z][a-z'’-]*,? [a-z][a-z'’-]*(?:[\s,.:;)?]|$)/;
const SQL =
  /^\s*(?:select|insert|update|delete|with|create|alter|drop|grant|revoke|set|begin|lock|do|from|where|and|or|order by|(?:left )?join|returning|on conflict|values|for update|limit|union)\b/;
const isProse = (text: string): boolean => PHRASE.test(text) && !SQL.test(text);

/** The text in an expression: a string, the fixed parts of a template, or a sum of both. */
function textRanges(node: Node): [start: number, end: number][] {
  if (node.type === 'Literal' && typeof node['value'] === 'string') return [[node.start + 1, node.end - 1]];
  // A quasi includes the marks on both sides: a backtick or brace before, a backtick or `${` behind.
  if (node.type === 'TemplateLiteral')
    return nodesAt(node, 'quasis').map(({ start, end, tail }) => [start + 1, end - (tail === true ? 1 : 2)]);
  if (node.type === 'BinaryExpression' && node['operator'] === '+')
    return [nodeAt(node, 'left'), nodeAt(node, 'right')].flatMap((side) =>
      side === undefined ? [] : textRanges(side),
    );
  return [];
}

function joinRanges(source: string, ranges: readonly [number, number][]): string {
  let text = '';
  let last = ranges[0]?.[0] ?? 0;
  for (const [start, end] of ranges) {
    const gap = source.slice(last, start);
    const joint = (/[$\w]/.test(gap) ? code(gap) : blank(gap)).replaceAll('\n', ' ');
    // A line of output is a separate text.
    text += joint + source.slice(start, end).replaceAll(/\n|\\[nt]/g, (mark) => '|'.padEnd(mark.length));
    last = end;
  }
  return text;
}

const READ_ATTRIBUTES = new Set(['title', 'placeholder', 'label', 'alt', 'aria-label', 'summary', 'description']);
const TITLES = /^(?:it|test|describe|scenario)(?:\.\w+)*\b/;
const EACH = /^(?:it|test|describe)\.(?:each|for)$/;
const ERRORS = /(?:fault|error|refus|reject|issue|invalid|malformed)\w*$/i;

/** The names of the rows of `test.each`: the first text of a list, or the member `what`. */
function rowNames(rows: Node | undefined): Node[] {
  return (rows?.type === 'ArrayExpression' ? nodesAt(rows, 'elements') : []).flatMap((row) => {
    if (row.type === 'ArrayExpression') return nodesAt(row, 'elements').slice(0, 1);
    const what = nodesAt(row, 'properties').find((each) => nodeAt(each, 'key')?.['name'] === 'what');
    return (what && nodeAt(what, 'value')) ?? [];
  });
}

function* inSyntax(file: string, source: string): Generator<Piece> {
  // The tree of JavaScript has other offsets of template texts.
  const { program, comments: found, errors } = parseSync(file.replace(/\.js$/, '.ts'), source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  yield* comments(source, found);
  const isTest = /^test\/(?:unit|integration|contract|e2e)\//.test(file);
  function* visit(node: Node, kind: Kind): Generator<Piece> {
    if (node.type === 'ImportDeclaration' || node.type === 'TSLiteralType' || node.type === 'TaggedTemplateExpression')
      return;
    if (node.type === 'JSXAttribute') {
      const name = nodeAt(node, 'name');
      if (name === undefined || !READ_ATTRIBUTES.has(source.slice(name.start, name.end))) return;
    }
    const id = nodeAt(node, node.type === 'TSPropertySignature' ? 'key' : 'id');
    if (id?.type === 'Identifier') yield { kind: 'name', start: id.start, text: String(id['name']) };
    if (node.type === 'JSXText') {
      const text = source.slice(node.start, node.end);
      yield { kind: /^\s*[a-z]/.test(text) ? 'part' : 'text', start: node.start, text };
    }
    const ranges = textRanges(node);
    if (ranges.length > 0) {
      const text = masked(joinRanges(source, ranges));
      if (kind === 'title' || (!isTest && isProse(text))) yield* split(kind, ranges[0]?.[0] ?? 0, text);
      if (node.type === 'Literal') return;
    }
    const callee = nodeAt(node, 'callee');
    const called = callee === undefined ? '' : source.slice(callee.start, callee.end);
    if (isTest && EACH.test(called))
      for (const name of rowNames(nodesAt(node, 'arguments')[0]))
        for (const [start, end] of textRanges(name).slice(0, 1)) {
          const text = masked(source.slice(start, end));
          if (isProse(text)) yield { kind: 'part', start, text };
        }
    const inner = ERRORS.test(called) ? 'error' : kind === 'title' ? 'text' : kind;
    const title = isTest && TITLES.test(called) ? nodesAt(node, 'arguments')[0] : undefined;
    for (const each of children(node))
      if (ranges.length === 0 || textRanges(each).length === 0) yield* visit(each, each === title ? 'title' : inner);
  }
  yield* visit(program as unknown as Node, 'text');
}

function* inSql(_: string, source: string): Generator<Piece> {
  const found = [...matches(source, /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g)];
  const isString = ({ text }: { text: string }): boolean => text.startsWith("'");
  yield* comments(
    source,
    found.filter((each) => !isString(each)),
  );
  for (const { start, text } of found.filter(isString))
    if (isProse(text)) yield { kind: 'error', start: start + 1, text: masked(text.slice(1, -1)) };
}

function* inMarkdown(_: string, source: string): Generator<Piece> {
  const text = source
    .replaceAll(/^```[\s\S]*?^```|<!--[\s\S]*?-->|^<[^>]*>$/gm, blank)
    .replaceAll(/\]\([^)\s]*\)/g, blank);
  for (const { start, text: line } of matches(text, /(?:^#+ .*$)|(?:^(?!#+ ).*\n?)+/gm))
    yield* split(line.startsWith('#') ? 'part' : 'text', start, masked(line));
}

const READERS: readonly (readonly [RegExp, (file: string, source: string) => Iterable<Piece>])[] = [
  [/\.(?:tsx?|m?js)$/, inSyntax],
  [/\.sql$/, inSql],
  [/\.md$/, inMarkdown],
  [/\.css$/, (_, source) => comments(source, [...matches(source, /\/\*[\s\S]*?\*\//g)])],
  [/\.java$/, (_, source) => comments(source, [...matches(source, /\/\*[\s\S]*?\*\/|(?<=^[^\S\n]*)\/\/.*$/gm)])],
  [
    /(?:\.(?:ya?ml|toml|sh|service|py)|Dockerfile|\.ci\/run|\.gitignore|\.npmrc)$/,
    (_, source) => comments(source, [...matches(source, /(?<=^[^\S\n]*)#.*$|"""[\s\S]*?"""/gm)]),
  ],
];

/** The prose of a file; none for a file of another kind. */
export function piecesOf(file: string, source: string): Piece[] {
  const read = READERS.find(([name]) => name.test(file))?.[1];
  return read === undefined ? [] : [...read(file, source)];
}
