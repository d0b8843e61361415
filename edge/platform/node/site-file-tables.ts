/** The code tables of a site's file as CSV files beside it: `csvFile` names one, whose text is `csv` for the gateway. */
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import * as z from 'zod';

import { readText } from './admin-command.ts';
import { UsageError } from './program.ts';

const withTables = z.looseObject({ codeTables: z.array(z.looseObject({})) });
const csvFileOf = z.looseObject({ csvFile: z.string() });
const tableWithRows = z.looseObject({ name: z.string(), csv: z.string() });

export interface FileWithTables {
  readonly content: unknown;
  /** The name of the CSV file by the place of its text: `codeTables[0].csv`. */
  readonly names: ReadonlyMap<string, string>;
}

/** Reads the CSV files that a file names. @param path of the file @throws UsageError for a name with a folder */
export async function readTables(path: string, content: unknown): Promise<FileWithTables> {
  const { data: file } = withTables.safeParse(content);
  if (file === undefined) return { content, names: new Map() };
  const names = new Map<string, string>();
  const codeTables = await Promise.all(
    file.codeTables.map(async (table, index) => {
      const { data } = csvFileOf.safeParse(table);
      if (data === undefined || 'csv' in table) return table;
      const { csvFile, ...rest } = data;
      // The plan of a stranger's pull request must not read other files.
      if (basename(csvFile) !== csvFile) throw new UsageError(`csvFile ${csvFile} must be a file beside ${path}`);
      names.set(`codeTables[${index}].csv`, csvFile);
      return { ...rest, csv: await readText(join(dirname(path), csvFile)) };
    }),
  );
  return { content: { ...file, codeTables }, names };
}

/** A name that each file system can hold. @param used names in lower case */
function fileName(table: string, used: Set<string>): string {
  const parts = table.split(/[^\p{L}\p{N}_]+/u).filter((part) => part !== '');
  const base = parts.length === 0 ? 'table' : parts.join('-');
  for (let n = 1; ; n += 1) {
    const name = `${base}${n === 1 ? '' : `-${n}`}.csv`;
    if (used.has(name.toLowerCase())) continue;
    used.add(name.toLowerCase());
    return name;
  }
}

/** Writes the rows of each code table to a file in the folder. @returns the file with their names */
export async function writeTables(folder: string, content: unknown): Promise<unknown> {
  const { data: file } = withTables.safeParse(content);
  if (file === undefined) return content;
  const used = new Set<string>();
  await mkdir(folder, { recursive: true });
  const codeTables = [];
  for (const table of file.codeTables) {
    const { data } = tableWithRows.safeParse(table);
    if (data === undefined) codeTables.push(table);
    else {
      const { csv, ...rest } = data;
      const csvFile = fileName(data.name, used);
      await writeFile(join(folder, csvFile), csv);
      codeTables.push({ ...rest, csvFile });
    }
  }
  return { ...file, codeTables };
}
