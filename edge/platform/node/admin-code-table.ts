/** `npm run admin -- code-table …`: lists, imports, exports and releases code tables, like `/admin/api/code-tables`. */
import * as z from 'zod';

import { conceptMapOf } from '../../admin/code-tables/concept-map.ts';
import { CSV_HEAD, printCsv } from '../../admin/code-tables/csv.ts';
import { importFile, sentConceptMap, sentCsv } from '../../admin/code-tables/import.ts';
import { viewTable, viewWithReleases } from '../../admin/code-tables/operations.ts';
import {
  addTable,
  findTables,
  newTable,
  pagesOfRows,
  release,
  releaseBody,
  remove,
  rename,
  requireTable,
  systemsOf,
} from '../../admin/code-tables/tables.ts';
import type { CodeTableRow } from '../../store/admin-code-table.ts';
import type { Database } from '../../deps.ts';
import { parseJson } from '../../../shared/json.ts';
import { asOperator, type Command, need, type Options, readText, SITE, textOf } from './admin-command.ts';
import { progressLine } from './progress-line.ts';
import { UsageError } from './program.ts';

const TABLE = '--table NAME';

/** @throws UsageError if the site has no table with this name */
async function tableOf(database: Database, options: Options): Promise<CodeTableRow> {
  const name = need(options, 'table');
  const tables = await findTables(database, need(options, 'site'));
  const table = tables.find((each) => each.name === name || each.table_id === name.toLowerCase());
  if (table !== undefined) return table;
  const names = tables.map((each) => each.name).join(', ');
  throw new UsageError(`the site has no code table ${name}${names === '' ? '' : `, but ${names}`}`);
}

/** @throws UsageError for a name that no table can have */
function nameOf(options: Options): string {
  const { data, error } = newTable.safeParse({ name: need(options, 'name') });
  if (data === undefined) throw new UsageError(`--name ${error.issues[0]?.message ?? ''}`);
  return data.name;
}

/** The version of `--version`; the draft without one. */
function versionOf(options: Options, { draft }: CodeTableRow): number {
  const given = textOf(options, 'version') || 'draft';
  if (given === 'draft') return draft;
  if (!/^[1-9]\d{0,8}$/.test(given)) throw new UsageError('--version must be a number or draft');
  return Number(given);
}

export const CODE_TABLE_COMMANDS: Readonly<Record<string, Command>> = {
  'code-table list': {
    usage: [SITE],
    async run({ database }, options) {
      return (await findTables(database, need(options, 'site'))).map(viewTable);
    },
  },
  'code-table create': {
    next: 'import its rows with code-table import',
    usage: [SITE, '--name NAME'],
    async run(deps, options) {
      const { actor, database } = asOperator(deps, need(options, 'site'));
      return viewTable(await addTable(database, actor, nameOf(options)));
    },
  },
  'code-table rename': {
    usage: [SITE, TABLE, '--name NEW_NAME'],
    async run(deps, options) {
      const { actor, database } = asOperator(deps, need(options, 'site'));
      const { table_id: id } = await tableOf(database, options);
      return viewTable(await rename(database, actor, id, nameOf(options)));
    },
  },
  'code-table delete': {
    usage: [SITE, TABLE],
    async run(deps, options) {
      const { actor, database } = asOperator(deps, need(options, 'site'));
      const { table_id: tableId, name, edits } = await tableOf(database, options);
      await remove(database, actor, tableId, { edits });
      return { tableId, name };
    },
  },
  'code-table show': {
    usage: [SITE, TABLE],
    async run({ database }, options) {
      const { table_id: id } = await tableOf(database, options);
      return viewWithReleases(await requireTable(database, need(options, 'site'), id));
    },
  },
  'code-table import': {
    next: 'messages are read by these rows after code-table release',
    usage: [SITE, TABLE, '--file FILE.csv|FILE.json'],
    async run(deps, options) {
      const { actor, database } = asOperator(deps, need(options, 'site'));
      const { table_id: id } = await tableOf(database, options);
      const text = await readText(need(options, 'file'));
      const isJson = text.trimStart().startsWith('{');
      const sent = isJson ? await sentConceptMap(deps.config, database, actor.site, parseJson(text)) : sentCsv(text);
      const line = progressLine(deps.terminal.errors);
      try {
        await importFile(database, actor, id, sent, line.show);
      } finally {
        line.end();
      }
      return viewTable((await requireTable(database, actor.site, id)).table);
    },
  },
  'code-table export': {
    usage: [SITE, TABLE, '[--version NUMBER|draft]', '[--format csv|fhir]'],
    print: (answer) => z.string().parse(answer),
    async run({ database, config }, options) {
      const format = textOf(options, 'format') || 'csv';
      if (format !== 'csv' && format !== 'fhir') throw new UsageError('--format must be csv or fhir');
      const site = need(options, 'site');
      const table = await tableOf(database, options);
      const version = versionOf(options, table);
      const rows = (await Array.fromAsync(pagesOfRows(database, site, table, version))).flat();
      if (format === 'csv') return CSV_HEAD + printCsv(rows);
      const of = { name: table.name, version, isLive: table.live === version };
      return `${JSON.stringify(conceptMapOf(of, rows, await systemsOf(config, database, site)), null, 2)}\n`;
    },
  },
  'code-table release': {
    next: 'it applies to the next message; replay earlier messages to add the codes to their resources',
    usage: [SITE, TABLE, '--comment TEXT', '[--version NUMBER|draft|none]'],
    async run(deps, options) {
      const { actor, database } = asOperator(deps, need(options, 'site'));
      const table = await tableOf(database, options);
      const version = textOf(options, 'version') === 'none' ? null : versionOf(options, table);
      const { data, error } = releaseBody.safeParse({ version, edits: table.edits, comment: need(options, 'comment') });
      if (data === undefined) throw new UsageError(`--comment ${error.issues[0]?.message ?? ''}`);
      await release(database, actor, table.table_id, data);
      return viewWithReleases(await requireTable(database, actor.site, table.table_id));
    },
  },
};
