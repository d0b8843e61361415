/** The recipes of edge/docs/libraries.md, each as an integrator copies it into a file. */
import { readFile } from 'node:fs/promises';

import { ROOT } from '../../stack/services/build.ts';

/**
 * @param language of the block: `js`, `python`, `java`
 * @param mark what is in that recipe and in no other of its language
 */
export async function recipeOf(language: string, mark: string): Promise<string> {
  const page = await readFile(`${ROOT}edge/docs/libraries.md`, 'utf8');
  const blocks = page.split(/^```/m).filter((block) => block.startsWith(`${language}\n`) && block.includes(mark));
  const [only, ...others] = blocks;
  if (only === undefined || others.length > 0) throw new RangeError(`${blocks.length} recipes with ${mark}`);
  return only.slice(language.length + 1);
}
