/** The progress of an export, its manifest, and its cancellation (FHIR Bulk Data Access 2.0.0, Status Request, Delete Request). */
import { type JsonObject, printJson } from '../../../shared/json.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { requireScopes } from '../../oauth/bearer.ts';
import {
  cancelExport,
  type ExportFile,
  type ExportKey,
  type ExportRow,
  findExport,
  stepExport,
} from '../../store/bulk-export.ts';
import { lastModifiedOf, refuseNoneExist, requireNoConditions } from '../conditional-headers.ts';
import { FORM_CONTROLS } from '../controls/controls.ts';
import { strictControls } from '../controls/write-controls.ts';
import { type Answer, type Interaction, readScope, type RequestContext, type RowsOf } from '../interaction.ts';
import type { Call } from '../prepare.ts';
import { information } from '../resource-answer.ts';
import { DELETED, fileUrl, noExport, OUTCOMES, provenanceUrl } from './addresses.ts';

const HINT = 'the kick-off request decides what is exported';

/** Each status request lists a large part of the files, so the client should ask again soon. */
const ASK_AGAIN = { 'Retry-After': '1' };

export const keyOf = ({ caller }: RequestContext, id: string): ExportKey => ({
  site: caller.site,
  clientId: caller.clientId,
  id,
});

/** The answer where the id cannot exist, without a query. */
export const unknownExport = (): Interaction => ({
  audited: 'none',
  queries: [],
  answer: () => {
    throw noExport();
  },
});

/** Written by findExport. */
const filesOf = ({ files }: ExportRow): readonly ExportFile[] => JSON.parse(files) as ExportFile[];

function progressOf(row: ExportRow): string {
  if (!row.is_settled) return 'waiting for writes that were under way when the export began';
  const files = filesOf(row);
  return `${files.reduce((sum, { count }) => sum + count, 0)} resources in ${files.length} files so far`;
}

function manifestOf(root: string, id: string, row: ExportRow): JsonObject {
  const error = row.outcomes === '' ? [] : [{ type: OUTCOMES, url: fileUrl(root, id, OUTCOMES, 1) }];
  return {
    transactionTime: row.transaction_time,
    request: row.request,
    requiresAccessToken: true,
    output: filesOf(row).flatMap(({ type, number, count }) => {
      // The number of resources that match a filter is not known before the file is read.
      const counted = row.filters.some((filter) => filter.startsWith(`${type}?`)) ? {} : { count };
      const provenance = { type: 'Provenance', url: provenanceUrl(root, id, type, number), ...counted };
      return [
        { type, url: fileUrl(root, id, type, number), ...counted },
        ...(row.types.includes('Provenance') ? [provenance] : []),
      ];
    }),
    deleted: row.has_deleted ? [{ type: DELETED, url: fileUrl(root, id, DELETED, 1) }] : [],
    error,
  };
}

function statusAnswer({ caller, root }: RequestContext, id: string, row: ExportRow | undefined): Answer {
  if (row === undefined) throw noExport();
  requireScopes(caller, row.types.map(readScope));
  if (!row.is_complete) return { status: 202, headers: { ...ASK_AGAIN, 'X-Progress': progressOf(row) }, body: null };
  const headers = { 'Content-Type': 'application/json', Expires: lastModifiedOf(row.expires_at) };
  return { status: 200, headers, body: printJson(manifestOf(root, id, row)) };
}

export function prepareStatus({ context, id, pairs, request }: Call): Interaction {
  refuseNoneExist(request.headers);
  strictControls(pairs, FORM_CONTROLS, HINT);
  if (!isUuid(id)) return unknownExport();
  const key = keyOf(context, id);
  const found = findExport(key);
  return {
    audited: 'none',
    queries: [stepExport(key), found],
    answer: (rowsOf) => statusAnswer(context, id, rowsOf(found)[0]),
  };
}

export function prepareCancel({ context, id, pairs, request }: Call): Interaction {
  requireNoConditions(request.headers, 'an export');
  strictControls(pairs, FORM_CONTROLS, HINT);
  if (!isUuid(id)) return unknownExport();
  const cancelled = cancelExport(keyOf(context, id));
  const answer = (rowsOf: RowsOf): Answer => {
    if (rowsOf(cancelled).length === 0) throw noExport();
    return {
      status: 202,
      headers: {},
      body: printJson(information('The export has ended, and its files are deleted.')),
    };
  };
  return { audited: 'none', queries: [cancelled], answer };
}
