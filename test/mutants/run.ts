/**
 * `npm run mutants -- --rules | --since <commit> | --sample <count> [--seed <number>] [--shard 1/4] [part of file or symbol …]`:
 * seeds defects into a copy of the tree, runs the tests that must notice each, and lists those that survive. A survivor is a
 * missing test or an equivalent program; a person decides which.
 */
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { allMutations, changedMutations, ruleMutations, sample, testsOf } from './choose.ts';
import { applyMutation, describeMutation, type Mutation } from './mutation.ts';
import { copyTree, type Run, type Tree } from './tree.ts';

type Verdict = 'killed' | 'SURVIVES' | 'no program';

interface Judged {
  readonly description: string;
  readonly verdict: Verdict;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** A defect that does not load proves nothing about the tests. */
const isNoProgram = ({ output }: Run): boolean =>
  /SyntaxError|Transform failed|PARSE_ERROR|does not provide an export|syntax error at or near/.test(output);

async function verdictOf(tree: Tree, { file }: Mutation): Promise<Verdict> {
  const { named, blackBox } = testsOf(file);
  const runs = [() => (named === undefined ? tree.testImporting(file) : tree.test(named)), () => tree.test(blackBox)];
  for (const [at, isEmpty] of [named?.length === 0, blackBox.length === 0].entries()) {
    if (isEmpty) continue;
    const run = await runs[at]?.();
    if (run !== undefined && run.code !== 0) return isNoProgram(run) ? 'no program' : 'killed';
  }
  return 'SURVIVES';
}

async function judge(tree: Tree, mutation: Mutation): Promise<Judged> {
  const text = await tree.read(mutation.file);
  await tree.write(mutation.file, applyMutation(text, mutation));
  try {
    return { description: describeMutation(text, mutation), verdict: await verdictOf(tree, mutation) };
  } finally {
    await tree.write(mutation.file, text);
  }
}

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    rules: { type: 'boolean', default: false },
    since: { type: 'string' },
    sample: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    shard: { type: 'string', default: '1/1' },
  },
});

function chosen(): Mutation[] {
  const from = values.rules
    ? ruleMutations()
    : values.since === undefined
      ? allMutations()
      : changedMutations(values.since);
  const named = from.filter(
    ({ file, symbol }) => words.length === 0 || words.some((word) => file.includes(word) || symbol === word),
  );
  const sampled = values.sample === undefined ? named : sample(named, Number(values.sample), Number(values.seed));
  const [, own = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(values.shard) ?? []).map(Number);
  if (own < 1 || own > of) throw new Error(`--shard was ${values.shard}, expected 1/4 to 4/4 for the four quarters`);
  return sampled.filter((_, at) => at % of === own - 1);
}

const queue = chosen();
say(`${queue.length} defects${values.sample === undefined ? '' : `, sampled with --seed ${values.seed}`}`);
const trees = await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, copyTree));
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void Promise.all(trees.map((each) => each.remove())).then(() => process.exit(1)));
const judged: Judged[] = [];
try {
  await Promise.all(
    trees.map(async (tree) => {
      for (let mutation = queue.shift(); mutation !== undefined; mutation = queue.shift()) {
        const result = await judge(tree, mutation);
        judged.push(result);
        say(`${result.verdict.padEnd(10)} ${result.description}`);
      }
    }),
  );
} finally {
  await Promise.all(trees.map((tree) => tree.remove()));
}

const of = (verdict: Verdict): Judged[] => judged.filter((each) => each.verdict === verdict);
const survivors = of('SURVIVES');
if (survivors.length > 0) say('\nSurvivors:');
for (const { description } of survivors) say(`  ${description}`);
say(`${of('killed').length} killed, ${survivors.length} survive, ${of('no program').length} did not load`);
