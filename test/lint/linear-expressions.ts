/**
 * Rules for oxlint. The time of a regular expression must grow in proportion to its input, because clients choose most inputs.
 * An expression that is slower, or that is put together while the program runs, says beside it what bounds its input. In
 * tests and scripts, which choose their inputs themselves, only exponential time is rejected.
 *
 * `recheck` needs minutes without Java and judges 21 of 412 expressions not at all (2026-11-28); eslint-plugin-regexp has this
 * analyser, but no rule for built expressions.
 */
import { analyse } from 'scslre';

import { hasRepeatedStart } from './repeated-start.ts';

interface Node {
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly { readonly type: string }[];
}

interface Context {
  readonly report: (problem: { readonly node: Node; readonly message: string }) => void;
}

const literals = (context: Context, isRejected: (growth: string) => boolean) => ({
  Literal(node: Node): void {
    if (node.regex === undefined) return;
    const { pattern: source, flags } = node.regex;
    const { reports } = analyse({ source, flags }, { reportTypes: { Move: true } });
    if (reports.length === 0 && !hasRepeatedStart(source, flags)) return;
    const growth = reports.some(({ exponential }) => exponential) ? 'exponential' : 'quadratic';
    if (isRejected(growth)) context.report({ node, message: `its time is ${growth} in the length of the input` });
  },
});

const linear = (context: Context) => {
  const built = (node: Node): void => {
    if (node.callee?.name === 'RegExp' && node.arguments?.[0]?.type !== 'Literal')
      context.report({ node, message: 'an expression that is built: bound its input, and say how beside it' });
  };
  return { ...literals(context, () => true), CallExpression: built, NewExpression: built };
};

const polynomial = (context: Context) => literals(context, (growth) => growth === 'exponential');

export default {
  meta: { name: 'gateway' },
  rules: { 'linear-expression': { create: linear }, 'polynomial-expression': { create: polynomial } },
};
