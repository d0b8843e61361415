/**
 * Authenticates the client of a request by a client assertion in its form, or by one of its access tokens.
 */
import type { Deps, Query } from '../deps.ts';
import { limitLinks, presentedLink } from '../http/key-link.ts';
import { oauthAddresses } from '../http/smart-configuration.ts';
import { assertCaller, type CallerIdentity } from '../store/api-key.ts';
import { assertKeyLink, type PresentedLink } from '../store/key-link.ts';
import { enterSite } from '../store/in-site.ts';
import type { AccessTokenClaims } from './access-token.ts';
import { authenticateClient } from './assertion/authenticate.ts';
import { hasAssertion, type Presented, readPresented } from './assertion/credentials.ts';
import { type Attempt, limitAddress, overClientLimit } from './attempt.ts';
import { readBearer } from './bearer.ts';
import type { ClientKeyring } from './client-keys.ts';
import type { Form } from './form.ts';
import { inNameOf, refuse } from './refused.ts';

/** The calling client, and the access token that authenticated it, if any. */
export interface CallingClient {
  readonly site: string;
  readonly clientId: string;
  readonly bearer: CallerIdentity | undefined;
  /** A link of the key, not verified before the first statement. */
  readonly link?: PresentedLink | undefined;
}

export const identityOf = (claims: AccessTokenClaims): CallerIdentity => ({
  site: claims.site,
  clientId: claims.client_id,
  tokenId: claims.jti,
  audience: claims.aud,
  // No endpoint of the token service requires a scope.
  scopes: new Set(),
});

/** The first statement of a batch for the client. */
export function openingOf({ bearer, link, site }: CallingClient): Query {
  if (link !== undefined) return assertKeyLink(link);
  return bearer === undefined ? enterSite(site) : assertCaller(bearer);
}

async function authenticate(
  deps: Deps,
  clientKeys: ClientKeyring,
  attempt: Attempt,
  presented: Presented,
  endpoint: string,
): Promise<CallingClient> {
  if (hasAssertion(presented)) {
    const audiences = [oauthAddresses(deps.config).tokenEndpoint, endpoint];
    const client = await authenticateClient(deps, clientKeys, attempt, presented, audiences);
    return { site: client.site_id, clientId: client.client_id, bearer: undefined };
  }
  // Without a Bearer token, client authentication has failed (RFC 7662 §2.3, RFC 6749 §5.2).
  if (!/^Bearer /i.test(attempt.request.headers.get('authorization') ?? '')) {
    throw refuse({ code: 'authentication', reason: 'send a client_assertion or a Bearer token' });
  }
  const { claims } = await readBearer(deps, attempt.request);
  return { site: claims.site, clientId: claims.client_id, bearer: identityOf(claims) };
}

/**
 * As `answerClient`, also for the bearer of a link of the key. The first statement of `answer` verifies the link. So no stranger can
 * use up the limit of a key, or note refusals for it.
 *
 * @throws as `answerClient`
 */
export async function answerClientOrLink<Answer>(
  deps: Deps,
  clientKeys: ClientKeyring,
  attempt: Attempt,
  endpoint: string,
  answer: (client: CallingClient) => Promise<Answer>,
): Promise<Answer> {
  const link = await presentedLink(attempt.request);
  if (link === undefined) return answerClient(deps, clientKeys, attempt, endpoint, answer);
  await limitLinks(deps, attempt.request);
  const { site, clientId } = link;
  const answered = await answer({ site, clientId, bearer: undefined, link });
  const over = await overClientLimit(deps, clientId);
  if (over !== undefined) throw refuse(over);
  return answered;
}

/**
 * Authenticates the client, and calls `answer`.
 *
 * @param endpoint its URL, which `aud` may be
 * @throws Refused or Fault, as client authentication and the bearer check do
 */
export async function answerClient<Answer>(
  deps: Deps,
  clientKeys: ClientKeyring,
  attempt: Attempt,
  endpoint: string,
  answer: (client: CallingClient, form: Form) => Promise<Answer>,
): Promise<Answer> {
  await limitAddress(deps, attempt);
  const presented = await readPresented(attempt.request);
  const client = await inNameOf(presented.claimedClient, () =>
    authenticate(deps, clientKeys, attempt, presented, endpoint),
  );
  return inNameOf(client.clientId, async () => {
    // The check of a client assertion has already counted its client.
    const over = client.bearer === undefined ? undefined : await overClientLimit(deps, client.clientId);
    if (over !== undefined) throw refuse(over);
    return answer(client, presented.form);
  });
}
