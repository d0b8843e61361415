/**
 * The routes of the console and of its JSON API (edge/docs/behaviour.md, Administration). Errors are problem details below
 * `/admin/api`, pages elsewhere.
 */
import { Fault } from '../../shared/fault.ts';
import { addressKey } from '../../shared/ip.ts';
import type { Deps } from '../deps.ts';
import { addAssets } from '../http/assets.ts';
import { AFTER_THE_WINDOW, faultOf } from '../http/fault-status.ts';
import { problem } from '../http/problem.ts';
import { createSurface, type Surface } from '../http/surface.ts';
import { addOperations, API_PATH, type Operation } from './api/operation.ts';
import { alertOperations } from './alerts/operations.ts';
import { addAlertPages } from './alerts/routes.tsx';
import { auditOperations } from './audit/operations.ts';
import { addAuditPages } from './audit/routes.tsx';
import { attentionOperations } from './attention/operations.ts';
import { addAttentionPages } from './attention/routes.tsx';
import { feedOperations } from './feeds/operations.ts';
import { addFeeds } from './feeds/routes.tsx';
import { healthOperations } from './health/operations.ts';
import { addHealthPage } from './health/routes.tsx';
import { keyOperations } from './keys/operations.ts';
import { addKeyPages } from './keys/routes.tsx';
import { mergeOperations } from './merges/operations.ts';
import { addMergePages } from './merges/routes.tsx';
import { messageOperations } from './messages/operations.ts';
import { addMessagePages } from './messages/routes.tsx';
import { codeTableOperations } from './code-tables/operations.ts';
import { addCodeTablePages } from './code-tables/routes.tsx';
import { nameOperations } from './names/operations.ts';
import { addNamePages } from './names/routes.tsx';
import { endpointOperations } from './endpoints/operations.ts';
import { trafficOperations } from './traffic/operations.ts';
import { addTraffic } from './traffic/routes.tsx';
import { requestOperations } from './requests/operations.ts';
import { addRequestPages } from './requests/routes.tsx';
import { rulesOperations } from './rules/operations.ts';
import { addRulesPages } from './rules/routes.tsx';
import { settingsOperations } from './settings/operations.ts';
import { addSettingsPages } from './settings/routes.tsx';
import { replayOperations } from './replays/operations.ts';
import { addReplayPages } from './replays/routes.tsx';
import { trialOperations } from './rules/trial.ts';
import { addTrialPages } from './rules/trial-routes.tsx';
import { peopleOperations } from './people/operations.ts';
import { addPeoplePages } from './people/routes.tsx';
import { siteFileOperations } from './site-file/operations.ts';
import { addSiteFilePages } from './site-file/routes.tsx';
import { signingKeyOperations } from './signing-keys/operations.ts';
import { addSigningKeyPage } from './signing-keys/routes.tsx';
import { subscriptionOperations } from './subscriptions/operations.ts';
import { addSubscriptionPages } from './subscriptions/routes.tsx';
import { createAccess } from './staff/access.ts';
import { addBackChannelLogout, LOGOUT_PATH } from './sign-in/back-channel-logout.ts';
import { createBearer } from './staff/bearer-token.ts';
import { addSiteChoice } from './sign-in/choose-site.tsx';
import { createProvider } from './staff/provider.ts';
import { createProviderKeys } from './staff/provider-keys.ts';
import { createRenew } from './staff/renew.ts';
import { createSessions } from './staff/session.ts';
import { addSignIn } from './sign-in/sign-in.ts';
import { addSignedOut } from './sign-in/signed-out.tsx';
import { createTokenSeal } from './staff/token-seal.ts';
import type { AdminDeps, Console } from './web/console.ts';
import { createSealedQueries } from './web/sealed-query.ts';
import { searchOperations } from './search/operations.ts';
import { addSearch } from './search/routes.tsx';
import { errorPage } from './error-page.tsx';
import { unsentOf } from './sign-in/unsent.tsx';
import { workbenchOperations } from './workbench/operations.ts';
import { addWorkbench } from './workbench/routes.tsx';
import type { Workbench } from './workbench/workbench.ts';

const ASSETS_PATH = '/admin/assets';

/** All operations of `/admin/api`, also for the OpenAPI document. */
export function adminOperations(deps: AdminDeps, workbench: Workbench): Operation[] {
  return [
    ...searchOperations(),
    ...keyOperations(deps),
    ...trafficOperations(deps),
    ...endpointOperations(deps),
    ...healthOperations(deps),
    ...feedOperations(deps),
    ...subscriptionOperations(deps, workbench),
    ...requestOperations(deps),
    ...messageOperations(workbench),
    ...replayOperations(),
    ...trialOperations(),
    ...mergeOperations(workbench),
    ...attentionOperations(deps.now),
    ...nameOperations(),
    ...codeTableOperations(deps),
    ...rulesOperations(),
    ...alertOperations(deps),
    ...workbenchOperations(deps, workbench),
    ...auditOperations(),
    ...settingsOperations(deps),
    ...siteFileOperations(deps, workbench),
    ...peopleOperations(),
    ...signingKeyOperations(deps),
  ];
}

