/** Chooses the mutations that a run seeds, and the test files that must notice each. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { ROOT } from '../stack/services/build.ts';
import { lineAt, type Mutation } from './mutation.ts';
import { RULES } from './rules.ts';
import { sqlDefects, sqlSymbolAt } from './sql.ts';
import { typescriptMutations } from './typescript.ts';

/** Operators whose defect changes what a rule admits; the others may leave an equivalent program. */
const RULE_OPERATORS: ReadonlySet<string> = new Set([
  'skip guard',
  'drop operand',
  'drop entry',
  'drop site condition',
  'drop lock',
  'drop refusal',
  'drop policy',
  'drop row security',
  'drop revocation',
  'drop uniqueness',
  'drop check',
  'skip branch',
]);

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });

/** Every source file that mutations are made of. */
function sources(): string[] {
  const files = git(
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    'edge',
    'shared',
    'sidecar',
    'migrations',
  );
  return files.split('\n').filter((file) => /\.(?:tsx?|sql)$/.test(file) && !file.includes('.generated.'));
}

/** Every mutation of one file. @throws for a TypeScript file that does not parse */
export function mutationsOf(file: string): Mutation[] {
  const text = readFileSync(ROOT + file, 'utf8');
  if (!file.endsWith('.sql')) return typescriptMutations(file, text);
  return sqlDefects(text).map((defect) => ({ file, symbol: sqlSymbolAt(text, defect.start), ...defect }));
}

/** The mutations of every rule. */
export function ruleMutations(): Mutation[] {
  return RULES.flatMap(({ file, symbols }) =>
    mutationsOf(file).filter(({ symbol, operator }) => symbols.includes(symbol) && RULE_OPERATORS.has(operator)),
  );
}

/** The lines of each file, counted from 1, that the working tree has changed since a commit. @throws for an unknown commit */
function changedLines(since: string): Map<string, Set<number>> {
  const changed = new Map<string, Set<number>>();
  let lines = new Set<number>();
  for (const line of git('diff', '-U0', '--no-color', since, '--').split('\n')) {
    const file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1];
    if (file !== undefined) changed.set(file, (lines = new Set()));
    const [, start, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (start !== undefined) for (let at = 0; at < Number(count); at += 1) lines.add(Number(start) + at);
  }
  return changed;
}

/** The mutations of the lines that the working tree has changed since a commit. @throws for an unknown commit */
export function changedMutations(since: string): Mutation[] {
  const changed = changedLines(since);
  return sources()
    .filter((file) => changed.has(file))
    .flatMap((file) => {
      const text = readFileSync(ROOT + file, 'utf8');
      const lines = changed.get(file);
      return mutationsOf(file).filter(({ start }) => lines?.has(lineAt(text, start)));
    });
}

/** A random sample of a list that a seed repeats (mulberry32). */
export function sample<Item>(items: readonly Item[], count: number, seed: number): Item[] {
  let state = seed;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return items
    .map((item) => ({ item, at: random() }))
    .sort((one, other) => one.at - other.at)
    .slice(0, count)
    .map(({ item }) => item);
}

/** Every mutation of every source file. */
export const allMutations = (): Mutation[] => sources().flatMap(mutationsOf);

/** Black-box tests of a folder, for files that no test imports and no rule names; the longest prefix counts. */
const BLACK_BOX: Readonly<Record<string, string>> = {
  'edge/oauth/': 'contract/oauth',
  'edge/fhir/': 'contract/fhir',
  'edge/hl7/': 'contract/hl7',
  'edge/admin/': 'contract/admin-api',
  'edge/admin/keys/': 'contract/admin-keys',
  'edge/admin/messages/': 'contract/admin-messages',
  'edge/admin/staff/': 'contract/admin-sign-in',
  'edge/openapi/': 'contract/openapi',
  'edge/http/': 'contract/surfaces',
  'edge/metrics/': 'contract/metrics',
  'edge/alerts/': 'contract/alerts',
  'edge/jobs/': 'contract/jobs',
  'edge/platform/': 'contract/transport',
  'edge/store/': 'contract/fhir',
  'migrations/': 'contract/fhir',
  'migrations/functions/hl7': 'contract/hl7',
  'sidecar/': 'e2e/sidecar',
  'shared/hl7/': 'contract/hl7',
  'shared/': 'contract/fhir',
};

/** Test files that must notice a defect in a file: first those that are quick. */
export interface TestsOf {
  /** Files to run as they are; undefined: those that import the file. */
  readonly named: readonly string[] | undefined;
  /** Run where the first let the defect pass. */
  readonly blackBox: readonly string[];
}

export function testsOf(file: string): TestsOf {
  const named = RULES.filter((rule) => rule.file === file).flatMap(({ tests }) => tests);
  if (named.length > 0) return { named, blackBox: [] };
  const [, blackBox] = Object.entries(BLACK_BOX)
    .filter(([folder]) => file.startsWith(folder))
    .sort(([one], [other]) => other.length - one.length)[0] ?? ['', 'contract/fhir'];
  return { named: file.endsWith('.sql') ? [] : undefined, blackBox: [`test/${blackBox}.test.ts`] };
}
