/** The JSON API of code tables. */
import * as z from 'zod';

import type { CodeMissRow, CodeTableRow, TableRow } from '../../store/admin-code-table.ts';
import { viewList } from '../api/cursor.ts';
import { listOf, locationOf, type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import { editBody, editRows, importBody, importRows, MAX_IMPORT_BYTES } from './import.ts';
import { rowItem } from './rows.ts';
import {
  addTable,
  deleteBody,
  findMisses,
  findRows,
  findTables,
  missesQuery,
  newTable,
  RELEASE_DESCRIPTION,
  release,
  releaseBody,
  remove,
  rename,
  requireTable,
  rowsQuery,
} from './tables.ts';

const text = z.string();
const version = z.number().int();

const tableItem = z.object({
  tableId: z.uuid(),
  name: text,
  liveVersion: version.nullable().meta({ description: 'The version that messages are read by; null for none.' }),
  draftVersion: version.meta({ description: 'The version that can still be changed.' }),
  isDraftChanged: z.boolean().meta({ description: 'The draft has other rows than the newest version.' }),
  draftRows: z.number().int(),
  edits: z.number().int().meta({ description: 'Counts the changes of the table. Send it with a release.' }),
  createdAt: z.iso.datetime(),
  createdBy: text,
});

const tableAnswer = tableItem.extend({
  releases: z.array(z.object({ version: version.nullable(), at: z.iso.datetime(), by: text, comment: text })).meta({
    description: 'The steps that made a version live, or switched the table off (null). The newest first, 200 at most.',
  }),
});

export const viewTable = (row: CodeTableRow): z.infer<typeof tableItem> => ({
  tableId: row.table_id,
  name: row.name,
  liveVersion: row.live,
  draftVersion: row.draft,
  isDraftChanged: row.is_changed,
  draftRows: row.rows,
  edits: row.edits,
  createdAt: row.created_at,
  createdBy: row.created_by,
});

export const viewRow = (row: TableRow): TableRow => rowItem.parse(row);

export const viewWithReleases = ({ table, releases }: Awaited<ReturnType<typeof requireTable>>) => ({
  ...viewTable(table),
  releases: releases.map(({ version: released, at, by, comment }) => ({ version: released, at, by, comment })),
});

const missItem = z.object({
  system: text.meta({ description: 'The coding system as a row of a table names it.' }),
  code: text,
  text: text.meta({ description: 'The newest text of a sender for the code.' }),
  application: text.meta({ description: 'MSH-3.1 of the newest message.' }),
  facility: text.meta({ description: 'MSH-4.1 of the newest message.' }),
  messages: z.number().int(),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
});
export type CodeMissView = z.infer<typeof missItem>;

export const viewMiss = ({ first_at: firstAt, last_at: lastAt, messages, ...miss }: CodeMissRow): CodeMissView => ({
  ...miss,
  messages: Number(messages),
  firstAt,
  lastAt,
});

export function codeTableOperations(deps: AdminDeps): Operation[] {
  const { config } = deps;
  return [
    operation('get', '/code-tables', 'site.rules.read', {
      summary: 'List the code tables of the site by name',
      answer: listOf(tableItem),
      handle: async ({ actor, database }) => ({
        items: (await findTables(database, actor.site)).map(viewTable),
        next: null,
      }),
    }),
    operation('post', '/code-tables', 'site.rules.write', {
      summary: 'Create a code table, without rows',
      description: 'It changes no message before a version of it is live.',
      body: newTable,
      answer: tableItem,
      status: 201,
      handle: async ({ actor, database, body: { name } }) => viewTable(await addTable(database, actor, name)),
      headers: ({ tableId }) => locationOf(deps, `/code-tables/${tableId}`),
    }),
    operation('get', '/code-misses', 'site.rules.read', {
      summary: 'List the codes of messages that the live code tables miss, the most frequent first',
      description:
        'A code is listed if a live table has its coding system, and no draft has a row for it. Counts lag by a few seconds.',
      query: missesQuery,
      answer: listOf(missItem),
      handle: async ({ actor, database, query }) => viewList(await findMisses(database, actor.site, query), viewMiss),
    }),
    operation('get', '/code-tables/{id}', 'site.rules.read', {
      summary: 'Read a code table, and which version was live when',
      answer: tableAnswer,
      handle: async ({ actor, database, param }) =>
        viewWithReleases(await requireTable(database, actor.site, param('id'))),
    }),
    operation('get', '/code-tables/{id}/rows', 'site.rules.read', {
      summary: 'List the rows of a version of a code table, by coding system and code',
      query: rowsQuery,
      answer: listOf(rowItem),
      async handle({ actor, database, param, query }) {
        const { table } = await requireTable(database, actor.site, param('id'));
        return viewList(await findRows(database, actor.site, table, query), viewRow);
      },
    }),
    operation('post', '/code-tables/{id}/import', 'site.rules.write', {
      summary: 'Replace the draft of a code table by rows, a CSV file or a ConceptMap',
      description:
        'If a row is not valid, the answer has its place, and the draft does not change: `line` of a CSV, else `pointer`. Send a file of more ' +
        'than 2 MiB in parts.',
      body: importBody,
      maxBodyBytes: MAX_IMPORT_BYTES,
      answer: z.object({ isComplete: z.boolean().meta({ description: 'False while more parts follow.' }) }),
      handle: async ({ actor, database, param, body }) => ({
        isComplete: await importRows(config, database, actor, param('id'), body),
      }),
    }),
    operation('post', '/code-tables/{id}/rows', 'site.rules.write', {
      summary: 'Set or remove rows of the draft of a code table',
      body: editBody,
      answer: tableItem,
      async handle({ actor, database, param, body }) {
        await editRows(config, database, actor, param('id'), body);
        return viewTable((await requireTable(database, actor.site, param('id'))).table);
      },
    }),
    operation('post', '/code-tables/{id}/release', 'site.rules.write', {
      summary: 'Make a version of a code table live, or none',
      description: RELEASE_DESCRIPTION,
      body: releaseBody,
      needsFingerprint: true,
      answer: tableAnswer,
      async handle({ actor, database, param, body }) {
        await release(database, actor, param('id'), body);
        return viewWithReleases(await requireTable(database, actor.site, param('id')));
      },
    }),
    operation('post', '/code-tables/{id}/rename', 'site.rules.write', {
      summary: 'Rename a code table',
      description: 'Rows, versions and messages stay as they are.',
      body: newTable,
      answer: tableItem,
      handle: async ({ actor, database, param, body: { name } }) =>
        viewTable(await rename(database, actor, param('id'), name)),
    }),
    operation('post', '/code-tables/{id}/delete', 'site.rules.write', {
      summary: 'Delete a code table with its versions',
      description:
        'A live table is 409: make none of its versions live first. Stored resources keep the codings that the table added, until a ' +
        'message states their elements again.',
      body: deleteBody,
      needsFingerprint: true,
      answer: z.object({ tableId: z.uuid() }),
      async handle({ actor, database, param, body }) {
        await remove(database, actor, param('id'), body);
        return { tableId: param('id') };
      },
    }),
  ];
}
