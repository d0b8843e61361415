/** What every request to an interaction goes through: authenticate, negotiate, prepare, run, answer. */
import type { Context } from 'hono';

import { Fault } from '../../shared/fault.ts';
import type { Deps } from '../deps.ts';
import type { GatewayEnv } from '../http/surface.ts';
import { authenticate } from '../oauth/bearer.ts';
import { assertCaller } from '../store/api-key.ts';
import { addAudit, type AuditActor } from '../store/audit.ts';
import { cursorSealer } from './controls/cursor.ts';
import type { Answer, Interaction, RequestContext } from './interaction.ts';
import { acceptedType } from './media-type.ts';
import { preferOf } from './prefer.ts';
import type { Call } from './prepare.ts';
import { pretty } from './pretty.ts';

/** Clinical data is for the caller alone (edge/README.md, FHIR). */
export const PRIVATE = { 'Cache-Control': 'no-store, private' };

/** @param accepts what the answer's type is, from `Accept` and `_format`; default FHIR JSON */
export type Serve = (
  c: Context<GatewayEnv>,
  prepare: (call: Call) => Promise<Interaction> | Interaction,
  accepts?: (accept: string | null, format: string | null) => string,
) => Promise<Response>;

/** The one round trip: the caller's standing first, then what the interaction asks, last its row of the audit. */
async function run(
  { database }: Deps,
  { caller }: RequestContext,
  actor: AuditActor,
  { audited, queries, explain, answer }: Interaction,
): Promise<Answer> {
  const row = audited === 'none' ? [] : [addAudit(caller.site, actor, audited)];
  const results = await database.batch([assertCaller(caller), ...queries, ...row]).catch((error: unknown) => {
    throw error instanceof Fault && explain !== undefined ? explain(error) : error;
  });
  return answer(results.slice(1, 1 + queries.length));
}

/** @param root our own `{base}/fhir` */
export function createServe(deps: Deps, root: string): Serve {
  const cursors = cursorSealer(deps.config.GATEWAY_SECRET);
  return async (c, prepare, accepts = acceptedType) => {
    const request = c.req.raw;
    const query = new URL(request.url).searchParams;
    const caller = await authenticate(deps, request, 'svc-fhir');
    c.set('use', { site: caller.site, clientId: caller.clientId });
    const context = { caller, root, now: deps.now(), prefer: preferOf(request.headers), cursors };
    const prepared = async (): Promise<readonly [string, Interaction]> => [
      accepts(request.headers.get('accept'), query.get('_format')),
      await prepare({
        deps,
        context,
        request,
        pairs: [...query],
        id: c.req.param('id') ?? '',
        version: c.req.param('version') ?? '',
      }),
    ];
    const [contentType, interaction] = await prepared().catch(async (error: unknown) => {
      // Also a caller who asks for nothing that can be done must be one whose key is active.
      await deps.database.run(assertCaller(caller));
      throw error;
    });
    const actor: AuditActor = {
      kind: 'key',
      name: null,
      clientId: caller.clientId,
      address: deps.sourceAddress(request),
      requestId: c.get('requestId'),
    };
    const { status, headers, body, stream } = await run(deps, context, actor, interaction);
    const text = body !== null && query.get('_pretty') === 'true' ? pretty(body) : body;
    const type = text === null ? {} : { 'Content-Type': contentType };
    return new Response(stream ?? text, { status, headers: { ...PRIVATE, ...type, ...headers } });
  };
}
