/**
 * `npm run mutants [-- [--trust] [--since commit] [--shard 1/4] word …]`: seeds each defect (choose.ts) into a copy of the tree,
 * runs the tests that must notice it, and says which defects survive. Ends with 1 where one survives, no longer applies, or its
 * tests fail without it, which --trust leaves out: the suite has just passed.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { MUTANTS } from './all.ts';
import { choose } from './choose.ts';
import { mutate, type Mutant } from './mutant.ts';
import { copyTree, type Tree } from './tree.ts';

type Verdict = 'killed' | 'SURVIVES' | 'DOES NOT APPLY' | 'DOES NOT LOAD';

interface Judged {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  readonly by: string;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The first case that failed, as the reporter names it. */
const firstFailure = (output: string): string | undefined => /^\s*failed: (.*)$/m.exec(output)?.[1];

/** A defect that is no program any more proves nothing about tests. */
const isNoProgram = (output: string): boolean =>
  /SyntaxError|Transform failed|PARSE_ERROR|does not provide an export|syntax error at or near/.test(output);

async function judge(tree: Tree, mutant: Mutant): Promise<Judged> {
  const text = await tree.read(mutant.file).catch(() => '');
  const defective = mutate(text, mutant);
  if (defective === undefined) return { mutant, verdict: 'DOES NOT APPLY', by: mutant.file };
  await tree.write(mutant.file, defective);
  try {
    const { code, output } = await tree.test(mutant.tests, mutant.only);
    if (code === 0) return { mutant, verdict: 'SURVIVES', by: mutant.tests.join(' ') };
    if (isNoProgram(output)) return { mutant, verdict: 'DOES NOT LOAD', by: output.slice(-500) };
    return { mutant, verdict: 'killed', by: firstFailure(output) ?? (code === null ? 'time-out' : 'a file') };
  } finally {
    await tree.write(mutant.file, text);
  }
}

/** What the tests say without any defect: nothing is proved by a test that fails anyway. */
async function failingAnyway(tree: Tree, mutants: readonly Mutant[]): Promise<string | undefined> {
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
  const { code, output } = await tree.test(files);
  return code === 0 ? undefined : output;
}

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { trust: { type: 'boolean', default: false }, since: { type: 'string' }, shard: { type: 'string' } },
});
const chosen = choose(MUTANTS, { words, since: values.since, shard: values.shard });
if (chosen.length === 0) {
  say(values.since === undefined ? `no defect is called ${words.join(' ')}` : `none has changed since ${values.since}`);
  process.exit(values.since === undefined ? 1 : 0);
}

const trees = await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, copyTree));
const judged: Judged[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void Promise.all(trees.map((each) => each.remove())).then(() => process.exit(1)));
try {
  const [tree] = trees;
  const broken = tree === undefined || values.trust ? undefined : await failingAnyway(tree, chosen);
  if (broken !== undefined) {
    say(broken);
    throw new Error('tests fail without any defect');
  }
  const queue = [...chosen];
  await Promise.all(
    trees.map(async (each) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const verdict = await judge(each, mutant);
        judged.push(verdict);
        say(
          `${verdict.verdict.padEnd(14)} ${mutant.file}: ${mutant.name}${verdict.by === '' ? '' : ` (${verdict.by})`}`,
        );
      }
    }),
  );
} finally {
  await Promise.all(trees.map((each) => each.remove()));
}

const failed = judged.filter(({ verdict }) => verdict !== 'killed');
for (const { mutant, verdict } of failed) say(`${verdict}: ${mutant.file}: ${mutant.name}`);
say(`${judged.length - failed.length} defects killed, ${failed.length} not`);
if (failed.length > 0) process.exitCode = 1;
