/**
 * Prints the schema that this release needs as a module for the edge, since a Worker cannot list this folder:
 * `node migrations/generate.ts > edge/store/schema.generated.ts` (`npm run generate`).
 */
import { readFunctions, readMigrations } from './files.ts';

/** The text of `edge/store/schema.generated.ts`. */
export async function generateSchema(): Promise<string> {
  const version = (await readMigrations(import.meta.dirname)).at(-1)?.version;
  const functions = (await readFunctions(import.meta.dirname)).map((file) => `  '${file.function}',\n`);
  return `// Made by npm run generate from migrations/.

/** Number of the newest numbered migration. */
export const SCHEMA_VERSION = ${version};

/** The SQL functions. A function's arguments and rows never change under its name, so the name is enough. */
export const FUNCTIONS: readonly string[] = [
${functions.join('')}];
`;
}

if (import.meta.main) process.stdout.write(await generateSchema());
