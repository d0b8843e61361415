/** The FHIR surface: where its interactions are, and what every request goes through (FHIR R4 http, 3.1.0). */
import type { Context, Handler } from 'hono';

import { Fault } from '../../shared/fault.ts';
import { printJson } from '../../shared/json.ts';
import type { Deps } from '../deps.ts';
import { FAULT_STATUS, faultOf } from '../http/fault-status.ts';
import { publish } from '../http/publish.ts';
import { DISCOVERY_CACHE_CONTROL, smartConfiguration } from '../http/smart-configuration.ts';
import { createSurface, type GatewayEnv, type Surface } from '../http/surface.ts';
import type { CountUse } from '../http/usage.ts';
import { authenticate, challengeOf, requireScopes } from '../oauth/bearer.ts';
import { assertCaller } from '../store/api-key.ts';
import { isResourceType, RESOURCE_TYPES } from '../../shared/resource-type.ts';
import { prepareBundle } from './bundle/bundle.ts';
import { capabilityStatement } from './capability.ts';
import { readJson } from './resource-body.ts';
import { type Call, HANDLERS } from './prepare.ts';
import { type Answer, type Interaction, readScope, type RequestContext, writeScope } from './interaction.ts';
import { type InteractionName, TYPE_INTERACTIONS, type TypeInteraction } from './type-interactions.ts';
import { acceptedType, FHIR_JSON } from './media-type.ts';
import { outcomeOf } from './outcome.ts';
import { preferOf } from './prefer.ts';
import { pretty } from './pretty.ts';
import { cursorSealer } from './controls/cursor.ts';

/** In a group of its own: the router anchors what it is given, not its alternatives. */
const TYPE = `/fhir/:type{(?:${RESOURCE_TYPES.join('|')})}`;

const SCOPES = { read: readScope, write: writeScope } as const;

/** Clinical data is for the caller alone (edge/README.md, FHIR). */
const PRIVATE = { 'Cache-Control': 'no-store, private' };

function errorResponse(fault: Fault | undefined): Response {
  return new Response(printJson(outcomeOf(fault)), {
    status: fault === undefined ? 500 : FAULT_STATUS[fault.kind],
    headers: {
      ...PRIVATE,
      ...(fault === undefined ? {} : challengeOf(fault)),
      'Content-Type': `${FHIR_JSON}; charset=utf-8`,
    },
  });
}

const notAllowed =
  (allow: string): Handler<GatewayEnv> =>
  () => {
    throw new Fault('method-not-allowed', `this address supports ${allow}`, { headers: { Allow: allow } });
  };

/** HEAD is GET without its body (RFC 9110 §9.3.2). */
const allowOf = (methods: readonly string[]): string =>
  methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');

/** @returns the surface; without INTEGRATION_FHIR_PUBLIC_BASE_URL it answers 503 to everything */
export function createFhir(deps: Deps, countUse?: CountUse): Surface {
  const { config } = deps;
  const base = config.INTEGRATION_FHIR_PUBLIC_BASE_URL;
  const root = `${base ?? ''}/fhir`;
  const app = createSurface(deps, 'fhir', base, countUse);
  const cursors = cursorSealer(config.GATEWAY_SECRET);

  /** The one round trip: the caller's standing first, then what the interaction asks. */
  const run = async (context: RequestContext, { queries, explain, answer }: Interaction): Promise<Answer> => {
    const results = await deps.database.batch([assertCaller(context.caller), ...queries]).catch((error: unknown) => {
      throw error instanceof Fault && explain !== undefined ? explain(error) : error;
    });
    return answer(results.slice(1));
  };

  /** Authenticate, negotiate, prepare, run, answer. */
  const serve = async (
    c: Context<GatewayEnv>,
    prepare: (call: Call) => Promise<Interaction> | Interaction,
  ): Promise<Response> => {
    const request = c.req.raw;
    const query = new URL(request.url).searchParams;
    const caller = await authenticate(deps, request, 'svc-fhir');
    c.set('use', { site: caller.site });
    const context = { caller, root, now: deps.now(), prefer: preferOf(request.headers), cursors };
    const prepared = async (): Promise<readonly [string, Interaction]> => [
      acceptedType(request.headers.get('accept'), query.get('_format')),
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
    const { status, headers, body } = await run(context, interaction);
    const text = body !== null && query.get('_pretty') === 'true' ? pretty(body) : body;
    const type = text === null ? {} : { 'Content-Type': contentType };
    return new Response(text, { status, headers: { ...PRIVATE, ...headers, ...type } });
  };

  const metadata = (c: Context<GatewayEnv>): Response => {
    const contentType = acceptedType(c.req.header('accept') ?? null, c.req.query('_format') ?? null);
    const text = printJson(capabilityStatement(config, root));
    return new Response(c.req.query('_pretty') === 'true' ? pretty(text) : text, {
      headers: { 'Content-Type': contentType, 'Cache-Control': DISCOVERY_CACHE_CONTROL, Vary: 'Accept' },
    });
  };
  const smart = (): Response =>
    Response.json(smartConfiguration(config), { headers: { 'Cache-Control': DISCOVERY_CACHE_CONTROL } });
  publish(app, '/fhir/metadata', metadata, notAllowed);
  publish(app, '/fhir/.well-known/smart-configuration', smart, notAllowed);

  for (const path of ['/fhir', '/fhir/']) {
    app.post(path, (c) =>
      serve(c, async ({ context, request }) => prepareBundle(context, await readJson(deps, request))),
    );
    app.all(path, notAllowed('POST'));
  }
  const byPath = Map.groupBy<string, TypeInteraction & { name: InteractionName }>(
    TYPE_INTERACTIONS,
    ({ path }) => path,
  );
  for (const [path, interactions] of byPath) {
    for (const { name, method, scope } of interactions) {
      app.on(method, TYPE + path, (c) => {
        const type = c.req.param('type');
        if (!isResourceType(type)) throw new TypeError('the route lets only our types through');
        return serve(c, (call) => {
          requireScopes(call.context.caller, [SCOPES[scope](type)]);
          return HANDLERS[name](call, type);
        });
      });
    }
    app.all(TYPE + path, notAllowed(allowOf(interactions.map(({ method }) => method))));
  }

  app.notFound(() =>
    errorResponse(
      new Fault('not-found', `nothing is served at this address; resource types: ${RESOURCE_TYPES.join(', ')}`),
    ),
  );
  app.onError((error, c) => errorResponse(faultOf(error, deps.log, 'fhir', c.get('requestId'))));
  return app;
}
