/** The routes of the FHIR surface (FHIR R4 http, 3.1.0). */
import type { Context, Handler } from 'hono';

import { Fault } from '../../shared/fault.ts';
import { printJson } from '../../shared/json.ts';
import { isResourceType, isStored, type ResourceType, typesOn } from '../../shared/resource-type.ts';
import type { SearchSet } from '../config.ts';
import type { Deps } from '../deps.ts';
import { compressedAnswer } from '../http/compression.ts';
import { FAULT_STATUS, faultOf } from '../http/fault-status.ts';
import { noteAnswer, type NoteRefusal } from '../http/refusals.ts';
import { publish } from '../http/publish.ts';
import { letReferenceCall } from '../http/reference-cors.ts';
import { DISCOVERY_CACHE_CONTROL, smartConfiguration } from '../http/smart-configuration.ts';
import { createSurface, type GatewayEnv, type Surface } from '../http/surface.ts';
import type { CountUse } from '../http/usage.ts';
import { challengeOf, requireScopes } from '../oauth/bearer.ts';
import { addBulkExport } from './bulk/routes.ts';
import { needOfBundle, prepareBundle } from './bundle/bundle.ts';
import { capabilityStatement } from './capability.ts';
import { refuseNoneExist, requireNoConditions } from './conditional-headers.ts';
import { METADATA_CONTROLS, readControls } from './controls/controls.ts';
import { badParameter } from './controls/faults.ts';
import { requireFormControls } from './controls/write-controls.ts';
import { readScope, writeScope } from './interaction.ts';
import { acceptedType, FHIR_JSON } from './media-type.ts';
import { outcomeOf } from './outcome.ts';
import { PREPARE } from './prepare.ts';
import { pretty } from '../../shared/pretty-json.ts';
import { refusalReason } from './refused-request.ts';
import { rootOf } from './resource-answer.ts';
import { readJson } from './resource-body.ts';
import { createServe, PRIVATE, type Serve } from './serve.ts';
import { addSubscriptions, refuseSubscriptions } from './subscriptions/routes.ts';
import { ID_SEGMENT, unsupportedAddress, unsupportedMethod } from './unsupported-address.ts';
import { hasInteraction, interactionsWith, METHODS, type TypeInteraction } from './type-interactions.ts';

/**
 * A segment that cannot be an id makes an unsupported address. The types need a group, because the router anchors the pattern
 * but not its alternatives.
 */
const routeOf = (one: TypeInteraction, on: readonly ResourceType[]): string => {
  const id = `:id{${ID_SEGMENT}}`;
  const types = on.filter((type) => hasInteraction(type, one)).join('|');
  return `/fhir/${one.ofPatient === true ? `Patient/${id}/` : ''}:type{(?:${types})}${one.path.replace(':id', id)}`;
};

const SCOPES = {
  read: (type: string) => [readScope(type)],
  write: (type: string) => [writeScope(type)],
  both: (type: string) => [readScope(type), writeScope(type)],
} as const;

/** Only exports have `DELETE`. */
const CALLED_METHODS = [...METHODS, 'DELETE'];

function errorResponse(deps: Deps, request: Request, fault: Fault | undefined): Response {
  return compressedAnswer(deps, request, printJson(outcomeOf(fault)), {
    status: fault === undefined ? 500 : FAULT_STATUS[fault.kind],
    headers: {
      ...PRIVATE,
      ...(fault === undefined ? {} : challengeOf(fault)),
      'Content-Type': `${FHIR_JSON}; charset=utf-8`,
    },
  });
}

const notAllowed =
  (allow: string, hint?: string): Handler<GatewayEnv> =>
  (c) => {
    throw unsupportedMethod(c.req.method, allow, hint);
  };

/** HEAD is GET without its body (RFC 9110 §9.3.2). */
const allowOf = (methods: readonly string[]): string =>
  methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');

