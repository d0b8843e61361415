/** The routes of the token service: discovery, keys, token, introspection, revocation, refusals. */
import type { Handler } from 'hono';

import { Fault } from '../../shared/fault.ts';
import type { Deps } from '../deps.ts';
import { faultOf } from '../http/fault-status.ts';
import type { NoteRefusal } from '../http/refusals.ts';
import { publish } from '../http/publish.ts';
import { letReferenceCall } from '../http/reference-cors.ts';
import {
  DISCOVERY_CACHE_CONTROL,
  METADATA_PATH,
  metadataPathOf,
  smartConfiguration,
} from '../http/smart-configuration.ts';
import { createSurface, type GatewayEnv, type Surface } from '../http/surface.ts';
import type { CountUse } from '../http/usage.ts';
import { type Attempt, beginAttempt, keepRefusal } from './attempt.ts';
import type { ClientKeyring } from './client-keys.ts';
import { authorizationServerMetadata, JWKS_CACHE_CONTROL, publishedJwks } from './discovery.ts';
import { errorResponse, NO_STORE } from './oauth-error.ts';
import { listOwnRefusals } from './own-refusals.ts';
import { asRefused } from './refused.ts';
import { introspect, revoke } from './token-status.ts';
import { tokenEndpoint } from './token-endpoint.ts';

type Endpoint = (deps: Deps, clientKeys: ClientKeyring, attempt: Attempt) => Promise<object | void>;

const notAllowed =
  (allow: string): Handler<GatewayEnv> =>
  () => {
    throw new Fault('method-not-allowed', `the method is not supported at this address: use ${allow}`, {
      headers: { Allow: allow },
    });
  };

/** The path that OpenID clients try by default (OpenID Connect Discovery 1.0 §4). */
const OPENID_DISCOVERY = /\/\.well-known\/openid-configuration$/;

function nothingHere(path: string): Fault {
  const instead = OPENID_DISCOVERY.test(path)
    ? `: this is an OAuth 2.0 server, not an OpenID provider; its metadata is at ${METADATA_PATH} (RFC 8414)`
    : '';
  return new Fault('not-found', `there is nothing at this address${instead}`);
}

/** The surface, below INTEGRATION_OAUTH_PUBLIC_BASE_URL. */
export function createOauth(
  deps: Deps,
  clientKeys: ClientKeyring,
  countUse?: CountUse,
  noteRefusal?: NoteRefusal,
): Surface {
  const { config } = deps;
  const base = config.INTEGRATION_OAUTH_PUBLIC_BASE_URL;
  const app = createSurface(deps, 'oauth', base, countUse);

  const publishJson = (path: string, cacheControl: string, document: () => object) =>
    publish(app, path, () => Response.json(document(), { headers: { 'Cache-Control': cacheControl } }), notAllowed);
  publishJson('/.well-known/smart-configuration', DISCOVERY_CACHE_CONTROL, () => smartConfiguration(config));
  // Below the base URL, where many clients try it, and at the standard's path.
  for (const path of new Set([METADATA_PATH, metadataPathOf(base)])) {
    publishJson(path, DISCOVERY_CACHE_CONTROL, () => authorizationServerMetadata(config));
  }
  publishJson('/oauth2/jwks', JWKS_CACHE_CONTROL, () => publishedJwks(config));

  const accept = (path: string, endpoint: Endpoint, methods: readonly string[] = ['POST']) => {
    letReferenceCall(app, path, config, methods);
    app.on([...methods], path, async (c) => {
      const attempt = beginAttempt(deps, c);
      try {
        const answer = await endpoint(deps, clientKeys, attempt);
        return answer === undefined
          ? new Response(null, { headers: NO_STORE })
          : Response.json(answer, { headers: NO_STORE });
      } catch (error) {
        const refused = asRefused(error);
        if (refused === undefined) throw error;
        keepRefusal(deps, noteRefusal, attempt, refused);
        throw refused.fault;
      }
    });
    app.all(path, notAllowed(methods.join(', ')));
  };
  accept('/oauth2/token', tokenEndpoint);
  accept('/oauth2/introspect', introspect);
  accept('/oauth2/revoke', revoke);
  accept('/oauth2/refusals', listOwnRefusals, ['GET', 'POST']);

  app.notFound((c) => errorResponse(nothingHere(c.req.path), c.req.raw));
  app.onError((error, c) => errorResponse(faultOf(error, deps.log, 'oauth', c.get('requestId')), c.req.raw));
  return app;
}
