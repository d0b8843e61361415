/** Serves each request to an interaction: authenticate, negotiate, prepare, run, answer. */
import type { Context } from 'hono';

import { Fault } from '../../shared/fault.ts';
import type { Deps, TimeLimits } from '../deps.ts';
import { queryOf, queryPairsOf } from '../http/address.ts';
import { readInflated } from '../http/body.ts';
import { compressedAnswer, requireCoding } from '../http/compression.ts';
import { needOf } from '../http/memory.ts';
import type { GatewayEnv } from '../http/surface.ts';
import { authenticate, type Caller, withAllowedScopes } from '../oauth/bearer.ts';
import { assertCaller } from '../store/api-key.ts';
import { addAudit, type AuditActor } from '../store/audit.ts';
import { isFhirCall } from '../store/fhir-call.ts';
import { Budget } from '../limits.ts';
import { limitsAfter } from '../store/time-limits.ts';
import { cursorSealer } from './controls/cursor.ts';
import { requireUtf8 } from './controls/pairs.ts';
import { type Answer, type Interaction, type Lookup, type RequestContext, type RowsOf, rowsOf } from './interaction.ts';
import { acceptedType } from './media-type.ts';
import { typesOn } from '../../shared/resource-type.ts';
import { preferOf } from './prefer.ts';
import type { Call } from './prepare.ts';
import { prettyPieces } from '../../shared/pretty-json.ts';
import { piecesOf, textStream } from '../http/paged-stream.ts';
import { refuseUnsupportedHeaders } from './unsupported-headers.ts';

/** Only the caller may see clinical data (edge/docs/behaviour.md, FHIR). */
export const PRIVATE = { 'Cache-Control': 'no-store, private' };

/**
 * @param accepts chooses the media type of the answer from `Accept` and `_format`; default FHIR JSON
 * @param need the memory that a body needs
 */
export type Serve = (
  c: Context<GatewayEnv>,
  prepare: (call: Call) => Promise<Interaction | Lookup> | Interaction | Lookup,
  accepts?: (accept: string | null, format: string | null) => string,
  need?: (body: Uint8Array) => number,
) => Promise<Response>;

/** Attempts of a patch while other requests change the resource; each failed attempt means that another request succeeded. */
const MAX_ATTEMPTS = 5;

/** A request whose interaction is prepared. */
interface Prepared {
  readonly deps: Deps;
  readonly context: RequestContext;
  readonly actor: AuditActor & { readonly address: string };
  /** The time at which the body was complete. */
  readonly startedAt: number;
}

/** The rest of the request's time. */
const timeLeft = ({ deps, startedAt }: Prepared): TimeLimits => limitsAfter(deps.now() - startedAt);

/**
 * One round trip: the check of the caller, the queries, and the audit row. A single function call is one statement, in which
 * the function does all three.
 */
async function ask(request: Prepared, { audited, queries }: Pick<Interaction, 'audited' | 'queries'>): Promise<RowsOf> {
  const { deps, context, actor } = request;
  const { caller } = context;
  const [only] = queries;
  const isOneCall = queries.length === 1 && audited !== 'none' && audited.action === null;
  if (only !== undefined && isOneCall && isFhirCall(only)) {
    const access = { caller, address: actor.address, requestId: actor.requestId, searched: audited.searched };
    return rowsOf(queries, [await deps.database.run(only.asRequest(access), timeLeft(request))]);
  }
  const row = audited === 'none' ? [] : [addAudit(caller.site, actor, audited)];
  const [, ...results] = await deps.database.batch([assertCaller(caller), ...queries, ...row], timeLeft(request));
  return rowsOf(queries, results);
}

async function run(request: Prepared, interaction: Interaction): Promise<Answer> {
  const { deps, context } = request;
  const { explain, answer } = interaction;
  const rows = await ask(request, interaction).catch((error: unknown) => {
    // After the loss of a scope the request is served again without it, so the interaction does not explain that Fault.
    const isOfInteraction = error instanceof Fault && error.kind !== 'forbidden';
    throw isOfInteraction && explain !== undefined ? explain(error) : error;
  });
  if (interaction.queries.some(({ reads }) => reads !== true)) deps.wake?.(context.caller.site);
  return answer(rows);
}

