/**
 * A file of an export (FHIR Bulk Data Access 2.0.0, Bulk Data Output File Request). The gateway reads each page when the client
 * has received the page before. Each download has the same content: the resources as they were when the export began.
 */
import { printJson } from '../../../shared/json.ts';
import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database, Deps } from '../../deps.ts';
import { faultOf } from '../../http/fault-status.ts';
import { pagedStream } from '../../http/paged-stream.ts';
import { type Caller, requireScopes } from '../../oauth/bearer.ts';
import { assertCaller } from '../../store/api-key.ts';
import {
  erasedPatients,
  exportExists,
  filePage,
  type FileRow,
  type FileSelection,
  openFile,
  PAGE_RESOURCES,
} from '../../store/bulk-export.ts';
import { toPage } from '../../store/page.ts';
import { renderResource, type StoredResource } from '../../store/resource.ts';
import { refuseNoneExist } from '../conditional-headers.ts';
import { strictControls } from '../controls/write-controls.ts';
import { type Answer, type Interaction, NOTED, readScope } from '../interaction.ts';
import { FHIR_NDJSON } from '../media-type.ts';
import type { Call } from '../prepare.ts';
import { provenanceOf } from '../provenance.ts';
import { DELETED, fileOf, noExport, OUTCOMES } from './addresses.ts';
import { keyOf, unknownExport } from './status.ts';
import { filterOf } from './type-filter.ts';

/** The Provenance, in a file of them. */
const shownOf = (resource: StoredResource & { readonly facts?: string | null }): StoredResource => {
  const { facts } = resource;
  return typeof facts === 'string' ? provenanceOf({ ...resource, facts }) : resource;
};

/**
 * The pages after the first one. If one fails, the status is already sent, so the body ends early, and the log has the reason.
 * A generator would keep the text of a page until it is asked for the next one.
 */
function pagesAfter(
  first: string | undefined,
  ask: (after: string) => Promise<FilePage>,
  { log }: Pick<Deps, 'log'>,
  requestId: string,
): AsyncIterator<string, undefined> {
  let last = first;
  return {
    async next() {
      try {
        while (last !== undefined) {
          const previous: string = last;
          const { page, after } = await patiently(() => ask(previous));
          last = after;
          if (page.length > 0) return { value: page };
        }
      } catch (error) {
        faultOf(error, log, 'fhir', requestId);
        throw error;
      }
      return { value: undefined, done: true };
    },
  };
}

const PAGE_ATTEMPTS = 10;

/** Without memory or a database for a moment, the client would otherwise have to download the file again. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await ask();
    } catch (error) {
      if (attempts === PAGE_ATTEMPTS || !(error instanceof Fault && error.kind === 'unavailable')) throw error;
    }
  }
}

interface FilePage {
  readonly page: string;
  /** The id of its last resource; undefined for the last page. */
  readonly after: string | undefined;
}

/**
 * Each page checks that the key is active, the token is not revoked and the export still exists. A token that expires during
 * the download does not end it. It is a separate function, so that no rows are in memory while the client reads their page.
 *
 * @throws Fault `unauthenticated`, `not-found`, `unavailable`
 */
async function pageAfter(
  database: Database,
  caller: Caller,
  selection: FileSelection,
  isWanted: ((stored: StoredResource) => boolean) | undefined,
): Promise<FilePage> {
  const [, rows, [stored]] = await database.batch([
    assertCaller(caller),
    filePage(selection),
    exportExists(selection),
  ] as const);
  if (stored === undefined) throw noExport();
  const { resources, more } = toPage(rows, PAGE_RESOURCES);
  const wanted = isWanted === undefined ? resources : resources.filter(isWanted);
  // As `join`, which would copy the texts.
  const page = wanted.reduce((lines, resource) => `${lines}${renderResource(shownOf(resource))}\n`, '');
  return { page, after: more ? resources.at(-1)?.id : undefined };
}

/** Entries of one Bundle. */
const MAX_DELETED = 1000;

/** Transactions that delete the erased patients, one a line (Bulk Data Status Request, `deleted`). */
function deletedLines(rows: readonly { readonly id: string }[]): string {
  const lines: string[] = [];
  for (let at = 0; at < rows.length; at += MAX_DELETED) {
    const entry = rows
      .slice(at, at + MAX_DELETED)
      .map(({ id }) => ({ request: { method: 'DELETE', url: `Patient/${id}` } }));
    lines.push(`${printJson({ resourceType: 'Bundle', type: 'transaction', entry })}\n`);
  }
  return lines.join('');
}

const HEADERS = { 'Content-Type': FHIR_NDJSON };

/** @param requestId for the log */
export function prepareFile({ deps, context, id, pairs, request }: Call, name: string, requestId: string): Interaction {
  refuseNoneExist(request.headers);
  strictControls(pairs, [], 'leave it out: a file has no parameters');
  const wanted = fileOf(name);
  if (!isUuid(id) || wanted === undefined) return unknownExport();
  const { caller } = context;
  const { number } = wanted;
  const type = context.types.find((one) => one === wanted.type);
  const key = keyOf(context, id);

  const answer = async (file: FileRow | undefined, erased: readonly { readonly id: string }[]): Promise<Answer> => {
    if (file === undefined) throw noExport();
    requireScopes(caller, file.types.map(readScope));
    if (erased.length > 0) return { status: 200, headers: HEADERS, body: deletedLines(erased) };
    if (wanted.type === OUTCOMES && !wanted.isProvenance && number === 1 && file.outcomes !== '') {
      return { status: 200, headers: HEADERS, body: `${file.outcomes}\n` };
    }
    const { after_id: after, upto_id: upto } = file;
    if (type === undefined || after === null || upto === null) throw noExport();
    if (wanted.isProvenance && !file.types.includes('Provenance')) throw noExport();
    const withFacts = wanted.isProvenance;
    const selection = { ...key, type, number, file: { ...file, upto_id: upto }, after, withFacts };
    const relying = { ...caller, scopes: new Set(file.types.map(readScope)) };
    const values = { ...context, now: Date.parse(file.snapshot_at) };
    const isWanted = filterOf(type, file.filters, file.zone, values);
    const ask = (previous: string): Promise<FilePage> =>
      pageAfter(deps.database, relying, { ...selection, after: previous }, isWanted);
    const { page, after: last } = await ask(after);
    const stream = pagedStream(deps, page, pagesAfter(last, ask, deps, requestId));
    return { status: 200, headers: HEADERS, body: null, stream };
  };
  const readable = context.types.filter((one) => caller.scopes.has(readScope(one)));
  const opened = openFile(key, wanted.type, number, readable);
  if (wanted.type !== DELETED || number !== 1) {
    return { audited: NOTED, queries: [opened], answer: (rowsOf) => answer(rowsOf(opened)[0], []) };
  }
  const erased = erasedPatients(key);
  return {
    audited: NOTED,
    queries: [opened, erased],
    answer: (rowsOf) => answer(rowsOf(opened)[0], rowsOf(erased)),
  };
}
