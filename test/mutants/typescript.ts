/** Defects in TypeScript, found in its syntax tree: a guard that is skipped, a condition that is turned, an entry that is missing. */
import { parseSync } from 'vite';

import type { Edit, Mutation } from './mutation.ts';
import { sqlDefects } from './sql.ts';

/** A node of ESTree with offsets; its other members are read by `type`. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value;
export const nodeAt = (node: Node, member: string): Node | undefined => {
  const value = node[member];
  return isNode(value) ? value : undefined;
};
export const nodesAt = (node: Node, member: string): Node[] => {
  const value = node[member];
  return Array.isArray(value) ? value.filter(isNode) : [];
};

export function children(node: Node): Node[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

const TURNED: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
};

const LEAVES = new Set(['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement']);

/** True for a branch that only leaves the function or the loop, so that its `if` guards what follows. */
function isExit(branch: Node | undefined): boolean {
  if (branch === undefined) return false;
  const last = branch.type === 'BlockStatement' ? nodesAt(branch, 'body').at(-1) : branch;
  return last !== undefined && LEAVES.has(last.type);
}

type Operator = (node: Node, text: string) => Edit[];

const negate: Operator = (node, text) => {
  const test = nodeAt(node, 'test');
  if (test === undefined) return [];
  const isGuard = node.type === 'IfStatement' && nodeAt(node, 'alternate') === undefined;
  const source = text.slice(test.start, test.end);
  return isGuard && isExit(nodeAt(node, 'consequent'))
    ? [{ operator: 'skip guard', start: test.start, end: test.end, replacement: 'false' }]
    : [{ operator: 'negate condition', start: test.start, end: test.end, replacement: `!(${source})` }];
};

/** Templates and strings contain statements and parts of statements. */
function sqlWithin(node: Node, text: string): Edit[] {
  return sqlDefects(text.slice(node.start, node.end)).map((defect) => ({
    ...defect,
    start: node.start + defect.start,
    end: node.start + defect.end,
  }));
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  IfStatement: negate,
  ConditionalExpression: negate,
  LogicalExpression: (node, text) => {
    if (node['operator'] === '??') return [];
    const operands = [nodeAt(node, 'left'), nodeAt(node, 'right')];
    return operands.flatMap((kept) =>
      kept === undefined
        ? []
        : [
            {
              operator: 'drop operand',
              start: node.start,
              end: node.end,
              replacement: text.slice(kept.start, kept.end),
            },
          ],
    );
  },
  BinaryExpression: (node, text) => {
    const [left, right] = [nodeAt(node, 'left'), nodeAt(node, 'right')];
    const turned = TURNED[String(node['operator'])];
    if (left === undefined || right === undefined || turned === undefined) return [];
    const at = text.indexOf(String(node['operator']), left.end);
    return [{ operator: 'turn comparison', start: at, end: at + String(node['operator']).length, replacement: turned }];
  },
  ExpressionStatement: (node) => {
    const expression = nodeAt(node, 'expression');
    const called = expression?.type === 'AwaitExpression' ? nodeAt(expression, 'argument') : expression;
    return called?.type === 'CallExpression'
      ? [{ operator: 'drop call', start: node.start, end: node.end, replacement: ';' }]
      : [];
  },
  CallExpression: (node, text) => {
    const callee = nodeAt(node, 'callee');
    const object = callee === undefined ? undefined : nodeAt(callee, 'object');
    const property = callee === undefined ? undefined : nodeAt(callee, 'property');
    if (object === undefined || property === undefined) return [];
    const name = text.slice(property.start, property.end);
    const other = { every: 'some', some: 'every' }[name];
    if (other !== undefined)
      return [{ operator: 'turn quantifier', start: property.start, end: property.end, replacement: other }];
    return name === 'filter' ? [{ operator: 'drop filter', start: object.end, end: node.end, replacement: '' }] : [];
  },
  ArrayExpression: (node) => {
    const entries = nodesAt(node, 'elements');
    if (entries.length < 2 || entries.some(({ type }) => type !== 'Literal')) return [];
    return entries.map((entry, at) => {
      const next = entries[at + 1];
      const previous = entries[at - 1];
      const start = next === undefined ? (previous?.end ?? entry.start) : entry.start;
      return { operator: 'drop entry', start, end: next?.start ?? entry.end, replacement: '' };
    });
  },
  TemplateElement: sqlWithin,
  Literal: (node, text) => (typeof node['value'] === 'string' ? sqlWithin(node, text) : []),
};

/** Syntax without effect at run time. */
const isErased = ({ type }: Node): boolean =>
  type.startsWith('TS') && !['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'].includes(type);

/** The names that a statement of the module's top level declares. */
function declared(statement: Node): string[] {
  const declaration = nodeAt(statement, 'declaration') ?? statement;
  const ids = [nodeAt(declaration, 'id'), ...nodesAt(declaration, 'declarations').map((each) => nodeAt(each, 'id'))];
  return ids.flatMap((id) => (id !== undefined && typeof id['name'] === 'string' ? [id['name']] : []));
}

/** Every defect that the operators make of a module. @throws if the text is not TypeScript */
export function typescriptMutations(file: string, text: string): Mutation[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const found: Mutation[] = [];
  const visit = (node: Node, symbol: string): void => {
    if (isErased(node)) return;
    for (const edit of OPERATORS[node.type]?.(node, text) ?? []) found.push({ file, symbol, ...edit });
    for (const child of children(node)) visit(child, symbol);
  };
  for (const statement of (program.body as unknown[]).filter(isNode)) visit(statement, declared(statement)[0] ?? '');
  return found;
}