export function createAdmin(deps: Deps, workbench: Workbench): Surface {
  const app = createSurface(deps, 'admin', deps.config.ADMIN_PUBLIC_BASE_URL);
  const findProvider = createProvider(deps);
  const sessions = createSessions(deps);
  const tokens = createTokenSeal(deps);
  const keysOf = createProviderKeys(deps);
  const bearer = createBearer(deps, findProvider, keysOf);
  const access = createAccess(deps, bearer, sessions, createRenew(deps, findProvider, sessions, tokens));

  app.use(async (c, next) => {
    // PostgreSQL cannot store NUL in a text.
    if (c.req.url.includes('%00')) throw new Fault('malformed', 'the address has a NUL (%00): remove it');
    const isAsset = c.req.path.startsWith(`${ASSETS_PATH}/`);
    const address = addressKey(deps.sourceAddress(c.req.raw));
    if (!isAsset && !(await deps.rateLimiter.allow('admin-address', address))) {
      throw new Fault('throttled', 'too many requests from this address: wait a minute', { headers: AFTER_THE_WINDOW });
    }
    c.set('share', deps.share());
    await next();
  });
  // A page that needs no data still asserts the session.
  app.use(async (c, next) => {
    await next();
    if (c.error === undefined) await c.get('assertSession')?.();
  });
  // console.js computes "4 min ago" from it, because the computer's clock may be wrong.
  app.use('/admin/*', async (c, next) => {
    await next();
    c.header('Server-Timing', `now;desc=${deps.now()}`);
  });
  addSignIn(app, deps, findProvider, sessions, tokens, access);
  addSignedOut(app, deps.config);
  addSiteChoice(app, deps, sessions, access);
  addBackChannelLogout(app, deps, findProvider, keysOf);
  addOperations(app, access, adminOperations(deps, workbench));
  addAssets(app, deps, ASSETS_PATH);
  const console: Console = { deps, access, queries: createSealedQueries(deps) };
  addSearch(app, console);
  addFeeds(app, console);
  addTraffic(app, console);
  addHealthPage(app, console);
  addKeyPages(app, console);
  addRulesPages(app, console);
  addRequestPages(app, console);
  addMessagePages(app, console, workbench);
  addReplayPages(app, console, workbench);
  addTrialPages(app, console);
  addMergePages(app, console, workbench);
  addAttentionPages(app, console);
  addNamePages(app, console);
  addCodeTablePages(app, console);
  addAlertPages(app, console);
  addSubscriptionPages(app, console, workbench);
  addWorkbench(app, console, workbench);
  addAuditPages(app, console);
  addSettingsPages(app, console);
  addSiteFilePages(app, console, workbench);
  addPeoplePages(app, console);
  addSigningKeyPage(app, console);

  const isApi = (path: string) => [API_PATH, LOGOUT_PATH].includes(path) || path.startsWith(`${API_PATH}/`);

  app.notFound(async (c) => {
    const fault = new Fault('not-found', 'there is nothing at this address');
    const requestId = c.get('requestId');
    if (isApi(c.req.path)) return problem(fault, requestId);
    return errorPage(deps.config, fault, { requestId, session: await access.sessionOfError(c) });
  });

  app.onError(async (error, c) => {
    const requestId = c.get('requestId');
    const fault = faultOf(error, deps.log, 'admin', requestId);
    if (isApi(c.req.path)) return problem(fault, requestId);
    // A page that needs a session leads to the sign-in.
    if (fault?.kind === 'unauthenticated' && c.req.method === 'GET') {
      const { pathname, search } = new URL(c.req.url);
      const returnTo = encodeURIComponent(pathname.slice(pathname.indexOf('/admin')) + search);
      return c.redirect(`${deps.config.ADMIN_PUBLIC_BASE_URL ?? ''}/admin/sign-in?returnTo=${returnTo}`);
    }
    if (fault?.kind === 'unauthenticated') {
      return errorPage(deps.config, fault, { requestId, unsent: await unsentOf(c, deps.config, sessions) });
    }
    // After a throttled request or a failure of the database the error page runs no query.
    const mayQuery = fault?.kind !== 'throttled' && fault?.kind !== 'unavailable';
    return errorPage(deps.config, fault, { requestId, session: mayQuery ? await access.sessionOfError(c) : undefined });
  });

  return app;
}
