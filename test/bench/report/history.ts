/** The stored figures of commits, in the repository. */
import { readFile, writeFile } from 'node:fs/promises';

import * as z from 'zod';

import { ROOT } from '../../stack/services/build.ts';
import { kept, type Kept } from './kept.ts';

/** From the repository's root. */
export const HISTORY = 'test/bench/history.json';

const history = z.array(kept);

/** The newest last. */
export const readHistory = async (): Promise<readonly Kept[]> =>
  history.parse(JSON.parse(await readFile(ROOT + HISTORY, 'utf8')));

/** Stores the figures of a run, and replaces those of the same commit. */
export async function keep(entry: Kept): Promise<void> {
  const others = (await readHistory()).filter(({ commit }) => commit !== entry.commit);
  await writeFile(ROOT + HISTORY, historyText([...others, entry]));
}

/** The text as the repository's formatter writes it: each figure on a line. */
export const historyText = (entries: readonly Kept[]): string =>
  `${JSON.stringify(entries, null, 2).replaceAll(/\[\s+([\d.,\s]+?)\s+\]/g, (_, numbers: string) => `[${numbers.replaceAll(/\s+/g, ' ')}]`)}\n`;
