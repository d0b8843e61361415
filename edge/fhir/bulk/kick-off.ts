/** Beginning an export (FHIR Bulk Data Access 2.0.0, Bulk Data Kick-off Request): 202, and where its status is. */
import { Fault } from '../../../shared/fault.ts';
import { parseJson, printJson } from '../../../shared/json.ts';
import { isStored, type ResourceType } from '../../../shared/resource-type.ts';
import { isUuid, uuidv7 } from '../../../shared/uuid.ts';
import { decodeUtf8 } from '../../http/body.ts';
import { AFTER_THE_WINDOW } from '../../http/fault-status.ts';
import { type Caller, requireScopes } from '../../oauth/bearer.ts';
import { beginExport, EXPORTS_UNDER_WAY } from '../../store/bulk-export.ts';
import { refuseNoneExist, requireNoConditions } from '../conditional-headers.ts';
import { FORM_CONTROLS } from '../controls/controls.ts';
import { badParameter } from '../controls/faults.ts';
import { strictControls } from '../controls/write-controls.ts';
import { type Interaction, readScope } from '../interaction.ts';
import { requireJsonBody } from '../media-type.ts';
import { outcome } from '../outcome.ts';
import { isAsync } from '../prefer.ts';
import type { Call } from '../prepare.ts';
import { information } from '../resource-answer.ts';
import { notFound, unknownResource } from '../read.ts';
import { statusUrl } from './addresses.ts';
import { readExportRequest, type ExportRequest, givenInBody, givenInUrl, type Level, typesAt } from './parameters.ts';
import { filterText } from './type-filter.ts';

const PATHS: Readonly<Record<Level, (id: string) => string>> = {
  system: () => '/$export',
  patient: () => '/Patient/$export',
  group: (id) => `/Group/${id}/$export`,
};

/** The body is optional, since no parameter is required. A body of white space is an empty body. */
async function bodyOf({ body }: Call): Promise<string> {
  return decodeUtf8(await body()).trim();
}

async function exportRequestOf(call: Call, level: Level): Promise<ExportRequest> {
  const { request, pairs, context } = call;
  if (request.method === 'GET') {
    refuseNoneExist(request.headers);
    return readExportRequest(givenInUrl(pairs), context, level);
  }
  requireNoConditions(request.headers, 'an export');
  const body = await bodyOf(call);
  // Without one the parameters are in the URL, as MedplumClient sends them.
  if (body === '') return readExportRequest(givenInUrl(pairs), context, level);
  strictControls(pairs, FORM_CONTROLS, 'send the parameters of a POST in its body, as Parameters');
  requireJsonBody(request.headers.get('content-type'));
  return readExportRequest(givenInBody(parseJson(body)), context, level);
}

/** Without `_type`, the types that the token may not read are left out. @throws Fault `forbidden` for a named one */
function typesOf(
  caller: Caller,
  { types, filters }: ExportRequest,
  supported: readonly ResourceType[],
): readonly ResourceType[] {
  requireScopes(
    caller,
    filters.map(({ type }) => readScope(type)),
  );
  const wanted = types ?? supported.filter((type) => isStored(type) && caller.scopes.has(readScope(type)));
  requireScopes(caller, (wanted.length === 0 ? supported.filter(isStored) : wanted).map(readScope));
  return wanted;
}

/** For the manifest's `error`: an OperationOutcome a line. */
function outcomesOf(
  { types, ignored }: ExportRequest,
  supported: readonly ResourceType[],
  exported: readonly ResourceType[],
): string {
  const missing = types === null ? supported.filter((type) => isStored(type) && !exported.includes(type)) : [];
  const lines = ignored.map((issue) =>
    printJson(outcome('warning', [{ ...issue, message: `${issue.message}. It was left out.` }])),
  );
  if (missing.length > 0) {
    const scopes = missing.map(readScope).join(' ');
    const message = `${missing.join(', ')}: left out, because the access token does not have the scopes ${scopes}`;
    lines.push(printJson(outcome('information', [{ code: 'suppressed', message }])));
  }
  return lines.join('\n');
}

/** @throws Fault `malformed` for parameters that cannot be used, `forbidden` where the token may not read what they name */
export async function prepareKickOff(call: Call, level: Level): Promise<Interaction> {
  const { context, request, id: group } = call;
  const { caller, root } = context;
  // A safe method begins nothing (RFC 9110 §9.2.1).
  if (request.method === 'HEAD') {
    throw new Fault('method-not-allowed', 'Begin an export with GET or POST.', { headers: { Allow: 'GET, POST' } });
  }
  if (!isAsync(request.headers)) {
    throw badParameter('Prefer', 'An export runs in the background: send Prefer: respond-async.', 'required');
  }
  const asked = await exportRequestOf(call, level);
  const supported = typesAt(level, context.types);
  const types = typesOf(caller, asked, supported);
  // The database asks whether the key may read groups: tokens of some clients have the scopes of the exported types only.
  if (level === 'group' && !isUuid(group)) return unknownResource({ type: 'Group', id: group, version: null });
  const id = uuidv7(context.now);
  const { search } = new URL(request.url);
  const begun = beginExport({
    site: caller.site,
    clientId: caller.clientId,
    id,
    request: `${root}${PATHS[level](group)}${search}`,
    types,
    ofPatients: level !== 'system',
    group: level === 'group' ? group : null,
    since: asked.since,
    patients: asked.patients,
    filters: asked.filters.map(filterText),
    outcomes: outcomesOf(asked, supported, types),
  });
  return {
    audited: { action: 'export', searched: asked.applied },
    queries: [begun],
    answer: () => ({
      status: 202,
      headers: { 'Content-Location': statusUrl(root, id) },
      body: printJson(information('The export has begun. Its status is at Content-Location.')),
    }),
    explain: (fault) => {
      if (fault.kind === 'throttled') {
        const message = `This API key has ${EXPORTS_UNDER_WAY} exports under way: wait until one is complete, or cancel one.`;
        return new Fault('throttled', message, { headers: AFTER_THE_WINDOW });
      }
      if (fault.kind === 'not-found') return notFound('Group');
      if (fault.kind !== 'invalid') return fault;
      const message = 'patient names a Patient that this site does not have: search Patient for its id';
      return new Fault('invalid', message, { issues: [{ code: 'not-found', message, at: 'Parameters.parameter' }] });
    },
  };
}