/** The public documents: the capabilities, and the address of the token endpoint. */
function addDocuments(app: Surface, deps: Deps, root: string): void {
  const { config } = deps;
  const metadata = (c: Context<GatewayEnv>): Response => {
    const { headers, url } = c.req.raw;
    refuseNoneExist(headers);
    const pairs = [...new URL(url).searchParams];
    const controls = readControls(pairs, METADATA_CONTROLS);
    const contentType = acceptedType(headers.get('accept'), controls.get('_format') ?? null);
    if ((controls.get('mode') ?? 'full') !== 'full') throw badParameter('mode', 'mode must be full');
    const { FHIR_SEARCH: searches, FHIR_PROFILES: profiles, FHIR_SUBSCRIPTIONS: hasSubscriptions } = config;
    const types = typesOn(config);
    const text = printJson(capabilityStatement(root, { searches, profiles, types, hasSubscriptions }));
    return compressedAnswer(deps, c.req.raw, controls.get('_pretty') === 'true' ? pretty(text) : text, {
      headers: { 'Content-Type': contentType, 'Cache-Control': DISCOVERY_CACHE_CONTROL, Vary: 'Accept' },
    });
  };
  const smart = (c: Context<GatewayEnv>): Response =>
    compressedAnswer(deps, c.req.raw, JSON.stringify(smartConfiguration(config)), {
      headers: { 'Content-Type': 'application/json', 'Cache-Control': DISCOVERY_CACHE_CONTROL },
    });
  publish(app, '/fhir/metadata', metadata, notAllowed);
  publish(app, '/fhir/.well-known/smart-configuration', smart, notAllowed);
}

/** batch and transaction, at the root. */
function addBundles(app: Surface, serve: Serve): void {
  for (const path of ['/fhir', '/fhir/']) {
    app.post(path, (c) =>
      serve(
        c,
        async ({ context, deps, pairs, request, body }) => {
          requireFormControls(pairs, 'bundle');
          requireNoConditions(request.headers, 'a Bundle: put conditions into its entries');
          const content = await readJson({ request, body });
          return prepareBundle(context, content, (await body()).length, deps.share());
        },
        acceptedType,
        needOfBundle,
      ),
    );
    app.all(path, notAllowed('POST', ' of a Bundle; to search, send GET [type]?[parameters]'));
  }
}

/** @param types types with the same methods */
function addTypes(app: Surface, serve: Serve, types: readonly ResourceType[], searches: SearchSet): void {
  const known = interactionsWith(searches).filter((one) => types.some((type) => hasInteraction(type, one)));
  for (const [route, interactions] of Map.groupBy(known, (one) => routeOf(one, types))) {
    for (const { name, method, scope } of interactions) {
      app.on(method, route, (c) => {
        const type = c.req.param('type');
        if (!isResourceType(type)) throw new TypeError('the route matches supported types only');
        return serve(c, (call) => {
          requireScopes(call.context.caller, SCOPES[scope](type));
          return PREPARE[name](call, type);
        });
      });
    }
    app.all(route, notAllowed(allowOf(interactions.map(({ method }) => method))));
  }
}

/** @returns the surface; without INTEGRATION_FHIR_PUBLIC_BASE_URL it answers 503 to everything */
export function createFhir(deps: Deps, countUse?: CountUse, noteRefusal?: NoteRefusal): Surface {
  const { config } = deps;
  const base = config.INTEGRATION_FHIR_PUBLIC_BASE_URL;
  const root = rootOf(config);
  const app = createSurface(deps, 'fhir', base, countUse);
  const serve = createServe(deps, root);
  const types = typesOn(config);

  addDocuments(app, deps, root);
  // After the public documents, which have their own headers.
  letReferenceCall(app, '*', config, CALLED_METHODS);
  addBundles(app, serve);
  addBulkExport(app, serve, notAllowed, types);
  if (config.FHIR_SUBSCRIPTIONS) addSubscriptions(app, serve, notAllowed);
  else refuseSubscriptions(app);
  for (const [, some] of Map.groupBy(types, isStored)) addTypes(app, serve, some, config.FHIR_SEARCH);

  app.notFound((c) => errorResponse(deps, c.req.raw, unsupportedAddress(c.req.path, types)));
  app.onError((error, c) => {
    const fault = faultOf(error, deps.log, 'fhir', c.get('requestId'));
    const response = errorResponse(deps, c.req.raw, fault);
    noteAnswer(c, noteRefusal, deps.sourceAddress(c.req.raw), response.status, refusalReason(fault));
    return response;
  });
  return app;
}