/** Two round trips: the lookup, then the interaction if nothing has changed; otherwise both again. */
async function runAfterLookup(request: Prepared, lookup: Lookup): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const interaction = await lookup.prepare(await ask(request, lookup));
    try {
      return await run(request, interaction);
    } catch (error) {
      const isOvertaken = error instanceof Fault && error.kind === 'conflict';
      if (!isOvertaken || tries === MAX_ATTEMPTS) throw error;
    }
  }
}

/** @param contentType the media type of a body */
function responseOf(deps: Deps, request: Request, contentType: string, answer: Answer, isPretty: boolean): Response {
  const { status, headers, body, stream } = answer;
  const kept = body === null ? undefined : deps.share().keep(body.length);
  const sent =
    body !== null && (isPretty || kept !== undefined)
      ? textStream(isPretty ? prettyPieces(body) : piecesOf(body), kept)
      : body;
  const type = body === null ? {} : { 'Content-Type': contentType };
  return compressedAnswer(deps, request, stream ?? sent, {
    status,
    headers: { ...PRIVATE, ...type, ...headers },
    length: body?.length,
  });
}

/** @param root our own `{base}/fhir` */
export function createServe(deps: Deps, root: string): Serve {
  const cursors = cursorSealer(deps.config.GATEWAY_SECRET);
  const { FHIR_SEARCH: searches, FHIR_PROFILES: profiles } = deps.config;
  const types = typesOn(deps.config);
  return async (c, prepare, accepts = acceptedType, need = (body) => needOf('json', body)) => {
    const request = c.req.raw;
    const pairs = queryPairsOf(request.url);
    const parameter = (name: string): string | null => pairs.find(([given]) => given === name)?.[1] ?? null;
    const authenticated = await authenticate(deps, request, 'svc-fhir', (site, clientId) =>
      c.set('use', { site, clientId }),
    );
    const maxBodyBytes = deps.config.FHIR_MAX_BODY_BYTES;
    const share = deps.share();
    let bytes: Promise<Uint8Array> | undefined;
    const { site } = authenticated;
    const readOnce = (): Promise<Uint8Array> =>
      (bytes ??= share.read(site, async (expect) => {
        const read = await readInflated(deps.gzip, request, maxBodyBytes, expect);
        await share.reserve(site, need(read));
        return read;
      }));
    const actor = {
      kind: 'key' as const,
      name: null,
      clientId: authenticated.clientId,
      address: deps.sourceAddress(request),
      requestId: c.get('requestId'),
    };
    const serve = async (caller: Caller): Promise<readonly [string, Answer]> => {
      const [now, prefer, budget] = [deps.now(), preferOf(request.headers), new Budget()];
      const context = { caller, root, now, prefer, cursors, maxBodyBytes, searches, profiles, types, budget };
      const prepared = async (): Promise<readonly [string, Interaction | Lookup]> => {
        refuseUnsupportedHeaders(request);
        requireUtf8(queryOf(request.url));
        requireCoding(deps, request);
        const accepted = accepts(request.headers.get('accept'), parameter('_format'));
        const { id = '', version = '' } = c.req.param();
        return [accepted, await prepare({ deps, context, request, body: readOnce, pairs, id, version })];
      };
      const [contentType, asked] = await prepared().catch(async (error: unknown) => {
        // The key must be active even where the request is invalid.
        await deps.database.run(assertCaller(caller));
        throw error;
      });
      const running = { deps, context, actor, startedAt: deps.now() };
      return [contentType, await ('prepare' in asked ? runAfterLookup(running, asked) : run(running, asked))];
    };
    const [contentType, answer] = await withAllowedScopes(authenticated, serve);
    return responseOf(deps, request, contentType, answer, parameter('_pretty') === 'true');
  };
}
