/** Checks the console: its OpenID provider, and with a token the endpoints that its API reports. */
import { bad, type Finding, findingsOf, good, unknown } from '../../../admin/health/finding.ts';
import { listOf } from '../../../admin/api/operation.ts';
import { finding } from '../../../admin/health/operations.ts';
import { ask } from './ask.ts';

async function provider(base: URL): Promise<Finding[]> {
  const response = await ask(`${base.href}admin/sign-in`);
  if (response.status === 404)
    return [unknown('OpenID provider', 'run the doctor with --console and the address of the console')];
  // A gateway for programs alone has no console.
  if (response.status === 503 && (await response.text()).includes('is not configured'))
    return [unknown('OpenID provider', 'set ADMIN_PUBLIC_BASE_URL and the provider’s variables for a console')];
  const location = response.headers.get('location');
  if (response.status !== 302 || location === null) {
    const next =
      'ADMIN_PUBLIC_BASE_URL, ADMIN_OIDC_ISSUER and ADMIN_OIDC_CLIENT_ID; the gateway must be able to reach the provider';
    return [bad('OpenID provider', `/admin/sign-in answers ${response.status}`, next)];
  }
  const url = new URL(location);
  const redirect = url.searchParams.get('redirect_uri') ?? '';
  const answered = await ask(url.href);
  const expected = `${base.href}admin/callback`;
  return [
    redirect === expected
      ? good('redirect URI', redirect)
      : bad('redirect URI', `${redirect}, not ${expected}`, 'set ADMIN_PUBLIC_BASE_URL to the address that staff use'),
    answered.status < 400
      ? good('OpenID provider', url.origin)
      : bad(
          'OpenID provider',
          `it answers ${answered.status} to a sign-in`,
          answered.status < 500
            ? `register the redirect URI ${redirect} at the provider`
            : 'check the provider and its status',
        ),
  ];
}

const health = listOf(finding);

async function inside(base: URL, token: string | undefined): Promise<readonly Finding[]> {
  const needed = 'ADMIN_TOKEN: an access token of the provider with site.endpoints.read';
  if (token === undefined) return [unknown('inside', needed)];
  const answered = await ask(`${base.href}admin/api/health`, { headers: { authorization: `Bearer ${token}` } });
  const { data } = health.safeParse(await answered.json().catch(() => undefined));
  return data?.items ?? [bad('inside', `/admin/api/health answers ${answered.status}`, needed)];
}

/** @param token for `/admin/api`, if any */
export async function checkConsole(base: URL, token: string | undefined): Promise<readonly Finding[]> {
  return [
    ...(await findingsOf('OpenID provider', () => provider(base))),
    ...(await findingsOf('inside', () => inside(base, token))),
  ];
}
