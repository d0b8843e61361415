/** The recipes of the documentation's chapters on languages, each as an integrator copies it into a file. */
import { readFile } from 'node:fs/promises';

import { ROOT } from '../../stack/services/build.ts';

/** The chapter of a language, by the name after its blocks' fences. */
const PAGES = { js: 'javascript', python: 'python', java: 'java' } as const;

/** @param mark text that only this recipe of the language has */
export async function recipeOf(language: keyof typeof PAGES, mark: string): Promise<string> {
  const page = await readFile(`${ROOT}edge/docs/${PAGES[language]}.md`, 'utf8');
  const blocks = page.split(/^```/m).filter((block) => block.startsWith(`${language}\n`) && block.includes(mark));
  const [only, ...others] = blocks;
  if (only === undefined || others.length > 0) throw new RangeError(`${blocks.length} recipes with ${mark}`);
  return only.slice(language.length + 1);
}
