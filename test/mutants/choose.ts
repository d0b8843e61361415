/** Which defects a run is about: those of a room or a word, what has changed since, every n-th. */
import { execFileSync } from 'node:child_process';

import { ROOT } from '../stack/services/build.ts';
import type { Mutant } from './mutant.ts';

export interface Choice {
  /** Rooms, and parts of file and name; none: all. */
  readonly words: readonly string[];
  /** A commit: only defects whose file or whose tests are another since, in the working tree. */
  readonly since?: string | undefined;
  /** `2/4`: of four shares the second. */
  readonly shard?: string | undefined;
}

/** @throws for a commit that git does not know, a shard that is none */
export function choose(rooms: Readonly<Record<string, readonly Mutant[]>>, { words, since, shard }: Choice): Mutant[] {
  const hasChanged = since === undefined ? () => true : changedSince(since);
  const isOfShard = shard === undefined ? () => true : share(shard);
  return Object.entries(rooms)
    .flatMap(([room, mutants]) =>
      mutants.filter(
        ({ name, file }) =>
          words.length === 0 || words.some((word) => room === word || `${file} ${name}`.includes(word)),
      ),
    )
    .filter(({ file, tests }) => [file, ...tests].some(hasChanged))
    .filter((_, at) => isOfShard(at));
}

/** Whether a file has changed; a test file also by the cases that are in the folder of its name. */
function changedSince(commit: string): (file: string) => boolean {
  const changed = execFileSync('git', ['diff', '--name-only', commit, '--'], { cwd: ROOT, encoding: 'utf8' }).split(
    '\n',
  );
  return (file) => changed.some((each) => each === file || each.startsWith(file.replace(/\.test\.ts$/, '/')));
}

function share(shard: string): (at: number) => boolean {
  const [, own = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(shard) ?? []).map(Number);
  if (own < 1 || own > of) throw new Error(`--shard ${shard} is none: 1/4 to 4/4 are the four quarters`);
  return (at) => at % of === own - 1;
}
