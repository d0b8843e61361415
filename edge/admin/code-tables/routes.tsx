/** `/admin/code-tables`: code tables of the site, and the codes of messages that they miss. */
import type { Context } from 'hono';

import { Fault } from '../../../shared/fault.ts';
import { parseJson } from '../../../shared/json.ts';
import { pagedStream } from '../../http/paged-stream.ts';
import type { GatewayEnv, Surface } from '../../http/surface.ts';
import { viewList } from '../api/cursor.ts';
import { parse } from '../api/parse.ts';
import { type FailedForm, isOfForm, statusOfForm } from '../record/form.tsx';
import type { Visitor } from '../staff/access.ts';
import type { Console } from '../web/console.ts';
import { readForm, readQuery } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { conceptMapOf } from './concept-map.ts';
import { CSV_HEAD, printCsv } from './csv.ts';
import { editBody, editRows, importBody, importRows, MAX_IMPORT_BYTES } from './import.ts';
import { viewMiss, viewRow } from './operations.ts';
import { CodeTable, CodeTables } from './page.tsx';
import { rowBody } from './rows.ts';
import {
  addTable,
  deleteBody,
  findImport,
  findMisses,
  findRows,
  findTables,
  missesQuery,
  newTable,
  pagesOfRows,
  release,
  releaseBody,
  remove,
  rename,
  requireTable,
  rowsQuery,
  systemsOf,
} from './tables.ts';

const { path: PLACE, permission: PERMISSION } = PLACES.codeTables;
const CHANGE = 'site.rules.write';
/** A form needs three characters for an escaped one. */
const MAX_FORM_BYTES = 3 * MAX_IMPORT_BYTES;

/** Faults of a table that a page shows with its form, beside those of any form. */
const OF_TABLE: ReadonlySet<string> = new Set(['malformed', 'conflict']);

const DONE: Readonly<Record<string, string>> = {
  map: 'The row is in the draft. It counts for messages when the draft is live.',
  draft: 'The draft is changed. It counts for messages when it is live.',
  renamed: 'The table has its new name.',
  deleted: 'The table is deleted. Stored resources keep the codes that it added.',
  release: 'It applies from the next message on. Replay earlier messages to change their resources.',
};

