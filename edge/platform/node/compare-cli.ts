/**
 * `npm run compare`: checks that a database restored from a backup is complete. It must have every table of the original,
 * the schema of this release, and no fewer rows than the backup can have had. Neither database is changed.
 */
import process from 'node:process';

import { schemaVersion } from '../../store/schema-version.ts';
import { raw, read } from '../../store/sql.ts';
import { type CommandDatabase, withDatabase } from './database.ts';
import { parseOptions, postgresUrl, runProgram, UsageError } from './program.ts';

const USAGE = `usage: npm run -s compare -- [--exact]     with DATABASE_URL and RESTORED_DATABASE_URL in the environment, of the owner

Compares a restored database with its original: schema, tables, rows. The original may have additional rows from after the
backup; with --exact these are a fault too. Exits with 1 if the copy is not complete.
`;

/** The content of a database: rows by table, and the version of its schema. */
interface Content {
  readonly schema: string;
  readonly rows: ReadonlyMap<string, number>;
}

async function contentOf(database: CommandDatabase): Promise<Content> {
  const [state] = await database.run(schemaVersion());
  const tables = await database.run(
    read<{
      name: string;
    }>`select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname = 'public' order by 1`,
  );
  const rows = new Map<string, number>();
  for (const { name } of tables) {
    // PostgreSQL has already quoted the name.
    const [counted] = await database.run(read<{ count: string }>`select count(*)::text as count from ${raw(name)}`);
    rows.set(name, Number(counted?.count ?? 0));
  }
  const missing = state?.missing ?? [];
  return { schema: `${state?.version ?? 0}${missing.length === 0 ? '' : `, without ${missing.join(', ')}`}`, rows };
}

/** The problem with a table's copy, or undefined. */
function faultOf(original: number | undefined, restored: number | undefined, exact: boolean): string | undefined {
  if (restored === undefined) return 'is missing in the copy';
  if (original === undefined) return 'exists only in the copy';
  if (restored > original) return 'has more rows in the copy: are the two URLs swapped?';
  if (restored === 0 && original > 0) return 'is empty in the copy';
  return exact && restored < original ? 'has fewer rows in the copy' : undefined;
}

async function main(): Promise<void> {
  const { values } = parseOptions({ options: { exact: { type: 'boolean' } } });
  const [from, to] = [postgresUrl('DATABASE_URL'), postgresUrl('RESTORED_DATABASE_URL')];
  if (from === to) throw new UsageError('DATABASE_URL and RESTORED_DATABASE_URL are one database');
  // The copy is read first: rows written meanwhile can then only be missing in the copy.
  const restored = await withDatabase(to, contentOf);
  const original = await withDatabase(from, contentOf);
  const faults: string[] = [];
  if (restored.schema !== original.schema) faults.push(`the schema is ${restored.schema}, not ${original.schema}`);
  for (const name of new Set([...original.rows.keys(), ...restored.rows.keys()])) {
    const [was, is] = [original.rows.get(name), restored.rows.get(name)];
    const fault = faultOf(was, is, values.exact === true);
    process.stdout.write(`${name.padEnd(30)} ${String(was ?? '-').padStart(12)} ${String(is ?? '-').padStart(12)}\n`);
    if (fault !== undefined) faults.push(`${name} ${fault}`);
  }
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.stderr.write(faults.length === 0 ? 'the copy is complete\n' : 'the copy is not complete\n');
  if (faults.length > 0) process.exitCode = 1;
}

await runProgram(USAGE, main);
