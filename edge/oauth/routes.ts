/** The surface of the token service: discovery, keys, token, introspection, revocation. */
import type { Handler } from 'hono';
import { cors } from 'hono/cors';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';

import { Fault } from '../../shared/fault.ts';
import type { Deps } from '../deps.ts';
import { faultOf } from '../http/fault-status.ts';
import { DISCOVERY_CACHE_CONTROL, smartConfiguration } from '../http/smart-configuration.ts';
import { createSurface, type GatewayEnv, pathPrefix, type Surface } from '../http/surface.ts';
import type { CountUse } from '../http/usage.ts';
import { type Attempt, beginAttempt, explainRefusal } from './attempt.ts';
import { createClientKeyring, type ClientKeyring } from './client-keys.ts';
import { authorizationServerMetadata, JWKS_CACHE_CONTROL, publishedJwks } from './discovery.ts';
import { errorResponse, NO_STORE } from './oauth-error.ts';
import { Refused } from './refused.ts';
import { introspect, revoke } from './token-status.ts';
import { tokenEndpoint } from './token-endpoint.ts';

/** A 304 keeps what lets another origin use it. */
const etags = etag({ retainedHeaders: [...RETAINED_304_HEADERS, 'access-control-allow-origin'] });

type Endpoint = (deps: Deps, clientKeys: ClientKeyring, attempt: Attempt) => Promise<object | void>;

const notAllowed =
  (allow: string): Handler<GatewayEnv> =>
  () => {
    throw new Fault('method-not-allowed', `the method is not supported here: use ${allow}`, {
      headers: { Allow: allow },
    });
  };

/** The surface, below INTEGRATION_OAUTH_PUBLIC_BASE_URL. */
export function createOauth(deps: Deps, countUse?: CountUse): Surface {
  const { config } = deps;
  const base = config.INTEGRATION_OAUTH_PUBLIC_BASE_URL;
  const app = createSurface(deps, 'oauth', base, countUse);
  const clientKeys = createClientKeyring(deps);

  const publish = (path: string, cacheControl: string, document: () => object) => {
    app.use(
      path,
      cors({ origin: '*', allowMethods: ['GET', 'HEAD'], allowHeaders: ['Accept'], maxAge: 86_400 }),
      etags,
    );
    app.get(path, () => Response.json(document(), { headers: { 'Cache-Control': cacheControl } }));
    app.all(path, notAllowed('GET, HEAD, OPTIONS'));
  };
  publish('/.well-known/smart-configuration', DISCOVERY_CACHE_CONTROL, () => smartConfiguration(config));
  publish('/.well-known/oauth-authorization-server', DISCOVERY_CACHE_CONTROL, () =>
    authorizationServerMetadata(config),
  );
  publish('/oauth2/jwks', JWKS_CACHE_CONTROL, () => publishedJwks(config));
  // RFC 8414 §3.1 puts the issuer's path behind the well-known name, where the base URL has one.
  if (pathPrefix(base) !== '') {
    publish(`/.well-known/oauth-authorization-server${pathPrefix(base)}`, DISCOVERY_CACHE_CONTROL, () =>
      authorizationServerMetadata(config),
    );
  }

  const accept = (path: string, endpoint: Endpoint) => {
    app.post(path, async (c) => {
      const attempt = beginAttempt(deps, c);
      try {
        const answer = await endpoint(deps, clientKeys, attempt);
        return answer === undefined
          ? new Response(null, { headers: NO_STORE })
          : Response.json(answer, { headers: NO_STORE });
      } catch (error) {
        explainRefusal(deps, attempt, error);
        throw error instanceof Refused ? error.fault : error;
      }
    });
    app.all(path, notAllowed('POST'));
  };
  accept('/oauth2/token', tokenEndpoint);
  accept('/oauth2/introspect', introspect);
  accept('/oauth2/revoke', revoke);

  app.notFound(() => errorResponse(new Fault('not-found', 'there is nothing at this address')));
  app.onError((error, c) => errorResponse(faultOf(error, deps.log, 'oauth', c.get('requestId'))));
  return app;
}