export function addCodeTablePages(app: Surface, { deps, access }: Console): void {
  const { config } = deps;
  const path = linkTo(config, PLACE);

  const list = async (session: Visitor, address: Record<string, string>, failed?: FailedForm): Promise<Response> => {
    const { done = '', ...query } = address;
    const { database, actor } = session;
    const tables = await findTables(database, actor.site);
    const misses = viewList(await findMisses(database, actor.site, readQuery(missesQuery, query)), viewMiss);
    return respond(
      { title: 'Code tables', config, session, place: PLACE, status: statusOfForm(failed?.fault) },
      DONE[done] === undefined ? null : <Notice tone="good">{DONE[done]}</Notice>,
      <CodeTables
        {...{ tables, misses, query, path }}
        mayChange={actor.permissions.has(CHANGE)}
        fault={failed?.fault}
        given={failed?.given ?? {}}
      />,
    );
  };

  const show = async (
    session: Visitor,
    id: string,
    address: Record<string, string>,
    failed?: FailedForm,
  ): Promise<Response> => {
    const { done = '', ...query } = address;
    const { database, actor } = session;
    const { table, releases } = await requireTable(database, actor.site, id);
    const importing = await findImport(database, actor.site, id);
    const rows = viewList(await findRows(database, actor.site, table, readQuery(rowsQuery, query)), viewRow);
    return respond(
      {
        title: table.name,
        config,
        session,
        place: PLACE,
        trail: [PLACES.codeTables],
        status: statusOfForm(failed?.fault),
      },
      DONE[done] === undefined ? null : <Notice tone="good">{DONE[done]}</Notice>,
      <CodeTable
        {...{ table, releases, rows, query, importing }}
        path={`${path}/${id}`}
        mayChange={actor.permissions.has(CHANGE)}
        fault={failed?.fault}
        given={failed?.given ?? {}}
      />,
    );
  };

  /** A form of a page: the page again with the fault, or the page that it leads to. */
  const form = (use: (session: Visitor, given: Readonly<Record<string, string>>, id: string) => Promise<string>) =>
    async function answer(c: Context<GatewayEnv>): Promise<Response> {
      const session = await access.page(c, CHANGE);
      const id = c.req.param('id') ?? '';
      const given = Object.fromEntries(await readForm(c, MAX_FORM_BYTES));
      try {
        return c.redirect(`${path}${await use(session, given, id)}`, 303);
      } catch (error) {
        const isShown = isOfForm(error) || (error instanceof Fault && OF_TABLE.has(error.kind));
        if (!isShown || !session.actor.permissions.has(PERMISSION)) throw error;
        const failed = { fault: error, given };
        return id === '' ? list(session, {}, failed) : show(session, id, {}, failed);
      }
    };

  app.get(PLACE, async (c) => list(await access.page(c, PERMISSION), c.req.query()));
  app.post(
    PLACE,
    form(async ({ database, actor }, given) => {
      const { table_id: id } = await addTable(database, actor, parse(newTable, given).name);
      return `/${id}`;
    }),
  );
  app.post(
    `${PLACE}/map`,
    form(async ({ database, actor }, { table = '', ...given }) => {
      await editRows(config, database, actor, table, setOf(given));
      return '?done=map';
    }),
  );
  app.get(`${PLACE}/:id`, async (c) => show(await access.page(c, PERMISSION), c.req.param('id'), c.req.query()));
  app.post(
    `${PLACE}/:id/set`,
    form(async ({ database, actor }, given, id) => {
      await editRows(config, database, actor, id, setOf(given));
      return `/${id}?done=draft`;
    }),
  );
  app.post(
    `${PLACE}/:id/remove`,
    form(async ({ database, actor }, given, id) => {
      const rows = [{ ...given, equivalence: 'unmatched' }];
      await editRows(config, database, actor, id, parse(editBody, { change: 'remove', rows }));
      return `/${id}?done=draft`;
    }),
  );
  app.post(
    `${PLACE}/:id/import`,
    form(async ({ database, actor }, { file = '' }, id) => {
      const body = file.trimStart().startsWith('{') ? { conceptMap: parseJson(file) } : { csv: file };
      await importRows(config, database, actor, id, parse(importBody, body));
      return `/${id}?done=draft`;
    }),
  );
  app.post(
    `${PLACE}/:id/release`,
    form(async ({ database, actor }, { version = '', edits = '', comment = '' }, id) => {
      const body = { version: version === '' ? null : Number(version), edits: Number(edits), comment };
      await release(database, actor, id, parse(releaseBody, body));
      return `/${id}?done=release`;
    }),
  );

  app.post(
    `${PLACE}/:id/rename`,
    form(async ({ database, actor }, given, id) => {
      await rename(database, actor, id, parse(newTable, given).name);
      return `/${id}?done=renamed`;
    }),
  );
  app.post(
    `${PLACE}/:id/delete`,
    form(async ({ database, actor }, { edits = '' }, id) => {
      await remove(database, actor, id, parse(deleteBody, { edits: Number(edits) }));
      return '?done=deleted';
    }),
  );

  /** A version as a file, page by page. */
  const file = (
    name: string,
    type: string,
    print: (pages: RowPages, of: FileOf) => AsyncGenerator<string, undefined>,
  ) =>
    app.get(`${PLACE}/:id/${name}`, async (c) => {
      const { database, actor } = await access.page(c, PERMISSION);
      const { table } = await requireTable(database, actor.site, c.req.param('id'));
      const { version = table.draft } = readQuery(rowsQuery, c.req.query());
      const systems = await systemsOf(config, database, actor.site);
      const pages = pagesOfRows(database, actor.site, table, version);
      const text = print(pages, { name: table.name, version, isLive: table.live === version, systems });
      const { value: first = '' } = await text.next();
      return new Response(pagedStream(deps, first, text), {
        headers: {
          'Content-Type': type,
          'Content-Disposition': `attachment; filename="${name}"`,
          'Cache-Control': 'no-store',
          'X-Content-Type-Options': 'nosniff',
        },
      });
    });
  file('table.csv', 'text/csv; charset=utf-8', printedCsv);
  file('concept-map.json', 'application/fhir+json', printedMap);
}

/** The form begins with a target system, which a code without a target leaves there. */
const setOf = (given: Readonly<Record<string, string>>) => {
  const row = parse(rowBody, given);
  const hasNoTarget = row.equivalence === 'unmatched' && row.targetCode === '';
  return parse(editBody, { change: 'set', rows: [hasNoTarget ? { ...row, targetSystem: '' } : row] });
};

type RowPages = ReturnType<typeof pagesOfRows>;
type FileOf = Parameters<typeof conceptMapOf>[0] & { readonly systems: Parameters<typeof conceptMapOf>[2] };

async function* printedCsv(pages: RowPages): AsyncGenerator<string, undefined> {
  yield CSV_HEAD;
  for await (const rows of pages) yield printCsv(rows);
  return undefined;
}

/** The groups of each page follow each other. */
async function* printedMap(pages: RowPages, { systems, ...of }: FileOf): AsyncGenerator<string, undefined> {
  const { group: _none, ...head } = conceptMapOf(of, [], systems);
  yield `${JSON.stringify(head).slice(0, -1)},"group":[`;
  let separator = '';
  for await (const rows of pages) {
    const { group } = conceptMapOf(of, rows, systems);
    const printed = JSON.stringify(group).slice(1, -1);
    if (printed === '') continue;
    yield separator + printed;
    separator = ',';
  }
  yield ']}\n';
  return undefined;
}
