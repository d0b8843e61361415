/** The console: its OpenID provider, and what its API tells who may look at the endpoints. */
import { z } from 'zod';

import { ask, bad, type Finding, findingsOf, good, unknown } from './finding.ts';

const SILENT_MINUTES = 10;

async function provider(base: URL): Promise<Finding[]> {
  const response = await ask(`${base.href}admin/sign-in`);
  if (response.status === 404) return [unknown('OpenID provider', 'give the doctor the address of the console too')];
  const location = response.headers.get('location');
  if (response.status !== 302 || location === null) {
    const next =
      'ADMIN_PUBLIC_BASE_URL, ADMIN_OIDC_ISSUER and ADMIN_OIDC_CLIENT_ID; the provider must be reached from the gateway';
    return [bad('OpenID provider', `/admin/sign-in answers ${response.status}`, next)];
  }
  const url = new URL(location);
  const redirect = url.searchParams.get('redirect_uri') ?? '';
  const answered = await ask(url.href);
  const expected = `${base.href}admin/callback`;
  return [
    answered.status < 400
      ? good('OpenID provider', url.origin)
      : bad(
          'OpenID provider',
          `it answers ${answered.status} to a sign-in`,
          `register the redirect URI ${redirect} there`,
        ),
    redirect === expected
      ? good('redirect URI', redirect)
      : bad('redirect URI', `${redirect}, not ${expected}`, 'set ADMIN_PUBLIC_BASE_URL to the address that people use'),
  ];
}

const endpoints = z.object({ items: z.array(z.object({ name: z.string(), status: z.string() })) });
const sidecars = z.object({ items: z.array(z.object({ issuer: z.string(), lastSeenAt: z.iso.datetime() })) });

async function api(base: URL, token: string | undefined, now: () => number): Promise<Finding[]> {
  const needed = 'ADMIN_TOKEN: an access token of the provider with site.endpoints.read';
  if (token === undefined) return [unknown('endpoints', needed), unknown('sidecars', needed)];
  const get = (path: string) => ask(`${base.href}admin/api/${path}`, { headers: { authorization: `Bearer ${token}` } });
  const answered = await get('endpoints');
  const { data } = endpoints.safeParse(await answered.json().catch(() => undefined));
  if (data === undefined) return [bad('endpoints', `/admin/api/endpoints answers ${answered.status}`, needed)];
  const seen = sidecars.safeParse(await (await get('sidecars')).json().catch(() => undefined)).data?.items ?? [];
  const missing = data.items.filter(({ status }) => status !== 'configured').map(({ name }) => name);
  return [
    missing.length === 0
      ? good('endpoints', 'all six are configured')
      : bad('endpoints', `not configured: ${missing.join(', ')}`, 'README.md, Deploy: the table of variables'),
    ...(seen.length === 0 ? [good('sidecars', 'none has called in seven days')] : []),
    ...seen.map(({ issuer, lastSeenAt }) => {
      const minutes = Math.floor((now() - Date.parse(lastSeenAt)) / 60_000);
      return minutes > SILENT_MINUTES
        ? bad(`sidecar ${issuer}`, `silent for ${minutes} minutes`, 'see its /readyz and its log')
        : good(`sidecar ${issuer}`, `called ${minutes} minutes ago`);
    }),
  ];
}

/** @param token for `/admin/api`, where there is one */
export async function checkConsole(
  base: URL,
  token: string | undefined,
  now: () => number,
): Promise<readonly Finding[]> {
  return [
    ...(await findingsOf('OpenID provider', () => provider(base))),
    ...(await findingsOf('endpoints', () => api(base, token, now))),
  ];
}
